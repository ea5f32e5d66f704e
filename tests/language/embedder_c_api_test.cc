// The embedder's C interface gives the same results as its C++ interface.
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

#include "aicf/embedder.h"
#include "aicf/embedder_c.h"
#include "tests/language/small_bert.h"

namespace aicf::testing {
namespace {

TEST(EmbedderC, HandlesThatNameNothingAreErrors) {
  aicf_embedder embedder = 7;
  EXPECT_EQ(aicf_embedder_create(0, nullptr, &embedder), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(embedder, 0u);
  EXPECT_EQ(aicf_embedder_create(0, nullptr, nullptr), AICF_INVALID_ARGUMENT);
  int32_t serves = 0;
  EXPECT_EQ(aicf_embedder_serves(0, &serves), AICF_INVALID_ARGUMENT);
  aicf_embedder_info info;
  EXPECT_EQ(aicf_embedder_get_info(12345, &info), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_embedder_destroy(0), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(aicf_last_error()),
            "embedder handle 0 names nothing: it was destroyed or never created");
}

class EmbedderCSmall : public ::testing::Test {
 protected:
  void SetUp() override {
    const auto compiled = SmallBert::Compiled();
    ASSERT_TRUE(compiled.ok()) << compiled.status().ToString();
    aicf_program program = 0;
    ASSERT_EQ(aicf_program_from_bytes(compiled->bytes.data(), compiled->bytes.size(), &program),
              AICF_OK);
    int32_t serves = 0;
    EXPECT_EQ(aicf_embedder_serves(program, &serves), AICF_OK);
    EXPECT_EQ(serves, 1);
    EXPECT_EQ(aicf_embedder_serves(program, nullptr), AICF_INVALID_ARGUMENT);
    aicf_session_options options;
    aicf_session_options_init(&options);
    options.threads = 1;
    ASSERT_EQ(aicf_embedder_create(program, &options, &embedder_), AICF_OK) << aicf_last_error();
    options.sync = 7;
    aicf_embedder other = 7;
    EXPECT_EQ(aicf_embedder_create(program, &options, &other), AICF_INVALID_ARGUMENT);
    EXPECT_EQ(other, 0u);
    ASSERT_EQ(aicf_program_destroy(program), AICF_OK);
    auto same = Program::FromBytes(compiled->bytes);
    ASSERT_TRUE(same.ok());
    auto made = Embedder::Create(*same, {.device = "cpu", .threads = 1});
    ASSERT_TRUE(made.ok()) << made.status().ToString();
    cpp_ = *std::move(made);
  }
  void TearDown() override {
    if (embedder_ == 0) return;
    EXPECT_EQ(aicf_embedder_destroy(embedder_), AICF_OK);
    EXPECT_EQ(aicf_embedder_destroy(embedder_), AICF_INVALID_ARGUMENT);
  }

  aicf_embedder embedder_ = 0;
  std::unique_ptr<Embedder> cpp_;
};

TEST_F(EmbedderCSmall, SaysWhatItIs) {
  aicf_embedder_info info;
  ASSERT_EQ(aicf_embedder_get_info(embedder_, &info), AICF_OK);
  EXPECT_STREQ(info.architecture, "bert");
  EXPECT_EQ(info.vocabulary, SmallBert::kVocabulary);
  EXPECT_EQ(info.context, SmallBert::kContext);
  EXPECT_EQ(info.size, SmallBert::kSize);
  EXPECT_EQ(info.has_tokenizer, 1);
  char name[8];
  ASSERT_EQ(aicf_embedder_device_name(embedder_, name, sizeof name), AICF_OK);
  EXPECT_STREQ(name, "cpu");
  aicf_memory_report memory;
  ASSERT_EQ(aicf_embedder_memory(embedder_, &memory), AICF_OK);
  EXPECT_EQ(memory.weights_bytes, cpp_->memory().weights_bytes);
  EXPECT_EQ(aicf_embedder_get_info(embedder_, nullptr), AICF_INVALID_ARGUMENT);
}

TEST_F(EmbedderCSmall, EncodesAndEmbeds) {
  uint32_t ids[16];
  uint64_t count = 0, size = 0;
  ASSERT_EQ(aicf_embedder_encode(embedder_, "The sky is blue", 0, ids, 16, &count), AICF_OK);
  EXPECT_EQ(std::vector<uint32_t>(ids, ids + count), *cpp_->Encode("The sky is blue"));
  EXPECT_EQ(count, 6u);
  float vector[SmallBert::kSize];
  ASSERT_EQ(aicf_embedder_embed(embedder_, ids, count, vector, SmallBert::kSize, &size), AICF_OK)
      << aicf_last_error();
  EXPECT_EQ(size, static_cast<uint64_t>(SmallBert::kSize));
  EXPECT_EQ(std::vector<float>(vector, vector + size), *cpp_->Embed({ids, count}));
  double square = 0;
  for (const float v : vector) square += static_cast<double>(v) * static_cast<double>(v);
  EXPECT_NEAR(square, 1, 1e-5);
}

TEST_F(EmbedderCSmall, ABufferThatIsTooSmallIsToldTheLength) {
  uint32_t ids[2] = {9, 9};
  uint64_t count = 0, size = 0;
  EXPECT_EQ(aicf_embedder_encode(embedder_, "The sky is blue", 0, ids, 2, &count),
            AICF_INVALID_ARGUMENT);
  EXPECT_EQ(count, 6u);
  EXPECT_EQ(ids[0], 9u);
  float vector[2] = {7, 7};
  EXPECT_EQ(aicf_embedder_embed(embedder_, ids, 2, vector, 2, &size), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(size, static_cast<uint64_t>(SmallBert::kSize));
  EXPECT_EQ(vector[0], 7);
  EXPECT_EQ(aicf_embedder_embed(embedder_, ids, 2, nullptr, 0, &size), AICF_INVALID_ARGUMENT);
}

TEST_F(EmbedderCSmall, WhatIsWrongHasASentence) {
  float vector[SmallBert::kSize];
  uint64_t size = 0;
  const uint32_t outside[] = {SmallBert::kVocabulary};
  EXPECT_EQ(aicf_embedder_embed(embedder_, outside, 1, vector, 8, &size), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(aicf_last_error()), "the token 10 is outside the vocabulary of 10");
  EXPECT_EQ(aicf_embedder_embed(embedder_, nullptr, 0, vector, 8, &size), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_embedder_embed(embedder_, nullptr, 3, vector, 8, &size), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(std::string(aicf_last_error()), "the ids' address is null");
  EXPECT_EQ(aicf_embedder_embed(embedder_, outside, 1, nullptr, 8, &size), AICF_INVALID_ARGUMENT);
  EXPECT_EQ(aicf_embedder_embed(embedder_, outside, 1, vector, 8, nullptr), AICF_INVALID_ARGUMENT);
}

TEST_F(EmbedderCSmall, ThreadsTakeTurns) {
  const uint32_t ids[] = {1, 5, 6, 2};
  const std::vector<float> expected = *cpp_->Embed(ids);
  std::atomic<int> equal = 0;
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([&] {
      for (int i = 0; i < 20; ++i) {
        std::vector<float> vector(SmallBert::kSize);
        uint64_t size = 0;
        const aicf_code code =
            aicf_embedder_embed(embedder_, ids, 4, vector.data(), vector.size(), &size);
        equal += code == AICF_OK && vector == expected;
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, 80);
}

}  // namespace
}  // namespace aicf::testing
