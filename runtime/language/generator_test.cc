#include "aicf/generator.h"

#include <gtest/gtest.h>

#include "runtime/language/generator_testing.h"

namespace aicf::language {
namespace {

TEST(Generator, DrawsWhatTheModelSays) {
  const Fixture f;
  const auto id = f.generator->Submit({.prompt = {1, 2, 3}, .max_new_tokens = 20, .seed = 5});
  ASSERT_TRUE(id.ok()) << id.status().ToString();
  const auto result = f.generator->Wait(*id);
  ASSERT_TRUE(result.ok()) << result.status().ToString();
  EXPECT_EQ(result->tokens, Expected({1, 2, 3}, 20, {.seed = 5}, 97));
  EXPECT_EQ(result->finish, FinishReason::kLength);
  EXPECT_EQ(result->prompt_tokens, 3);
  EXPECT_EQ(f.generator->free_pages(), 40);
  EXPECT_EQ(f.generator->unfinished(), 0u);
  EXPECT_EQ(f.generator->Wait(*id).status().code(), Code::kInvalidArgument) << "it is forgotten";
}

TEST(Generator, PassesEveryDrawingOptionOn) {
  const Fixture f;
  const DrawOptions draw{0.5f, 7, 0.75f, 0.125f, -9};
  const auto id = f.generator->Submit({.prompt = {4},
                                       .max_new_tokens = 9,
                                       .temperature = 0.5f,
                                       .top_k = 7,
                                       .top_p = 0.75f,
                                       .min_p = 0.125f,
                                       .seed = -9});
  EXPECT_EQ(f.generator->Wait(*id)->tokens, Expected({4}, 9, draw, 97));
}

/// Requests of random lengths, and what each must draw.
std::vector<GenerateRequest> RandomRequests(int count, unsigned seed, int64_t context) {
  std::mt19937 random(seed);
  std::vector<GenerateRequest> requests;
  for (int i = 0; i < count; ++i) {
    GenerateRequest request;
    const auto prompt = 1 + random() % static_cast<uint64_t>(context);
    for (size_t t = 0; t < prompt; ++t) request.prompt.push_back(random() % 97);
    const int64_t room = context + 1 - static_cast<int64_t>(prompt);
    request.max_new_tokens = 1 + static_cast<int64_t>(random()) % room;
    request.temperature = 1;
    request.seed = random();
    requests.push_back(std::move(request));
  }
  return requests;
}

std::vector<GenerateResult> RunAll(Generator& generator, const std::vector<GenerateRequest>& all,
                                   bool together) {
  std::vector<uint64_t> ids;
  std::vector<GenerateResult> results;
  const auto wait = [&](uint64_t id) {
    auto result = generator.Wait(id);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    results.push_back(*std::move(result));
  };
  for (const GenerateRequest& request : all) {
    auto id = generator.Submit(request);
    EXPECT_TRUE(id.ok()) << id.status().ToString();
    ids.push_back(*id);
    if (!together) wait(*id);
  }
  if (together) {
    for (const uint64_t id : ids) wait(id);
  }
  return results;
}

TEST(Generator, FiftyTogetherDrawWhatEachDrawsAlone) {
  // A model whose numbers depend on the entry points that computed them, as real kernels' may.
  const Fixture alone({.batch_invariant = true}, SmallLayout(), true);
  const Fixture together({.batch_invariant = true}, SmallLayout(), true);
  const auto requests = RandomRequests(50, 1, 60);
  const auto one = RunAll(*alone.generator, requests, false);
  const auto all = RunAll(*together.generator, requests, true);
  ASSERT_EQ(one.size(), 50u);
  ASSERT_EQ(all.size(), 50u);
  int64_t preemptions = 0;
  for (size_t i = 0; i < all.size(); ++i) {
    EXPECT_EQ(all[i].tokens, one[i].tokens) << "request " << i;
    EXPECT_EQ(static_cast<int64_t>(all[i].tokens.size()), requests[i].max_new_tokens);
    preemptions += all[i].preemptions;
  }
  EXPECT_GT(preemptions, 0) << "pages never ran out";
  EXPECT_LT(together.runner->runs, alone.runner->runs) << "nothing was batched";
  // The same without the option is not equal on such a model: the comparison can fail.
  const Fixture loose({}, SmallLayout(), true);
  const auto other = RunAll(*loose.generator, requests, true);
  size_t differ = 0;
  for (size_t i = 0; i < all.size(); ++i) differ += other[i].tokens != one[i].tokens;
  EXPECT_GT(differ, 10u);
}

TEST(Generator, CompletesAllWithTooFewPages) {
  Layout layout = SmallLayout();
  layout.pages = 16;  // one request of the whole context, and one page
  const Fixture f({}, layout);
  const auto requests = RandomRequests(50, 2, 60);
  const auto results = RunAll(*f.generator, requests, true);
  int64_t preemptions = 0;
  for (size_t i = 0; i < results.size(); ++i) {
    const GenerateRequest& r = requests[i];
    const DrawOptions draw{.temperature = 1, .seed = r.seed};
    EXPECT_EQ(results[i].tokens,
              Expected(r.prompt, static_cast<size_t>(r.max_new_tokens), draw, 97));
    preemptions += results[i].preemptions;
  }
  EXPECT_GT(preemptions, 10);
  EXPECT_EQ(f.generator->free_pages(), 16);
}

TEST(Generator, EndsWhereTheContextOrTheCacheIsFull) {
  const Fixture f;
  auto id = f.generator->Submit({.prompt = {1, 2}});
  auto result = f.generator->Wait(*id);
  EXPECT_EQ(result->finish, FinishReason::kContext);
  EXPECT_EQ(result->tokens, Expected({1, 2}, 59, {}, 97)) << "60 positions, the last draws, too";
  Layout layout = SmallLayout();
  layout.pages = 5;
  const Fixture small({}, layout);
  EXPECT_EQ(small.generator->info().context, 20);
  id = small.generator->Submit({.prompt = {1, 2}, .max_new_tokens = 50});
  result = small.generator->Wait(*id);
  EXPECT_EQ(result->finish, FinishReason::kContext);
  EXPECT_EQ(result->tokens.size(), 19u);
}

TEST(Generator, EndsWithTheTokensThatEndIt) {
  const std::vector<uint32_t> drawn = Expected({1, 2, 3}, 20, {}, 97);
  schema::LanguageModel model = SmallModel();
  model.end_tokens = {drawn[4]};
  const Fixture f({}, SmallLayout(), false, model);
  const auto result_of = [&](GenerateRequest request) {
    request.prompt = {1, 2, 3};
    request.max_new_tokens = 20;
    return *f.generator->Wait(*f.generator->Submit(request));
  };
  GenerateResult result = result_of({});
  EXPECT_EQ(result.finish, FinishReason::kEndToken);
  EXPECT_EQ(result.tokens, (std::vector<uint32_t>{drawn.begin(), drawn.begin() + 5}));
  result = result_of({.ignore_end = true});
  EXPECT_EQ(result.finish, FinishReason::kLength);
  EXPECT_EQ(result.tokens, drawn);
  result = result_of({.ignore_end = true, .stop_tokens = {drawn[7]}});
  EXPECT_EQ(result.finish, FinishReason::kStopToken);
  EXPECT_EQ(result.tokens.size(), 8u);
}

TEST(Generator, RequestsThatAreWrongSayWhy) {
  const Fixture f;
  const auto expect = [&](const GenerateRequest& request, std::string_view sentence) {
    const auto id = f.generator->Submit(request);
    ASSERT_FALSE(id.ok()) << sentence;
    EXPECT_EQ(id.status().code(), Code::kInvalidArgument);
    EXPECT_NE(id.status().message().find(sentence), std::string::npos) << id.status().ToString();
  };
  expect({}, "the prompt is empty");
  expect({.prompt = std::vector<uint32_t>(61, 1)},
         "the prompt has 61 tokens, the context has room for 60");
  expect({.prompt = {1, 97}}, "token 1 is the id 97, the vocabulary has 97");
  expect({.prompt = {1}, .max_new_tokens = -1}, "max_new_tokens is -1");
  expect({.prompt = {1}, .temperature = -1}, "temperature is -1");
  expect({.prompt = {1}, .temperature = std::nanf("")}, "temperature is nan");
  expect({.prompt = {1}, .top_k = -2}, "top_k is -2");
  expect({.prompt = {1}, .top_p = 1.5f}, "top_p is 1.500000, expected 0 to 1");
  expect({.prompt = {1}, .min_p = -0.5f}, "min_p is -0.5");
  expect({.prompt = {1}, .stop_tokens = {200}}, "stop token 0 is the id 200");
  EXPECT_EQ(f.generator->Submit({.prompt = {1}, .stop_texts = {"x"}}).status().code(),
            Code::kUnsupported);
  EXPECT_EQ(f.generator->Encode("x").status().code(), Code::kUnsupported);
  EXPECT_EQ(f.generator->unfinished(), 0u);
  EXPECT_EQ(f.generator->Poll(7).status().code(), Code::kInvalidArgument);
  EXPECT_EQ(f.generator->Cancel(7).code(), Code::kInvalidArgument);
}

}  // namespace
}  // namespace aicf::language
