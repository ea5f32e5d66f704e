#include "tools/aicf-run/options.h"

#include <span>
#include <utility>

#include "tools/common/exit_codes.h"
#include "tools/common/flags.h"
#include "tools/common/log.h"

namespace aicf::tools {
namespace {

constexpr std::string_view kDescription =
    "Loads an artifact, runs it, checks its outputs and measures it.\n"
    "Without --load-inputs the inputs are random, the same in every run.";

constexpr std::string_view kExamples = R"(Examples:
  aicf-run rec.aicf
      load, first inference and steady state, with trtexec's performance summary
  aicf-run rec.aicf --load-inputs=x:line.npy --export-output=out
      writes out/<output>.npy and out/outputs.json
  aicf-run rec.aicf --load-inputs=x:line.npy --load-ref-outputs=y:ref.npy --rel=1e-4
      PASS or FAIL per output; exit code 1 on FAIL
  aicf-run rec.aicf --profile --export-profile=rec.trace.json
      time per step with its source nodes; the file opens in ui.perfetto.dev
  aicf-run vad.aicf --load-inputs=input:b.npy --load-state=state:s/state.npy --export-state=s
      one chunk of a stream: begins with the state that the chunk before has left in s
  aicf-run rec.aicf --entry=six
      one of several entry points (aicf-compile --bucket); inputs from files select theirs
  aicf-run rec_cuda.aicf --device=cpu
      the plan made for CUDA, step by step on the CPU reference kernels
  aicf-run rec.aicf --verify --load-inputs=x:line.npy
      every step against the reference kernels on the same buffers: the first wrong step, its
      source nodes, and the flag that pins it
  aicf-run rec.aicf --verify=golden
      the samples that the artifact carries (aicf-compile --golden)
  aicf-run rec.aicf --require-signature=key.pub.pem
      only if the owner of this key has signed it (aicf-compile --sign, aicf-sign)

