/// Generators on a model that is a pure function. Tests only.
#pragma once

#include <memory>
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

struct Fixture {
  explicit Fixture(const GeneratorOptions& options = {}, const Layout& layout = SmallLayout(),
                   bool sees_entries = false, schema::LanguageModel model = SmallModel()) {
    auto fake = std::make_unique<FakeRunner>(layout, sees_entries);
    runner = fake.get();
    auto made = MakeGenerator(std::move(model), layout, std::move(fake), options);
    EXPECT_TRUE(made.ok()) << made.status().ToString();
    generator = *std::move(made);
  }

  FakeRunner* runner = nullptr;
  std::unique_ptr<Generator> generator;
};

}  // namespace aicf::language
