// The generator's C interface gives the same results as its C++ interface.
#include <gtest/gtest.h>

#include "aicf/generator_c.h"
#include "tests/language/stories.h"

namespace aicf::testing {
namespace {

TEST(GeneratorC, HandlesThatNameNothingAreErrors) {
  aicf_generator generator = 7;
  EXPECT_EQ(aicf_generator_create(0, nullptr, &generator), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(generator, 0u);
  EXPECT_EQ(aicf_generator_step(0, nullptr), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_generator_cancel(12345, 1), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_generator_destroy(0), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(aicf_last_error()),
            "generator handle 0 names nothing: it was destroyed or never created");
}

class GeneratorCStories : public ::testing::Test {
 protected:
  void SetUp() override {
    AICF_SKIP_WITHOUT_STORIES();
    const auto compiled = Compile(StoriesFile("stories260K.F32.gguf"), SmallBuckets(256));
    ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
    aicf_program program = 0;
    ASSERT_EQ(aicf_program_from_bytes(compiled->bytes.data(), compiled->bytes.size(), &program),
              AICF_OK);
    aicf_generator_options options;
    aicf_generator_options_init(&options);
    options.threads = 1;
    ASSERT_EQ(aicf_generator_create(program, &options, &generator_), AICF_OK) << aicf_last_error();
    ASSERT_EQ(aicf_program_destroy(program), AICF_OK);
    ids_.resize(100);
    uint64_t count = 0;
    ASSERT_EQ(aicf_generator_encode(generator_, "Once upon a time", 0, 1, ids_.data(), 100, &count),
              AICF_OK);
    ids_.resize(count);
    aicf_generate_request_init(&request_);
    request_.prompt = ids_.data();
    request_.prompt_count = count;
    request_.max_new_tokens = 30;
  }
  void TearDown() override {
    if (generator_ == 0) return;
    EXPECT_EQ(aicf_generator_destroy(generator_), AICF_OK);
  }

  aicf_generator generator_ = 0;
  std::vector<uint32_t> ids_;
  aicf_generate_request request_;
};

TEST_F(GeneratorCStories, WaitsAndPolls) {
  uint64_t first = 0, second = 0;
  ASSERT_EQ(aicf_generator_submit(generator_, &request_, &first), AICF_OK) << aicf_last_error();
  const char* const stops[] = {"girl"};
  request_.stop_texts = stops;
  request_.stop_text_count = 1;
  ASSERT_EQ(aicf_generator_submit(generator_, &request_, &second), AICF_OK);
  std::string text;
  aicf_generate_part part = {};
  for (uint64_t unfinished = 1; part.finish == AICF_FINISH_NONE;) {
    ASSERT_EQ(aicf_generator_step(generator_, &unfinished), AICF_OK);
    ASSERT_EQ(aicf_generator_poll(generator_, second, &part), AICF_OK);
    text.append(part.text, part.text_bytes);
  }
  EXPECT_EQ(text, ", there was a little ");
  EXPECT_EQ(part.finish, AICF_FINISH_STOP_TEXT);
  ASSERT_EQ(aicf_generator_wait(generator_, first, &part), AICF_OK);
  EXPECT_EQ(part.token_count, 30u);
  EXPECT_EQ(part.tokens[0], 432u);
  EXPECT_TRUE(std::string(part.text).starts_with(", there was a little girl named Lily."));
  EXPECT_EQ(aicf_generator_poll(generator_, first, &part), AICF_INVALID_ARGUMENT);
}

TEST_F(GeneratorCStories, SaysWhatARequestHasToFit) {
  aicf_language_info info;
  ASSERT_EQ(aicf_generator_get_info(generator_, &info), AICF_OK);
  EXPECT_STREQ(info.architecture, "llama");
  EXPECT_STREQ(info.chat_template, "");
  EXPECT_EQ(info.vocabulary, 512);
  EXPECT_EQ(info.context, 128);
  EXPECT_EQ(info.page, 8);
  EXPECT_EQ(info.pages, 32);
  EXPECT_EQ(info.slots, 8);
  EXPECT_EQ(info.largest_prefill, 32);
  EXPECT_EQ(info.largest_decode, 8);
  EXPECT_EQ(std::vector<uint32_t>(info.end_tokens, info.end_tokens + info.end_token_count),
            std::vector<uint32_t>{2});
  EXPECT_EQ(info.has_tokenizer, 1);
  EXPECT_EQ(aicf_generator_get_info(generator_, nullptr), AICF_INVALID_ARGUMENT);
  char name[8];
  ASSERT_EQ(aicf_generator_device_name(generator_, name, sizeof name), AICF_OK);
  EXPECT_STREQ(name, "cpu");
  aicf_memory_report memory;
  ASSERT_EQ(aicf_generator_memory(generator_, &memory), AICF_OK);
  EXPECT_GT(memory.state_bytes, 0u);
}

TEST_F(GeneratorCStories, TellsWhatIsAtWork) {
  int64_t pages = 0;
  uint64_t unfinished = 7, id = 0;
  ASSERT_EQ(aicf_generator_free_pages(generator_, &pages), AICF_OK);
  EXPECT_EQ(pages, 32);
  ASSERT_EQ(aicf_generator_unfinished(generator_, &unfinished), AICF_OK);
  EXPECT_EQ(unfinished, 0u);
  ASSERT_EQ(aicf_generator_submit(generator_, &request_, &id), AICF_OK);
  ASSERT_EQ(aicf_generator_step(generator_, nullptr), AICF_OK);
  ASSERT_EQ(aicf_generator_free_pages(generator_, &pages), AICF_OK);
  EXPECT_EQ(pages, 31);
  ASSERT_EQ(aicf_generator_unfinished(generator_, &unfinished), AICF_OK);
  EXPECT_EQ(unfinished, 1u);
}

TEST_F(GeneratorCStories, Decodes) {
  uint64_t bytes = 0;
  char text[17] = "as it was";
  EXPECT_EQ(aicf_generator_decode(generator_, ids_.data(), ids_.size(), text, 16, &bytes),
            AICF_INVALID_ARGUMENT);
  EXPECT_EQ(bytes, 16u);
  EXPECT_STREQ(text, "as it was");
  EXPECT_EQ(aicf_generator_decode(generator_, ids_.data(), ids_.size(), nullptr, 0, &bytes),
            AICF_INVALID_ARGUMENT);
  ASSERT_EQ(aicf_generator_decode(generator_, ids_.data(), ids_.size(), text, 17, &bytes), AICF_OK);
  EXPECT_STREQ(text, "Once upon a time");
  EXPECT_EQ(bytes, 16u);
  ASSERT_EQ(aicf_generator_decode(generator_, nullptr, 0, text, 1, &bytes), AICF_OK);
  EXPECT_STREQ(text, "");
  EXPECT_EQ(bytes, 0u);
  const uint32_t outside[] = {512};
  EXPECT_EQ(aicf_generator_decode(generator_, outside, 1, text, 17, &bytes), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_generator_decode(generator_, nullptr, 1, text, 17, &bytes), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(aicf_last_error()), "the ids' address is null");
}

TEST_F(GeneratorCStories, WhatIsWrongHasASentence) {
  uint64_t id = 7, count = 0;
  uint32_t one = 9;
  EXPECT_EQ(aicf_generator_encode(generator_, "Once upon a time", 0, 1, &one, 1, &count),
            AICF_INVALID_ARGUMENT);
  EXPECT_EQ(count, 5u);
  EXPECT_EQ(one, 9u);
  request_.prompt_count = 0;
  EXPECT_EQ(aicf_generator_submit(generator_, &request_, &id), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(id, 0u);
  EXPECT_EQ(std::string(aicf_last_error()), "the prompt is empty");
  request_.struct_bytes = 3;
  EXPECT_EQ(aicf_generator_submit(generator_, &request_, &id), AICF_INVALID_ARGUMENT);
  const char* const roles[] = {"user"};
  const char* const contents[] = {"hello"};
  EXPECT_EQ(aicf_generator_encode_chat(generator_, roles, contents, 1, &one, 1, &count),
            AICF_UNSUPPORTED);
}

}  // namespace
}  // namespace aicf::testing
