// Texts of a small trained model are those of its reference, and do not depend on what else is
// generated at the same time.
#include <gtest/gtest.h>

#include <cstring>

#include "tests/language/stories.h"
#include "tools/common/npy.h"

namespace aicf::testing {
namespace {

/// The ids that the reference draws from "Once upon a time", the prompt's first.
std::vector<uint32_t> ReferenceIds() {
  const auto array = tools::ReadNpy(StoriesFile("ref_greedy_ids.npy"));
  EXPECT_TRUE(array.ok()) << array.status().ToString();
  std::vector<uint32_t> ids(array->data.size() / sizeof(uint32_t));
  std::memcpy(ids.data(), array->data.data(), array->data.size());
  return ids;
}

void ExpectReference(const std::string& file, const CompileOptions& options,
                     const std::string& device = "cpu") {
  const auto generator = GeneratorOf(CompileStories(options, file), false, device);
  ASSERT_NE(generator, nullptr);
  const auto prompt = generator->Encode("Once upon a time");
  ASSERT_TRUE(prompt.ok()) << prompt.status().ToString();
  const std::vector<uint32_t> reference = ReferenceIds();
  const auto count = static_cast<int64_t>(reference.size() - prompt->size());
  std::string said;
  const auto id = generator->Submit(
      {.prompt = *prompt,
       .max_new_tokens = count,
       .on_progress = [&](const GenerateProgress& progress) { said += progress.text; }});
  ASSERT_TRUE(id.ok()) << id.status().ToString();
  const auto result = generator->Wait(*id);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  std::vector<uint32_t> all = *prompt;
  all.insert(all.end(), result->tokens.begin(), result->tokens.end());
  EXPECT_EQ(all, reference) << file;
  EXPECT_EQ(said, result->text);
  EXPECT_TRUE(said.starts_with(", there was a little girl named Lily.")) << said;
}

TEST(Stories, GreedyTextIsTheReferences) {
  AICF_SKIP_WITHOUT_STORIES();
  for (const char* file : {"stories260K.F32.gguf", "stories260K.F16.gguf"}) {
    ExpectReference(file, CompileOptions());
    ExpectReference(file, SmallBuckets(256));
  }
}

TEST(Stories, APlanForCudaSaysTheSameOnTheReferenceKernels) {
  AICF_SKIP_WITHOUT_STORIES();
  CompileOptions options = SmallBuckets(256);
  options.target = "cuda:sm_90a";
  options.images = false;
  ExpectReference("stories260K.F32.gguf", options);
}

TEST(GpuStories, GreedyTextIsTheReferences) {
  AICF_SKIP_WITHOUT_GPU();
  AICF_SKIP_WITHOUT_STORIES();
  CompileOptions options = SmallBuckets(256);
  options.target = "cuda";
  ExpectReference("stories260K.F32.gguf", options, "cuda:0");
}

/// All at once, all one after the other, and all with hardly more pages than one of them takes.
void ExpectBatchInvariant(CompileOptions options, const std::string& device) {
  const auto roomy = CompileStories(options, "stories260K.F32.gguf");
  options.language.cache = 136;
  const auto tight = CompileStories(options, "stories260K.F32.gguf");
  ASSERT_TRUE(roomy != nullptr && tight != nullptr);
  const auto alone = GeneratorOf(roomy, true, device);
  const auto together = GeneratorOf(roomy, true, device);
  const auto squeezed = GeneratorOf(tight, true, device);
  ASSERT_TRUE(alone != nullptr && together != nullptr && squeezed != nullptr);
  const auto requests = RandomPrompts(50, alone->info());
  const auto one = ResultsOf(*alone, requests, false);
  const auto all = ResultsOf(*together, requests, true);
  const auto few = ResultsOf(*squeezed, requests, true);
  ASSERT_EQ(one.size(), 50u);
  ASSERT_EQ(all.size(), 50u);
  ASSERT_EQ(few.size(), 50u);
  int64_t preemptions = 0;
  for (size_t i = 0; i < one.size(); ++i) {
    EXPECT_EQ(static_cast<int64_t>(one[i].tokens.size()), requests[i].max_new_tokens);
    EXPECT_EQ(all[i].tokens, one[i].tokens) << "request " << i;
    EXPECT_EQ(few[i].tokens, one[i].tokens) << "request " << i << " with too few pages";
    EXPECT_EQ(all[i].text, one[i].text);
    preemptions += few[i].preemptions;
  }
  EXPECT_GT(preemptions, 0) << "pages never ran out";
  EXPECT_EQ(squeezed->free_pages(), squeezed->info().pages);
}

TEST(Stories, FiftyTogetherDrawWhatEachDrawsAlone) {
  AICF_SKIP_WITHOUT_STORIES();
  ExpectBatchInvariant(SmallBuckets(1024), "cpu");
}

TEST(GpuStories, FiftyTogetherDrawWhatEachDrawsAlone) {
  AICF_SKIP_WITHOUT_GPU();
  AICF_SKIP_WITHOUT_STORIES();
  CompileOptions options = SmallBuckets(1024);
  options.target = "cuda";
  ExpectBatchInvariant(options, "cuda:0");
}

TEST(GpuStories, TenThousandStepsAreOneLaunchEachAndAllocateNothing) {
  AICF_SKIP_WITHOUT_GPU();
  AICF_SKIP_WITHOUT_STORIES();
  CompileOptions options = SmallBuckets(1024);
  options.target = "cuda";
  const auto generator =
      GeneratorOf(CompileStories(options, "stories260K.F32.gguf"), false, "cuda:0");
  ASSERT_NE(generator, nullptr);
  const cuda::Counters& counters = (*cuda::Driver::Get())->counters();
  const uint64_t launches = counters.graph_launches(), allocations = counters.allocations();
  const uint64_t captures = counters.calls(cuda::Fn::kStreamBeginCapture);
  uint64_t steps = 0;
  while (steps < 10000) {
    // All ends are known beforehand, so that no run is queued in vain.
    const auto id =
        generator->Submit({.prompt = {1, 403}, .max_new_tokens = 120, .ignore_end = true});
    ASSERT_TRUE(id.ok()) << id.status().ToString();
    for (; generator->unfinished() > 0; ++steps) ASSERT_TRUE(generator->Step().ok());
    EXPECT_EQ(generator->Wait(*id)->tokens.size(), 120u);
  }
  EXPECT_EQ(counters.graph_launches() - launches, steps);
  EXPECT_EQ(counters.allocations(), allocations);
  EXPECT_EQ(counters.calls(cuda::Fn::kStreamBeginCapture), captures);
}

TEST(Stories, WithoutTheOptionAllEndToo) {
  AICF_SKIP_WITHOUT_STORIES();
  const auto program = CompileStories(SmallBuckets(136), "stories260K.F32.gguf");
  const auto generator = GeneratorOf(program, false);
  ASSERT_NE(generator, nullptr);
  const auto requests = RandomPrompts(50, generator->info());
  const auto results = ResultsOf(*generator, requests, true);
  ASSERT_EQ(results.size(), 50u);
  for (size_t i = 0; i < results.size(); ++i) {
    EXPECT_EQ(static_cast<int64_t>(results[i].tokens.size()), requests[i].max_new_tokens);
    EXPECT_EQ(results[i].finish, FinishReason::kLength);
  }
  EXPECT_EQ(generator->free_pages(), generator->info().pages);
}

TEST(Stories, StopTextsAreNeverSaid) {
  AICF_SKIP_WITHOUT_STORIES();
  const auto generator =
      GeneratorOf(CompileStories(SmallBuckets(256), "stories260K.F32.gguf"), false);
  ASSERT_NE(generator, nullptr);
  const auto id = generator->Submit({.prompt = *generator->Encode("Once upon a time"),
                                     .max_new_tokens = 60,
                                     .stop_texts = {"named Lily", "ball"}});
  const auto result = generator->Wait(*id);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->text, ", there was a little girl ");
  EXPECT_EQ(result->finish, FinishReason::kStopText);
}

}  // namespace
}  // namespace aicf::testing
