// Compares the logits of a small trained model with its reference, for prefill and decode, across
// pages and chunks, with the original weights and with rounded ones.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "tests/language/paged_requests.h"
#include "tests/language/stories.h"
#include "tools/common/npy.h"

namespace aicf::testing {
namespace {

/// Row p of the logits is what the reference says after the first p + 1 of its ids.
struct LogitsReference {
  std::vector<int32_t> ids;
  std::vector<float> logits;
  size_t vocabulary = 0;
};

template <class T>
std::vector<T> ReadReference(const std::string& name) {
  const auto array = tools::ReadNpy(StoriesFile(name));
  EXPECT_TRUE(array.ok()) << array.status().ToString();
  if (!array.ok()) return {};
  std::vector<T> values(array->data.size() / sizeof(T));
  std::memcpy(values.data(), array->data.data(), array->data.size());
  return values;
}

LogitsReference ReadLogitsReference() {
  LogitsReference out;
  out.ids = ReadReference<int32_t>("ref_greedy_ids.npy");
  out.logits = ReadReference<float>("ref_logits_64x512.npy");
  out.vocabulary = 512;                                // as the file's name says
  out.ids.resize(out.logits.size() / out.vocabulary);  // nothing is said after the last id
  return out;
}

/// One session's logits, and their largest distance from the reference's.
class LogitsRun {
 public:
  LogitsRun(PagedSession session, LogitsReference reference)
      : session_(std::move(session)), reference_(std::move(reference)) {}

  double worst() const { return worst_; }

  /// The first ids by prefill, those after them one by one.
  void Read(size_t prefilled, size_t all) {
    PagedRequest request = session_.NewRequest();
    const auto begin = reference_.ids.begin();
    Take(session_.Prefill(request, {begin, begin + static_cast<int64_t>(prefilled)}), prefilled);
    for (size_t i = prefilled; i < all; ++i) {
      const auto rows = session_.Decode({&request}, {reference_.ids[i]});
      ASSERT_TRUE(rows.ok()) << rows.status().ToString();
      Take((*rows)[0], i + 1);
    }
  }

  /// Texts of several lengths, which go on together.
  void ReadTogether(const std::vector<size_t>& prefilled, size_t more) {
    std::vector<PagedRequest> requests;
    const auto begin = reference_.ids.begin();
    for (const size_t length : prefilled) {
      requests.push_back(session_.NewRequest());
      Take(session_.Prefill(requests.back(), {begin, begin + static_cast<int64_t>(length)}),
           length);
    }
    for (size_t step = 0; step < more; ++step) DecodeAll(requests);
  }

 private:
  void DecodeAll(std::vector<PagedRequest>& requests) {
    std::vector<PagedRequest*> all;
    std::vector<int32_t> next;
    for (PagedRequest& request : requests) {
      all.push_back(&request);
      next.push_back(reference_.ids[static_cast<size_t>(request.length)]);
    }
    const auto rows = session_.Decode(all, next);
    ASSERT_TRUE(rows.ok()) << rows.status().ToString();
    for (size_t i = 0; i < all.size(); ++i) {
      Take((*rows)[i], static_cast<size_t>(requests[i].length));
    }
  }

  void Take(const Result<std::vector<float>>& logits, size_t read) {
    ASSERT_TRUE(logits.ok()) << logits.status().ToString();
    ASSERT_EQ(logits->size(), reference_.vocabulary);
    const float* const expected = reference_.logits.data() + (read - 1) * reference_.vocabulary;
    for (size_t i = 0; i < logits->size(); ++i) {
      const double error = std::abs(double{(*logits)[i]} - double{expected[i]});
      worst_ = std::isfinite(error) ? std::max(worst_, error) : HUGE_VAL;
    }
  }

