/// Compiles a small trained language model, stories260K in $AICF_TEST_MODELS/llm, and generates
/// text.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <memory>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "aicf/generator.h"
#include "compiler/compiler.h"
#include "runtime/cuda/driver.h"

namespace aicf::testing {

/// The path of a file of the model; empty if the file does not exist.
inline std::string StoriesFile(const std::string& name) {
  const char* const folder = std::getenv("AICF_TEST_MODELS");
  if (folder == nullptr) return {};
  const std::string path = std::string(folder) + "/llm/stories260K/" + name;
  return std::filesystem::exists(path) ? path : std::string();
}

#define AICF_SKIP_WITHOUT_STORIES()                                          \
  if (aicf::testing::StoriesFile("stories260K.F32.gguf").empty()) {          \
    GTEST_SKIP() << "AICF_TEST_MODELS names no folder with llm/stories260K"; \
  }                                                                          \
  static_assert(true)

#define AICF_SKIP_WITHOUT_GPU()                                \
  if (const auto driver = cuda::Driver::Get(); !driver.ok()) { \
    GTEST_SKIP() << driver.status().message();                 \
  }                                                            \
  static_assert(true)

/// Options with small buckets and pages, so that even short texts cross many of their borders.
inline CompileOptions SmallBuckets(int64_t cached_positions) {
  CompileOptions options;
  options.language.context = 128;
  options.language.page = 8;
  options.language.cache = cached_positions;
  options.language.prefill = {8, 32};
  options.language.decode = {1, 4, 8};
  return options;
}

inline std::shared_ptr<const Program> CompileStories(const CompileOptions& options,
                                                     const std::string& file) {
  const auto compiled = Compile(StoriesFile(file), options);
  EXPECT_TRUE(compiled.ok()) << compiled.status().ToString();
  if (!compiled.ok()) return nullptr;
  auto program = Program::FromBytes(compiled->bytes);
  EXPECT_TRUE(program.ok()) << program.status().ToString();
  return program.ok() ? *program : nullptr;
}

inline std::unique_ptr<Generator> GeneratorOf(std::shared_ptr<const Program> program,
                                              bool batch_invariant,
                                              const std::string& device = "cpu") {
  GeneratorOptions options;
  options.session.device = device;
  options.session.threads = 1;
  options.batch_invariant = batch_invariant;
  auto made = Generator::Create(std::move(program), options);
  EXPECT_TRUE(made.ok()) << made.status().ToString();
  return made.ok() ? *std::move(made) : nullptr;
}

/// Random prompts whose texts are drawn at temperature 1, so that a wrong bit anywhere soon leads
/// to another text.
inline std::vector<GenerateRequest> RandomPrompts(int count, const LanguageInfo& info) {
  std::mt19937 random(11);
  std::vector<GenerateRequest> requests;
  for (int i = 0; i < count; ++i) {
    GenerateRequest request;
    const size_t prompt = 1 + random() % 60;
    for (size_t t = 0; t < prompt; ++t) {
      request.prompt.push_back(static_cast<uint32_t>(random() % info.vocabulary));
    }
    request.max_new_tokens = 1 + static_cast<int64_t>(random() % 60);
    request.temperature = 1;
    request.seed = i;
    request.ignore_end = true;
    requests.push_back(std::move(request));
  }
  return requests;
}

/// The results of all requests, which are submitted either all at once or one after the other.
inline std::vector<GenerateResult> ResultsOf(Generator& generator,
                                             const std::vector<GenerateRequest>& requests,
                                             bool together) {
  std::vector<uint64_t> ids;
  std::vector<GenerateResult> results;
  const auto wait = [&](uint64_t id) {
    auto result = generator.Wait(id);
    ASSERT_TRUE(result.ok()) << result.status().ToString();
    results.push_back(*std::move(result));
  };
  for (const GenerateRequest& request : requests) {
    const auto id = generator.Submit(request);
    EXPECT_TRUE(id.ok()) << id.status().ToString();
    if (!id.ok()) return results;
    ids.push_back(*id);
    if (!together) wait(*id);
  }
  for (const uint64_t id : ids) {
    if (together) wait(id);
  }
  return results;
}

}  // namespace aicf::testing