  aicf-run llama.aicf --prompt="Once upon a time" -n 200 --temperature=0.8 --top-p=0.95
      text of a language model; times go to stderr
  git diff | aicf-run llama.aicf --chat --system="Describe this change." --prompt-file=-
      the prompt comes from another program
  aicf-run llama.aicf --bench-llm -p 512 -n 128
      tokens per second, in llama-bench's columns

trtexec's spellings work too: --loadEngine --loadInputs --warmUp --useCudaGraph --dumpProfile
--exportProfile --exportTimes.

)";

std::string ExitCodes() {
  return ExitCodesText(
      {{Code::kCheckFailed}, {Code::kUnsupported}, {Code::kBadArtifact}, {Code::kDevice}});
}

const std::vector<Spelling>& Spellings() {
  static const std::vector<Spelling> spellings = {
      {"--loadEngine", ""},
      {"--loadInputs", "--load-inputs"},
      {"--warmUp", "--warm-up"},
      {"--dumpProfile", "--profile"},
      {"--exportProfile", "--export-profile"},
      {"--exportTimes", "--export-times"},
      {"--useCudaGraph", "--cuda-graph"},
      {"--loadRefOutputs", "--load-ref-outputs"},
  };
  return spellings;
}

/// The flags' values as the user wrote them.
struct Raw {
  std::string device, threads, max_operations, atol, rtol, rel, warm_up, duration, iterations,
      percentile, verify;
  bool cuda_graph = false, no_cuda_graph = false, transfers = false;
};

void AddTensorFlags(CommandLine& line, Raw& raw, RunOptions& options) {
  const std::string group = "Inputs and outputs";
  line.AddList("--load-inputs", options.load_inputs,
               "NAME:FILE  an input or meta from a .npy file; repeats. Other inputs are\n"
               "random, other metas zero; if no meta is loaded, those of a language\n"
               "model are those of made-up requests")
      ->group(group);
  line.AddValue("--entry", options.entry,
                "NAME  the entry point to run, with its whole shapes; default: the one\n"
                "that serves the loaded inputs, or the first")
      ->group(group);
  line.AddList("--load-state", options.load_states,
               "NAME:FILE  a state's value before the first inference; default zero, with\n"
               "--verify random; repeats")
      ->group(group);
  line.AddValue("--export-state", options.export_states,
                "DIR  write every state as .npy, and states.json, as the first inference\n"
                "left it")
      ->group(group);
  line.AddList("--load-ref-outputs", options.load_ref_outputs,
               "NAME:FILE  an expected output; repeats")
      ->group(group);
  line.AddValue("--atol", raw.atol, "X  absolute tolerance per element")->group(group);
  line.AddValue("--rtol", raw.rtol, "X  tolerance relative to the expected element")->group(group);
  line.AddValue("--rel", raw.rel,
                "X  tolerance of the largest error, relative to the\n"
                "largest expected element")
      ->group(group);
  line.AddValue("--export-output", options.export_output,
                "DIR  write every output as .npy, and outputs.json")
      ->group(group);
}

void AddVerifyFlags(CommandLine& line, Raw& raw) {
  line.app
      .add_flag("--verify", raw.verify,
                "[=golden]  compare instead of measuring: every step with the\n"
                "reference kernels on the same buffers, or (golden) the artifact's\n"
                "samples with a run; exit code 1 where something differs. The tolerance\n"
                "is each step's own, or the samples', unless --atol, --rtol or --rel\n"
                "give one; --verbose lists every step")
      ->group("Verification");
}

void AddDeviceFlags(CommandLine& line, Raw& raw) {
  const std::string group = "Device";
  line.AddValue("--device", raw.device,
                "DEVICE  cpu or cuda:N; default: what the artifact is made for")
      ->group(group);
  line.AddValue("--threads", raw.threads, "N  CPU threads; default: one per available core")
      ->group(group);
  line.AddValue("--max-operations", raw.max_operations,
                "N  operations that one inference may take on a CPU, all trips of its\n"
                "loops counted; beyond it exit code 7; default 1e14")
      ->group(group);
  CLI::Option* off = line.app.add_flag("--no-cuda-graph", raw.no_cuda_graph,
                                       "launch the steps one by one instead of one graph");
  off->group(group);
  line.app.add_flag("--cuda-graph", raw.cuda_graph, "")->group("")->excludes(off);
  line.app
      .add_flag("--include-data-transfers", raw.transfers,
                "time the copies between host and device too")
      ->group(group);
}

void AddMeasureFlags(CommandLine& line, Raw& raw, RunOptions& options) {
  const std::string group = "Measurement";
  line.AddValue("--warm-up", raw.warm_up, "MS  unmeasured time before; default 200")->group(group);
  line.AddValue("--duration", raw.duration, "S  measured time at least; default 3")->group(group);
  line.AddValue("--iterations", raw.iterations, "N  measured inferences at least; default 10")
      ->group(group);
  line.app
      .add_flag("--keep-state", options.keep_state,
                "every inference goes on from the states of the one before; without it\n"
                "each begins with zero or --load-state, so that all do the same work")
      ->group(group);
  line.AddValue("--percentile", raw.percentile, "LIST  percentiles; default 90,95,99")
      ->group(group);
  line.app.add_flag("--profile", options.profile, "time, bytes and FLOP of every step")
      ->group(group);
  line.AddValue("--export-profile", options.export_profile,
                "FILE  the profile as a trace for Perfetto or chrome://tracing")
      ->group(group);
  line.AddValue("--export-times", options.export_times, "FILE  every measured latency as JSON")
      ->group(group);
  line.app.add_flag("--memory", options.memory, "where the memory goes")->group(group);
  line.app.add_flag("--json", options.json, "print one JSON object and nothing else")->group(group);
}

Status SetTolerance(std::string_view flag, const std::string& text, std::optional<double>* out) {
  if (text.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(*out, ParseReal(flag, text, 0, 1e300));
  return OkStatus();
}

Status ParsePercentiles(const std::string& text, std::vector<double>* percentiles) {
  if (text.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const auto items, SplitItems("--percentile", {text}));
  percentiles->clear();
  for (const std::string& item : items) {
    AICF_ASSIGN_OR_RETURN(const double p, ParseReal("--percentile", item, 0, 100));
    percentiles->push_back(p);
  }
  return OkStatus();
}

Status ParseVerify(const std::string& text, VerifyMode* mode) {
  if (text.empty()) return OkStatus();
  // A flag without a value reads as "true".
  if (text == "steps" || text == "true") *mode = VerifyMode::kSteps;
  if (text == "golden") *mode = VerifyMode::kGolden;
  if (*mode != VerifyMode::kOff) return OkStatus();
  return Error(Code::kInvalidArgument, "--verify: expected steps or golden, got '", text, "'");
}

/// Refuses the first of the flags that was given; `why` says why it must not be.
Status RefuseGiven(std::span<const std::pair<std::string_view, bool>> flags, std::string_view why) {
  for (const auto& [flag, given] : flags) {
    if (given) return Error(Code::kInvalidArgument, flag, why);
  }
  return OkStatus();
}

/// Refuses flags that a verification would ignore.
Status CheckVerify(const RunOptions& o) {
  if (o.verify == VerifyMode::kOff) return OkStatus();
  const std::pair<std::string_view, bool> flags[] = {
      {"--load-ref-outputs", !o.load_ref_outputs.empty()},
      {"--export-output", !o.export_output.empty()},
      {"--export-state", !o.export_states.empty()},
      {"--keep-state", o.keep_state},
      {"--profile", o.profile},
      {"--export-profile", !o.export_profile.empty()},
      {"--export-times", !o.export_times.empty()},
      {"--memory", o.memory},
  };
  AICF_RETURN_IF_ERROR(RefuseGiven(flags, " is for a measured run, and --verify measures none"));
  if (o.verify == VerifyMode::kSteps ||
      (o.load_inputs.empty() && o.entry.empty() && o.load_states.empty())) {
    return OkStatus();
  }
  return Status(Code::kInvalidArgument,
                "--verify=golden: the samples bring their inputs and entry points; leave out "
                "--load-inputs, --load-state and --entry");
}

/// Refuses flags about running one entry point when text is generated: it comes from a prompt alone
/// and is timed in its own way.
Status CheckGenerate(const Raw& raw, const RunOptions& o) {
  if (o.generate.mode == GenerateMode::kOff) return OkStatus();
  const std::pair<std::string_view, bool> flags[] = {
      {"--verify", !raw.verify.empty()},
      {"--entry", !o.entry.empty()},
      {"--load-inputs", !o.load_inputs.empty()},
      {"--load-state", !o.load_states.empty()},
      {"--export-state", !o.export_states.empty()},
      {"--load-ref-outputs", !o.load_ref_outputs.empty()},
      {"--export-output", !o.export_output.empty()},
      {"--include-data-transfers", raw.transfers},
      {"--warm-up", !raw.warm_up.empty()},
      {"--duration", !raw.duration.empty()},
      {"--iterations", !raw.iterations.empty()},
      {"--percentile", !raw.percentile.empty()},
      {"--keep-state", o.keep_state},
      {"--profile", o.profile},
      {"--export-profile", !o.export_profile.empty()},
      {"--export-times", !o.export_times.empty()},
      {"--memory", o.memory},
  };
  return RefuseGiven(flags, " is for running one entry point, not for text");
}

Status Convert(const Raw& raw, RunOptions* options) {
  options->session.device = raw.device;
  options->session.cuda_graph = !raw.no_cuda_graph;
  options->session.transfers = raw.transfers;
  if (!raw.threads.empty()) {
    AICF_ASSIGN_OR_RETURN(const int64_t threads, ParseInt("--threads", raw.threads, 1, 1024));
    options->session.threads = static_cast<int>(threads);
  }
  if (!raw.max_operations.empty()) {
    AICF_ASSIGN_OR_RETURN(options->session.max_operations,
                          ParseReal("--max-operations", raw.max_operations, 1, 1e19));
  }
  if (!raw.warm_up.empty()) {
    AICF_ASSIGN_OR_RETURN(options->warm_up_ms, ParseReal("--warm-up", raw.warm_up, 0, 1e9));
  }
  if (!raw.duration.empty()) {
    AICF_ASSIGN_OR_RETURN(options->duration_s, ParseReal("--duration", raw.duration, 0, 1e6));
  }
  if (!raw.iterations.empty()) {
    AICF_ASSIGN_OR_RETURN(const int64_t n, ParseInt("--iterations", raw.iterations, 1, 100000000));
    options->iterations = static_cast<int>(n);
  }
  AICF_RETURN_IF_ERROR(SetTolerance("--atol", raw.atol, &options->tolerance.atol));
  AICF_RETURN_IF_ERROR(SetTolerance("--rtol", raw.rtol, &options->tolerance.rtol));
  AICF_RETURN_IF_ERROR(SetTolerance("--rel", raw.rel, &options->tolerance.rel));
  const Tolerance& t = options->tolerance;
  AICF_RETURN_IF_ERROR(ParseVerify(raw.verify, &options->verify));
  if ((t.atol || t.rtol || t.rel) && options->load_ref_outputs.empty() &&
      options->verify == VerifyMode::kOff) {
    return Status(Code::kInvalidArgument,
                  "--atol, --rtol and --rel need --load-ref-outputs or --verify");
  }
  AICF_RETURN_IF_ERROR(CheckVerify(*options));
  return ParsePercentiles(raw.percentile, &options->percentiles);
}

}  // namespace

Status ParseRunOptions(const std::vector<std::string>& args, RunOptions* options, bool* run) {
  CommandLine line("aicf-run", kDescription);
  Raw raw;
  line.AddValue("artifact", options->artifact, "file made by aicf-compile")->required();
  options->signature.AddTo(line);
  AddTensorFlags(line, raw, *options);
  AddVerifyFlags(line, raw);
  AddDeviceFlags(line, raw);
  AddMeasureFlags(line, raw, *options);
  GenerateFlags generate;
  generate.AddTo(line);
  line.app.add_flag("--verbose", options->verbose, "log what the library does, on stderr");
  line.app.footer(StrCat(kExamples, ExitCodes()));
  AICF_RETURN_IF_ERROR(line.Parse(args, Spellings(), run));
  if (!*run) return OkStatus();
  if (options->verbose) SetVerbose();
  AICF_RETURN_IF_ERROR(options->signature.Read());
  AICF_RETURN_IF_ERROR(generate.Convert(&options->generate));
  AICF_RETURN_IF_ERROR(CheckGenerate(raw, *options));
  return Convert(raw, options);
}

}  // namespace aicf::tools
