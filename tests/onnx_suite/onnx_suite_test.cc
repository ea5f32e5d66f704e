// Every case of the ONNX standard's test suite: compiled for the CPU and run; compiled for CUDA and
// executed on the reference kernels; and, where there is a GPU, replayed there.
#include <gtest/gtest.h>

#include <atomic>
#include <cctype>
#include <cstdio>
#include <map>
#include <mutex>
#include <thread>

#include "tests/onnx_suite/run_case.h"

namespace aicf::testing {
namespace {

// Passed and run, per suite; printed at the end of a run.
class Tally : public ::testing::Environment {
 public:
  void Count(const std::string& suite, bool passed) {
    const std::lock_guard lock(mutex_);
    ++counts_[suite].second;
    if (passed) ++counts_[suite].first;
  }
  void TearDown() override {
    for (const auto& [suite, count] : counts_) {
      std::printf("ONNX suite, %s: %d of %d cases passed\n", suite.c_str(), count.first,
                  count.second);
    }
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::pair<int, int>> counts_;
};

Tally& TheTally() {
  static Tally* const tally = [] {
    auto* made = new Tally;
    ::testing::AddGlobalTestEnvironment(made);  // owns it
    return made;
  }();
  return *tally;
}
[[maybe_unused]] const Tally& registered = TheTally();

class OnnxSuite : public ::testing::TestWithParam<SuiteCase> {
 protected:
  void Check(const SuiteTarget& target, const std::string& suite) {
    const std::string skip = SkipReason(GetParam());
    if (!skip.empty()) GTEST_SKIP() << skip;
    const Status status = RunCase(GetParam(), target);
    TheTally().Count(suite, status.ok());
    EXPECT_TRUE(status.ok()) << GetParam().name << ": " << status.ToString();
  }
};

TEST_P(OnnxSuite, Cpu) { Check({"cpu", "cpu", true}, "cpu"); }

TEST_P(OnnxSuite, CudaPlanOnTheReference) {
  Check({"cuda:sm_90a", "cpu", false}, "cuda plan on the reference");
}

std::string NameOf(const ::testing::TestParamInfo<SuiteCase>& info) {
  std::string name = info.param.name;
  for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  return name;
}

INSTANTIATE_TEST_SUITE_P(Onnx, OnnxSuite, ::testing::ValuesIn(SuiteCases()), NameOf);
GTEST_ALLOW_UNINSTANTIATED_PARAMETERIZED_TEST(OnnxSuite);

// Thousands of kernels: compiled by all cores at once, then replayed case by case.
TEST(GpuOnnxSuite, AllCases) {
  if (!HasGpuDevice()) GTEST_SKIP() << "no CUDA device here";
  const std::vector<SuiteCase>& cases = SuiteCases();
  std::vector<Status> results(cases.size());
  std::atomic<size_t> next = 0;
  const auto work = [&] {
    for (size_t i = next++; i < cases.size(); i = next++) {
      if (SkipReason(cases[i]).empty()) {
        results[i] = RunCase(cases[i], {"cuda:sm_90a", "cuda:0", true});
      }
    }
  };
  std::vector<std::thread> threads;
  for (unsigned t = 1; t < std::thread::hardware_concurrency(); ++t) threads.emplace_back(work);
  work();
  for (std::thread& t : threads) t.join();
  for (size_t i = 0; i < cases.size(); ++i) {
    if (!SkipReason(cases[i]).empty()) continue;
    TheTally().Count("cuda on the GPU", results[i].ok());
    EXPECT_TRUE(results[i].ok()) << cases[i].name << ": " << results[i].ToString();
  }
}

TEST(OnnxSuiteFolder, IsThereOrSaysWhyNot) {
  if (SuiteCases().empty()) {
    GTEST_SKIP() << "AICF_ONNX_SUITE names no suite, and libonnx-testdata is not installed";
  }
  EXPECT_GE(SuiteCases().size(), 500u);
}

}  // namespace
}  // namespace aicf::testing
