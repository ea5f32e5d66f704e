/// Generators on a model that is a pure function. Tests only.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "runtime/language/generator_impl.h"
#include "runtime/language/testing.h"

namespace aicf::language {

inline schema::LanguageModel SmallModel() {
  schema::LanguageModel model;
  model.architecture = "fake";
  model.vocabulary = 97;
  return model;
}

/// A model of text: 97 tokens, of one or two letters.
inline schema::LanguageModel TextModel() {
  schema::LanguageModel model = SmallModel();
  schema::TokenizerData data;
  for (uint32_t i = 0; i < 97; ++i) {
    std::string token(1, static_cast<char>('a' + i % 13));
    if (i >= 13) token += static_cast<char>('a' + i / 13);
    data.tokens.push_back(std::move(token));
  }
  model.tokenizer = data;
  return model;
}

struct Fixture {
  explicit Fixture(Queue queue) : Fixture({}, SmallLayout(), false, SmallModel(), queue) {}
  explicit Fixture(const GeneratorOptions& options = {}, const Layout& layout = SmallLayout(),
                   bool sees_entries = false, schema::LanguageModel model = SmallModel(),
                   Queue queue = Queue::kNone) {
    auto fake = std::make_unique<FakeRunner>(layout, sees_entries, queue);
    runner = fake.get();
    auto made = MakeGenerator(std::move(model), layout, std::move(fake), options);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    generator = *std::move(made);
  }

  FakeRunner* runner = nullptr;
  std::unique_ptr<Generator> generator;
};

}  // namespace aicf::language
