// Decode steps over a paged cache beside a plain copy: how near the bytes of keys and values come
// to the memory's speed. Prints a Markdown table, one row per step and variant.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "base/float16.h"
#include "kernels/abi/attention.h"
#include "tests/conformance/gpu_cases.h"
#include "tests/conformance/gpu_jobs.h"

namespace aicf::conformance {
namespace {

using abi::Problem;

constexpr int64_t kKeyHeads = 8, kHead = 128, kPage = 16;
constexpr int64_t kBytesOfKey = 2 * kKeyHeads * kHead * 2;
constexpr int64_t kMb = int64_t{1} << 20;

/// `group` query heads for each key head; all requests are `keys` long. A step that appends is what
/// the decode steps of language models in 16 bits are: it turns queries and the new key, writes the
/// new key and value, and is launched while the step before it runs.
struct Step {
  int64_t batch, keys, group;
  bool appends = false;
  int64_t cache_mb() const { return batch * keys * kBytesOfKey / kMb; }
};

// Whether AICF_DECODE_MB asks for caches of so many MB; it names sizes, as in "64,128".
bool IsAskedFor(int64_t mb) {
  const char* asked = std::getenv("AICF_DECODE_MB");
  return asked == nullptr ||
         StrCat(",", asked, ",").find(StrCat(",", mb, ",")) != std::string::npos;
}

// 4 to 512 MB, of one long request and of many.
std::vector<Step> Steps(bool appends) {
  std::vector<Step> steps;
  for (int64_t group : {1, 4, 8}) {
    for (const auto& [batch, keys] : std::vector<std::pair<int64_t, int64_t>>{{1, 1024},
                                                                              {4, 1024},
                                                                              {1, 16384},
                                                                              {8, 2048},
                                                                              {16, 1024},
                                                                              {32, 1024},
                                                                              {1, 65536},
                                                                              {64, 1024},
                                                                              {16, 8192}}) {
      const Step step = {batch, keys, group, appends};
      if (IsAskedFor(step.cache_mb())) steps.push_back(step);
    }
  }
  return steps;
}

// Makes the step append a row of each request, and turn all of a head.
void AddAppend(Problem& p, int64_t batch) {
  abi::AttentionAttrs a = p.as<abi::AttentionAttrs>();
  a.append_pairs = kHead / 2;
  p.attrs = a;
  const abi::View row = abi::DenseView(DType::kBF16, {batch, 1, kKeyHeads, kHead});
  const abi::View angles = abi::DenseView(DType::kF32, {batch, 1, a.append_pairs});
  for (const abi::View& v :
       {row, row, abi::DenseView(DType::kI32, {batch, 1, 2}), angles, angles}) {
    p.inputs.push_back(v);
  }
  p.outputs.push_back(p.inputs[1]);
  p.outputs.push_back(p.inputs[2]);
}

// As a language model's decode entry point has it: rows of a cache with all heads of a position
// side by side, causal.
Problem ProblemOf(const Step& step) {
  const int64_t pages = step.keys / kPage, pool = step.batch * pages,
                heads = kKeyHeads * step.group;
  abi::AttentionAttrs a;
  a.scale = 1 / std::sqrt(static_cast<double>(kHead));
  a.lengths = a.pages = true;
  a.rows = abi::RowOrigin::kOperand;
  a.window_right = 0;
  Problem p;
  p.family = abi::Family::kAttention;
  p.attrs = a;
  p.math = abi::MathMode::kBf16;
  const abi::View cache = {DType::kBF16,
                           {pool, kKeyHeads, kPage, kHead},
                           {kPage * kKeyHeads * kHead, kHead, kKeyHeads * kHead, 1},
                           0};
  const abi::View rows = abi::DenseView(DType::kBF16, {step.batch, heads, 1, kHead});
  const abi::View requests = abi::DenseView(DType::kI32, {step.batch});
  p.inputs = {rows,    cache, cache, requests, abi::DenseView(DType::kI32, {step.batch, pages}),
              requests};
  p.outputs = {rows};
  if (step.appends) AddAppend(p, step.batch);
  p.core_inputs = static_cast<int>(p.inputs.size());
  return p;
}

std::vector<std::byte> RandomNumbers(Random& random, size_t bytes) {
  std::vector<uint16_t> block(1 << 16);
  for (uint16_t& v : block) v = F32ToBF16(static_cast<float>(random.Real(-1, 1)));
  std::vector<std::byte> all(bytes);
  for (size_t at = 0; at < bytes; at += block.size() * 2) {
    std::memcpy(all.data() + at, block.data(), std::min(bytes - at, block.size() * 2));
  }
  return all;
}

std::vector<std::byte> Integers(const std::vector<int32_t>& values) {
  std::vector<std::byte> bytes(values.size() * 4);
  std::memcpy(bytes.data(), values.data(), bytes.size());
  return bytes;
}

// New rows and angles are random; a row's place is that of its request's last key.
void FillAppend(Random& random, Case& c, const std::vector<int32_t>& pages, int64_t keys) {
  const abi::AttentionShape s = abi::AttentionShapeOf(c.problem);
  std::vector<int32_t> places;
  for (size_t last = static_cast<size_t>(keys / kPage) - 1; last < pages.size();
       last += static_cast<size_t>(keys / kPage)) {
    places.insert(places.end(), {pages[last], static_cast<int32_t>(kPage - 1)});
  }
  for (int operand : {s.new_keys, s.new_values}) {
    const abi::View& v = c.problem.inputs[static_cast<size_t>(operand)];
    c.buffers.push_back(RandomNumbers(random, BufferBytes(v)));
  }
  c.buffers.push_back(Integers(places));
  for (int operand : {s.cosine, s.sine}) {
    std::vector<float> angles(
        static_cast<size_t>(abi::ElementsOf(c.problem.inputs[static_cast<size_t>(operand)])));
    for (float& v : angles) v = static_cast<float>(random.Real(-1, 1));
    c.buffers.emplace_back(angles.size() * 4);
    std::memcpy(c.buffers.back().data(), angles.data(), angles.size() * 4);
  }
}

std::shared_ptr<const Case> CaseOf(const Step& step) {
  auto c = std::make_shared<Case>();
  c->problem = ProblemOf(step);
  c->name = StrCat(step.batch, " x ", step.keys);
  Random random(7);
  for (size_t k = 0; k < 3; ++k) {
    c->buffers.push_back(RandomNumbers(random, BufferBytes(c->problem.inputs[k])));
  }
  const auto requests = static_cast<size_t>(step.batch);
  const auto keys = static_cast<int32_t>(step.keys);
  const int64_t pool = step.batch * step.keys / kPage;  // a power of two
  std::vector<int32_t> pages;
  for (int64_t i = 0; i < pool; ++i) pages.push_back(static_cast<int32_t>(i * 40503 % pool));
  c->buffers.push_back(Integers(std::vector<int32_t>(requests, keys)));
  c->buffers.push_back(Integers(pages));
  c->buffers.push_back(Integers(std::vector<int32_t>(requests, keys - 1)));
  if (step.appends) FillAppend(random, *c, pages, step.keys);
  for (const abi::View& v : c->problem.outputs) c->buffers.emplace_back(BufferBytes(v));
  return c;
}

std::shared_ptr<const Case> CopyOf(int64_t bytes) {
  auto c = std::make_shared<Case>();
  Problem& p = c->problem;
  p.family = abi::Family::kCopy;
  p.attrs = abi::CopyAttrs{{{0}}, false, 0};
  p.inputs = p.outputs = {abi::DenseView(DType::kU32, {bytes / 4})};
  p.core_inputs = 1;
  Random random(7);
  c->buffers = {RandomNumbers(random, static_cast<size_t>(bytes)),
                std::vector<std::byte>(static_cast<size_t>(bytes))};
  return c;
}

std::vector<Job> JobsOf(const std::shared_ptr<const Case>& c,
                        const std::vector<KernelOption>& options) {
  std::vector<Job> jobs(options.size());
  for (size_t i = 0; i < options.size(); ++i) {
    jobs[i].item = c;
    jobs[i].option = options[i];
  }
  return jobs;
}

// As an artifact has it: what it may it reads before its wait.
KernelOption ReadingAhead(const Case& c, KernelOption option) {
  std::vector<abi::Parameter> parameters;
  for (const abi::Parameter& p : option.candidate.variant.parameters) {
    if (p.name != "ahead") parameters.push_back(p);
  }
  parameters.push_back({"ahead", 1});
  option.candidate.variant = option.kernel->variant(c.problem, abi::Parameters(parameters));
  return option;
}

// The chosen one, the next of its kernel, and what would run without that kernel.
std::vector<KernelOption> Contenders(const JobRunner& runner, const Case& c) {
  constexpr size_t kOfKernel = 12;
  std::vector<KernelOption> all = runner.Variants(c, 1000, 0), some;
  for (const KernelOption& o : all) {
    const bool own = o.kernel == all[0].kernel;
    const auto same = [&](const KernelOption& x) { return x.kernel == o.kernel; };
    const auto met = static_cast<size_t>(std::ranges::count_if(some, same));
    if (own ? met < kOfKernel : o.kernel->key == "cuda.attention.tensor" && met < 1) {
      some.push_back(o);
    }
  }
  return some;
}

double MostApart(const Problem& p, const Job& a, const Job& b) {
  double most = 0;
  for (int64_t i = 0; i < abi::ElementsOf(p.outputs[0]); ++i) {
    const double x = ElementAsDouble(p.outputs[0], a.got[p.inputs.size()], i);
    const double y = ElementAsDouble(p.outputs[0], b.got[p.inputs.size()], i);
    most = std::max(most, std::isnan(x - y) ? INFINITY : std::abs(x - y));
  }
  return most;
}

// Bytes per us of the fastest variant of a copy, reads and writes.
double CopyRate(JobRunner& runner, int64_t bytes) {
  const auto c = CopyOf(bytes / 2);
  std::vector<Job> jobs = JobsOf(c, runner.Variants(*c, 4, 0));
  runner.Run(jobs, {.compare = false, .times = 20});
  double rate = 0;
  for (const Job& job : jobs) {
    EXPECT_EQ(job.failure, "") << job.option.Name();
    if (job.failure.empty()) rate = std::max(rate, static_cast<double>(bytes) / job.mean_us);
  }
  return rate;
}

std::string_view ChosenKernel(const Problem& problem) {
  Case c;
  c.problem = problem;
  return VariantsOf(c, *abi::FindDevice("cuda"), 1000, 0).at(0).kernel->key;
}

// By predicted costs; a prefill's rows would read all keys again, 16 rows at a time.
TEST(DecodeChoice, IsTheDecodeKernelForFewRows) {
  for (const Step& step : Steps(false)) {
    EXPECT_EQ(ChosenKernel(ProblemOf(step)), "cuda.attention.decode") << ToString(ProblemOf(step));
    Problem prefill = ProblemOf(step);
    for (abi::View* v : {&prefill.inputs[0], &prefill.outputs[0]}) {
      *v = abi::DenseView(DType::kBF16, {step.batch, v->shape[1], 128, kHead});
    }
    ASSERT_EQ(abi::ValidateProblem(prefill).ToString(), OkStatus().ToString());
    EXPECT_NE(ChosenKernel(prefill), "cuda.attention.decode") << ToString(prefill);
  }
}

// Prints the table's rows of a step and compares its variants. Returns the chosen one's rate.
double TimeStep(JobRunner& runner, const Step& step, double copy) {
  const auto c = CaseOf(step);
  EXPECT_EQ(abi::ValidateProblem(c->problem).ToString(), OkStatus().ToString());
  std::vector<KernelOption> options = Contenders(runner, *c);
  if (step.appends) {
    for (KernelOption& option : options) option = ReadingAhead(*c, option);
  }
  std::vector<Job> jobs = JobsOf(c, options);
  EXPECT_EQ(jobs[0].option.kernel->key, "cuda.attention.decode");
  JobRunner::Options run;
  run.compare = false;
  run.times = step.cache_mb() > 32 ? 30 : 200;
  run.early = step.appends;
  // The new rows are written to the pools that are read.
  const size_t first = c->problem.inputs.size();
  if (step.appends) run.in_place = {{first + 1, 1}, {first + 2, 2}};
  runner.Run(jobs, run);
  for (const Job& job : jobs) {
    EXPECT_EQ(job.failure, "") << job.option.Name();
    const double rate = static_cast<double>(step.cache_mb() * kMb) / job.mean_us;
    std::printf("| %d | %d | %s%s | %.2f | %.0f | %.2f | %.1f | %s |\n",
                static_cast<int>(step.group), static_cast<int>(step.cache_mb()), c->name.c_str(),
                step.appends ? ", appends" : "", job.mean_us, rate / 1e3, rate / copy,
                job.option.candidate.cost_us, job.option.Name().c_str());
    // Weights and results are rounded to 8 bits.
    EXPECT_LT(MostApart(c->problem, job, jobs.back()), 0.01) << job.option.Name();
  }
  std::fflush(stdout);
  return static_cast<double>(step.cache_mb() * kMb) / jobs[0].mean_us;
}

// Below the second-level cache's size a repeated step reads from there: such rows may pass 100 %.
TEST(GpuTiming, DecodeReadsItsCacheAtTheSpeedOfACopy) {
  Result<std::unique_ptr<JobRunner>> made = JobRunner::Make();
  if (!made.ok()) GTEST_SKIP() << made.status().message();
  JobRunner& runner = **made;
  const double copy = CopyRate(runner, 512 * kMb);
  std::printf("%s: a copy of 512 MB moves %.0f GB/s\n\n", runner.gpu().name().c_str(), copy / 1e3);
  std::printf(
      "| group | cache MB | requests x keys | us | GB/s | of the copy | predicted | variant |\n");
  std::printf("|--:|--:|---|--:|--:|--:|--:|---|\n");
  for (const bool appends : {false, true}) {
    for (const Step& step : Steps(appends)) {
      const double rate = TimeStep(runner, step, copy);
      if (HasFatalFailure()) return;
      if (step.cache_mb() < 64 || appends) continue;
      EXPECT_GT(rate, 0.7 * copy) << step.batch << " x " << step.keys << ", group " << step.group;
    }
  }
}

}  // namespace
}  // namespace aicf::conformance
