// Timing caches and --tune, as a user meets them: on this CPU, and for a GPU that is not here.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <thread>

#include "compiler/costs/timing_cache.h"
#include "kernels/abi/choice.h"
#include "tests/cli/tiny_models.h"
#include "tests/cli/tool.h"

namespace aicf::testing {
namespace {

using tune::DeviceId;
using tune::TimingCache;

TimingCache ReadCache(const std::string& path) {
  Result<TimingCache> cache = TimingCache::Parse(GetFile(path));
  EXPECT_TRUE(cache.ok()) << cache.status().ToString();
  return cache.ok() ? *std::move(cache) : TimingCache();
}

TEST(Tune, ACompileFromItsCacheIsMeasuredAndTheSameEveryTime) {
  const TempDir dir;
  const std::string model = PutModel(dir, "tiny");
  const std::string cache = "--timing-cache=" + (dir / "cache.txt");
  const ToolResult tuned =
      RunTool("aicf-compile", {model, "-o", dir / "a.aicf", "--tune=60", cache});
  ExpectSuccess(tuned);
  EXPECT_NE(tuned.out.find("tuned "), std::string::npos) << tuned.out;
  const std::string measured = GetFile(dir / "cache.txt");
  EXPECT_GT(ReadCache(dir / "cache.txt").size(), 3u);

  const std::string decisions = dir / "decisions.jsonl";
  for (const char* name : {"b.aicf", "c.aicf"}) {
    ExpectSuccess(
        RunTool("aicf-compile", {model, "-o", dir / name, cache, "--error-on-timing-cache-miss",
                                 "--export-decisions=" + decisions, "--force"}));
    EXPECT_EQ(GetFile(dir / name), GetFile(dir / "a.aicf")) << name;
  }
  // Kernels of so little work may be equally fast: then the prediction breaks the tie.
  const std::string made = GetFile(decisions);
  EXPECT_GT(CountOf(made, "\"reason\":\"measured\"") + CountOf(made, "\"reason\":\"tie-break\""), 0)
      << made;
  EXPECT_EQ(CountOf(made, "\"reason\":\"predicted\""), 0) << made;
  EXPECT_GT(CountOf(GetFile(decisions), "\"measured_us\":"), 2);
  // Nothing is missing, so nothing is measured again.
  const ToolResult again = RunTool("aicf-compile", {model, "-o", dir / "d.aicf", "--tune",
                                                    "--timingCacheFile=" + (dir / "cache.txt")});
  ExpectSuccess(again);
  EXPECT_EQ(again.out.find("tuned "), std::string::npos) << again.out;
  EXPECT_EQ(GetFile(dir / "cache.txt"), measured);
  EXPECT_EQ(GetFile(dir / "d.aicf"), GetFile(dir / "a.aicf"));
}

TEST(Tune, TheArtifactBringsItsTimesAlong) {
  const TempDir dir;
  const std::string model = PutModel(dir, "tiny");
  ExpectSuccess(RunTool("aicf-compile", {model, "-o", dir / "a.aicf", "--tune=2"}));
  const ToolResult rebuilt = RunTool("aicf-compile", {"--rebuild", dir / "a.aicf", model});
  ExpectSuccess(rebuilt);
  EXPECT_NE(rebuilt.out.find("the same "), std::string::npos) << rebuilt.out;
  ExpectSuccess(RunTool("aicf-compile", {"--from", dir / "a.aicf", "-o", dir / "b.aicf"}));
  EXPECT_EQ(GetFile(dir / "b.aicf"), GetFile(dir / "a.aicf"));
}

TEST(Tune, AMissNamesTheProblem) {
  const TempDir dir;
  const std::string model = PutModel(dir, "tiny");
  PutFile(dir / "empty.txt", "aicf-timing-cache 2\n");
  for (const char* flag : {"--error-on-timing-cache-miss", "--errorOnTimingCacheMiss"}) {
    const ToolResult missed = RunTool("aicf-compile", {model, "-o", dir / "a.aicf", flag,
                                                       "--timing-cache=" + (dir / "empty.txt")});
    ExpectFailure("aicf-compile", missed, 1, "the timing cache misses ");
    EXPECT_NE(missed.err.find("(gemm)"), std::string::npos) << missed.err;
    EXPECT_NE(missed.err.find(": problem "), std::string::npos) << missed.err;
  }
  EXPECT_EQ(dir.Entries(), (std::vector<std::string>{"empty.txt", "tiny.onnx"}));
}

// A cache for the device as a machine with it would have written.
TimingCache HandMade(const std::string& decisions_of, const DeviceId& id) {
  // The problems come from a tuned CPU cache: problems of this model do not depend on the target as
  // long as no kernel's own layout is in them.
  const TimingCache cpu = ReadCache(decisions_of);
  TimingCache made;
  const DeviceId from = cpu.DevicesFor(*abi::FindDevice("cpu"))[0];
  for (const auto& [key, timing] : *cpu.TimesOf(from)) {
    const Result<abi::Problem> p = abi::ParseProblem(cpu.TextOf(key.problem));
    double us = 100;
    for (const abi::KernelInfo& k : abi::KernelsOf(p->family)) {
      if (k.backend != abi::Backend::kCuda) continue;
      if (!k.supports(*p, *abi::FindDevice("cuda")).empty()) continue;
      // The last candidate is the fastest here, whatever predictions say.
      for (const abi::Candidate& c : abi::CandidatesOf(k, *p, *abi::FindDevice("cuda"))) {
        made.Put(id, *p, abi::VariantName(k.key, c.variant.parameters),
                 {us, 0.1, 15, "nvrtc-13.0", {}});
        us -= 1;
      }
    }
  }
  return made;
}

TEST(Tune, ACacheOfAGpuServesAMachineWithoutOne) {
  const TempDir dir;
  const std::string model = PutModel(dir, "tiny");
  ExpectSuccess(RunTool("aicf-compile", {model, "-o", dir / "cpu.aicf", "--tune=60",
                                         "--timing-cache=" + (dir / "cpu.txt")}));
  PutFile(dir / "gpu.txt", HandMade(dir / "cpu.txt", {"cuda:sm_90a", "NVIDIA H200"}).ToText());
  const auto compile = [&](const std::string& out, const std::vector<std::string>& flags) {
    std::vector<std::string> args = {model,
                                     "-o",
                                     dir / out,
                                     "--force",
                                     "--target=cuda",
                                     "--no-images",
                                     "--export-decisions=" + (dir / "decisions.jsonl")};
    args.insert(args.end(), flags.begin(), flags.end());
    return RunTool("aicf-compile", args);
  };
  ExpectSuccess(compile("a.aicf", {"--timing-cache=" + (dir / "gpu.txt")}));
  EXPECT_GT(CountOf(GetFile(dir / "decisions.jsonl"), "\"reason\":\"measured\""), 0)
      << GetFile(dir / "decisions.jsonl");
  ExpectSuccess(compile("b.aicf", {"--timing-cache=" + (dir / "gpu.txt")}));
  EXPECT_EQ(GetFile(dir / "a.aicf"), GetFile(dir / "b.aicf"));

  // Two GPUs: one must be named.
  PutFile(dir / "h100.txt", HandMade(dir / "cpu.txt", {"cuda:sm_90a", "NVIDIA H100"}).ToText());
  const std::vector<std::string> both = {"--timing-cache=" + (dir / "gpu.txt"),
                                         "--timing-cache=" + (dir / "h100.txt")};
  ExpectFailure("aicf-compile", compile("c.aicf", both), 2, "--timing-device=NAME");
  ExpectSuccess(compile("c.aicf", {both[0], both[1], "--timing-device=NVIDIA H200"}));
  EXPECT_EQ(GetFile(dir / "c.aicf"), GetFile(dir / "a.aicf"));
  ExpectFailure("aicf-compile", compile("d.aicf", {both[0], "--timing-device=NVIDIA B200"}), 2,
                "NVIDIA H200");
  // Tuning needs the device.
  const ToolResult tune = compile("d.aicf", {"--tune=1"});
  if (tune.exit_code != 0) ExpectFailure("aicf-compile", tune, 6, "--tune");
}

TEST(Tune, BadCachesAndContradictionsAreRefused) {
  const TempDir dir;
  const std::string model = PutModel(dir, "tiny");
  PutFile(dir / "bad.txt", "aicf-timing-cache 2\ntime x\n");
  const auto run = [&](std::vector<std::string> flags) {
    flags.insert(flags.begin(), {model, "-o", dir / "a.aicf"});
    return RunTool("aicf-compile", flags);
  };
  ExpectFailure("aicf-compile", run({"--timing-cache=" + (dir / "bad.txt")}), 2, "line 2");
  ExpectFailure("aicf-compile", run({"--timing-cache=" + (dir / "absent.txt")}), 8, "absent.txt");
  ExpectFailure("aicf-compile", run({"--tune", "--timing-cache=" + (dir / "bad.txt")}), 2,
                "bad.txt");
  ExpectFailure("aicf-compile", run({"--tune", "--timing-cache=/no/such/folder/c.txt"}), 8,
                "folder");
  ExpectFailure("aicf-compile", run({"--tune=soon"}), 2, "--tune");
  ExpectFailure("aicf-compile", run({"--tune=0"}), 2, "--tune");
  ExpectFailure("aicf-compile", run({"--tune", "--timing-device=x"}), 2, "--timing-device");
  ExpectFailure("aicf-compile", run({"--tune-state=tepid"}), 2, "cold or warm");
  ExpectFailure("aicf-compile", run({"--tune", "--check"}), 2, "--check");
  EXPECT_EQ(GetFile(dir / "bad.txt"), "aicf-timing-cache 2\ntime x\n");
  EXPECT_EQ(dir.Entries(), (std::vector<std::string>{"bad.txt", "tiny.onnx"}));
}

TEST(Tune, FittedCostsArePrinted) {
  const TempDir dir;
  const std::string model = PutModel(dir, "tiny");
  ExpectSuccess(RunTool("aicf-compile", {model, "-o", dir / "a.aicf", "--tune=60",
                                         "--timing-cache=" + (dir / "c.txt")}));
  const ToolResult fit =
      RunTool("aicf-compile", {"--fit-costs", "--target=cpu", "--timing-cache=" + (dir / "c.txt")});
  ExpectSuccess(fit);
  EXPECT_GT(CountOf(fit.out, "AICF_FITTED_COST(\"cpu\", \"cpu.gemm."), 0) << fit.out;
  EXPECT_NE(fit.out.find("// with this table: error of "), std::string::npos) << fit.out;
  ExpectFailure("aicf-compile",
                RunTool("aicf-compile", {"--fit-costs", "--timing-cache=" + (dir / "c.txt")}), 2,
                "no times for cuda:sm_90a");
}

// Matrix products that take a while to race.
std::string PutSlowModel(const TempDir& dir) {
  return PutModel(dir, "slow", [](onnx::ModelProto& model) {
    onnx::GraphProto& graph = *model.mutable_graph();
    graph.clear_node();
    graph.clear_initializer();
    graph.clear_output();
    graph.mutable_input()->DeleteSubrange(1, graph.input_size() - 1);
    auto* shape = graph.mutable_input(0)->mutable_type()->mutable_tensor_type()->mutable_shape();
    shape->mutable_dim(0)->set_dim_value(700);
    shape->mutable_dim(1)->set_dim_value(700);
    std::string last = graph.input(0).name();
    for (int i = 0; i < 6; ++i) {
      onnx::NodeProto* node = graph.add_node();
      node->set_op_type("MatMul");
      node->add_input(last);
      node->add_input(graph.input(0).name());
      node->add_output(last = "t" + std::to_string(i));
    }
    onnx::ValueInfoProto* output = graph.add_output();
    *output = graph.input(0);
    output->set_name(last);
  });
}

TEST(Tune, InterruptedItKeepsWhatItMeasured) {
  const TempDir dir;
  const std::string model = PutSlowModel(dir);
  for (const auto& [signal, code] : {std::pair(SIGINT, 130), {SIGTERM, 143}}) {
    const std::string cache = dir / ("cache" + std::to_string(code) + ".txt");
    bool done = false;  // it kept something, or was faster than the signal
    for (int ms = 300; !done && ms < 20000; ms *= 2) {
      const pid_t pid = StartTool(
          "aicf-compile", {model, "-o", dir / "a.aicf", "--tune", "--timing-cache=" + cache});
      std::this_thread::sleep_for(std::chrono::milliseconds(ms));
      kill(pid, signal);
      const ToolResult result = WaitTool(pid);
      if (result.signal == signal) continue;  // it did not listen yet
      EXPECT_TRUE(result.exit_code == code || result.exit_code == 0) << result.exit_code;
      const bool complete = access((dir / "a.aicf").c_str(), F_OK) == 0;
      if (complete) {  // the signal came when the artifact was there, or later
        ExpectSuccess(RunTool("aicf-inspect", {dir / "a.aicf"}));
        unlink((dir / "a.aicf").c_str());
      } else {
        EXPECT_EQ(result.exit_code, code);
      }
      done = complete || (access(cache.c_str(), F_OK) == 0 && ReadCache(cache).size() > 0);
    }
    EXPECT_TRUE(done) << code;
    for (const std::string& entry : dir.Entries()) {
      EXPECT_TRUE(entry == "slow.onnx" || entry.starts_with("cache")) << entry;
    }
  }
}

}  // namespace
}  // namespace aicf::testing