  PagedSession session_;
  LogitsReference reference_;
  double worst_ = 0;
};

/// Every row of the reference: one at a time from the first, behind prompts that end on and beside
/// the borders of pages (8) and chunks (32), and four texts at once.
double WorstLogit(CompileOptions options, const std::string& file, const std::string& device) {
  options.language.logits = true;
  const auto program = CompileStories(options, file);
  if (program == nullptr) return HUGE_VAL;
  auto session = PagedSession::Create(program, device);
  EXPECT_TRUE(session.ok()) << session.status().ToString();
  if (!session.ok()) return HUGE_VAL;
  LogitsRun run(*std::move(session), ReadLogitsReference());
  run.Read(1, 64);
  for (const size_t length : {5, 8, 9, 31, 32, 33, 40, 64}) run.Read(length, length);
  run.ReadTogether({3, 8, 20, 60}, 4);
  std::printf("%-22s %-13s largest error %.1e\n", file.c_str(), options.target.c_str(),
              run.worst());
  return run.worst();
}

/// How far sums in another order of f32 may be from the reference's.
constexpr double kAsExact = 1e-4;

CompileOptions LogitsOptions(const std::string& target) {
  CompileOptions options = SmallBuckets(2048);
  options.target = target;
  options.math_given = true;  // f32 throughout, also with quantised weights
  return options;
}

TEST(Logits, AreTheReferences) {
  AICF_SKIP_WITHOUT_STORIES();
  EXPECT_LE(WorstLogit(LogitsOptions("cpu"), "stories260K.F32.gguf", "cpu"), kAsExact);
}

TEST(Logits, AHuggingFaceFolderGivesThemToo) {
  AICF_SKIP_WITHOUT_STORIES();
  EXPECT_LE(WorstLogit(LogitsOptions("cpu"), "", "cpu"), kAsExact);
}

TEST(Logits, APlanForCudaGivesThemOnTheReferenceKernels) {
  AICF_SKIP_WITHOUT_STORIES();
  CompileOptions options = LogitsOptions("cuda:sm_90a");
  options.images = false;
  EXPECT_LE(WorstLogit(options, "stories260K.F32.gguf", "cpu"), kAsExact);
}

/// A file, the largest relative error of rounding one of its elements, and how many operands of a
/// product are rounded so.
struct RoundedFile {
  const char* file;
  double rounding;
  int operands;
};

/// f16 has 11 bits; 127 steps of Q8_0 reach the largest element of a block.
constexpr RoundedFile kRoundedWeights[] = {{"stories260K.F16.gguf", 1.0 / 2048, 1},
                                           {"stories260K.Q8_0.gguf", 0.5 / 127, 1}};

/// Roundings of single elements mostly cancel each other, but five layers add theirs: the errors
/// are one to three roundings of the largest logit.
void ExpectRounded(const CompileOptions& options, const RoundedFile& rounded,
                   const std::string& device) {
  constexpr double kLargestLogit = 22;
  const double worst = WorstLogit(options, rounded.file, device);
  EXPECT_LE(worst, 4 * rounded.operands * rounded.rounding * kLargestLogit) << rounded.file;
  EXPECT_GT(worst, kAsExact) << rounded.file << ": nothing was rounded";
}

TEST(Logits, RoundedWeightsMoveThemByTheirRounding) {
  AICF_SKIP_WITHOUT_STORIES();
  for (const RoundedFile& rounded : kRoundedWeights) {
    ExpectRounded(LogitsOptions("cpu"), rounded, "cpu");
  }
  CompileOptions usual = LogitsOptions("cpu");
  usual.math_given = false;  // what a user gets: activations are rounded like the weights
  ExpectRounded(usual, {"stories260K.Q8_0.gguf", 0.5 / 127, 2}, "cpu");
}

TEST(GpuLogits, AreTheReferences) {
  AICF_SKIP_WITHOUT_GPU();
  AICF_SKIP_WITHOUT_STORIES();
  EXPECT_LE(WorstLogit(LogitsOptions("cuda"), "stories260K.F32.gguf", "cuda:0"), kAsExact);
}

TEST(GpuLogits, RoundedWeightsMoveThemByTheirRounding) {
  AICF_SKIP_WITHOUT_GPU();
  AICF_SKIP_WITHOUT_STORIES();
  for (const RoundedFile& rounded : kRoundedWeights) {
    ExpectRounded(LogitsOptions("cuda"), rounded, "cuda:0");
  }
}

}  // namespace
}  // namespace aicf::testing
