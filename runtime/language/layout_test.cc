#include "runtime/language/layout.h"

#include <gtest/gtest.h>

#include <functional>

namespace aicf::language {
namespace {

struct Model {
  schema::LanguageModel model;
  std::vector<EntryInfo> entries;
  std::vector<TensorInfo> states;
};

TensorInfo Tensor(std::string name, DType dtype, const Dims& shape) {
  TensorInfo info;
  info.name = std::move(name);
  info.dtype = dtype;
  info.shape = info.min_shape = shape;
  return info;
}

EntryInfo Entry(std::string name, int64_t b, int64_t t) {
  EntryInfo entry;
  entry.name = std::move(name);
  entry.metas = {Tensor("tokens", DType::kI32, {b, t}), Tensor("slots", DType::kI32, {b}),
                 Tensor("origins", DType::kI32, {b}),   Tensor("lengths", DType::kI32, {b}),
                 Tensor("pages", DType::kI32, {b, 4}),  Tensor("temperature", DType::kF32, {b}),
                 Tensor("top_p", DType::kF32, {b}),     Tensor("min_p", DType::kF32, {b}),
                 Tensor("top_k", DType::kI32, {b}),     Tensor("places", DType::kI32, {b, t, 2}),
                 Tensor("seeds", DType::kI64, {b})};
  entry.outputs = {Tensor("token", DType::kI32, {b})};
  return entry;
}

/// One as the contract says.
Model GoodModel() {
  Model m;
  m.model.vocabulary = 50;
  m.model.context = 60;
  m.model.page = 16;
  m.model.pages = 9;
  m.model.slots = 3;
  m.model.end_tokens = {2, 49};
  m.entries = {Entry("decode_4", 4, 1), Entry("prefill_64", 1, 64), Entry("prefill_16", 1, 16),
               Entry("decode_1", 1, 1)};
  m.states = {Tensor("keys.0", DType::kF32, {9, 16, 2, 8}), Tensor("sampled", DType::kI32, {3})};
  return m;
}

TEST(Layout, IsReadFromTheEntryPoints) {
  const Model m = GoodModel();
  const auto layout = ReadLayout(m.model, m.entries, m.states);
  ASSERT_TRUE(layout.ok()) << layout.status().ToString();
  ASSERT_EQ(layout->prefill.size(), 2u);
  EXPECT_EQ(layout->prefill[0].rows, 16);
  EXPECT_EQ(layout->prefill[0].entry, 2u);
  EXPECT_EQ(layout->prefill[1].rows, 64);
  EXPECT_EQ(layout->decode[0].requests, 1);
  EXPECT_EQ(layout->decode[1].requests, 4);
  EXPECT_EQ(layout->table_pages, 4);
  EXPECT_EQ(layout->LongestRequest(), 60);
  EXPECT_EQ(layout->PagesFor(33), 3u);
}

// Programs made before the meta `places` existed compute it.
TEST(Layout, PlacesMayBeTheProgramsOwnBusiness) {
  Model m = GoodModel();
  m.entries[1].metas.erase(m.entries[1].metas.begin() + 9);
  const auto layout = ReadLayout(m.model, m.entries, m.states);
  ASSERT_TRUE(layout.ok()) << layout.status().ToString();
  EXPECT_FALSE(layout->prefill[1].places);
  EXPECT_TRUE(layout->prefill[0].places);
  EXPECT_TRUE(layout->decode[1].places);
}

TEST(Layout, SaysWhatIsNotAsItShouldBe) {
  const std::pair<std::function<void(Model&)>, const char*> faults[] = {
      {[](Model& m) { m.model.page = 0; }, "language model: page is 0"},
      {[](Model& m) { m.model.vocabulary = -1; }, "vocabulary is -1"},
      {[](Model& m) { m.model.end_tokens = {50}; }, "the end token 50 is outside"},
      {[](Model& m) { m.model.context = 65; }, "has 4 columns, a context of 65 takes 5"},
      {[](Model& m) { m.entries[1].name = "main"; }, "entry point 'main'"},
      {[](Model& m) { m.entries.erase(m.entries.begin() + 1, m.entries.begin() + 3); },
       "no entry point 'prefill_T'"},
      {[](Model& m) { m.entries[1].metas.pop_back(); }, "'prefill_64' has no meta 'seeds'"},
      {[](Model& m) {
         m.entries[0].metas[4].shape = {4, 5};
       },
       "'prefill_64': meta 'pages' is i32 1x4, expected i32 1x5"},
      {[](Model& m) { m.entries[3].metas[5].dtype = DType::kF16; },
       "'decode_1': meta 'temperature' is f16 1, expected f32 1"},
      {[](Model& m) {
         m.entries[0].metas[0].shape = {4, 2};
       },
       "'decode_4': meta 'tokens' is i32 4x2, expected i32 4x1"},
      {[](Model& m) { m.entries[0].metas[0].shape = {4}; }, "'decode_4': meta 'tokens' is i32 4"},
      {[](Model& m) {
         m.entries[1].metas[9].shape = {1, 64, 3};
       },
       "'prefill_64': meta 'places' is i32 1x64x3, expected i32 1x64x2"},
      {[](Model& m) { m.entries[0].outputs.clear(); }, "'decode_4' has no output 'token'"},
      {[](Model& m) { m.entries[0].inputs = {Tensor("x", DType::kF32, {1})}; },
       "'decode_4' has an input 'x'"},
      {[](Model& m) { m.states.pop_back(); }, "no state 'sampled'"},
      {[](Model& m) { m.model.slots = 4; }, "state 'sampled' is i32 3, expected i32 4"},
  };
  for (const auto& [break_it, sentence] : faults) {
    Model m = GoodModel();
    break_it(m);
    const auto layout = ReadLayout(m.model, m.entries, m.states);
    ASSERT_FALSE(layout.ok()) << sentence;
    EXPECT_EQ(layout.status().code(), Code::kBadArtifact);
    EXPECT_NE(layout.status().message().find(sentence), std::string::npos)
        << layout.status().ToString();
  }
  Model m = GoodModel();
  m.model.task = schema::LanguageTask::kEmbed;
  EXPECT_EQ(ReadLayout(m.model, m.entries, m.states).status().code(), Code::kUnsupported);
}

}  // namespace
}  // namespace aicf::language
