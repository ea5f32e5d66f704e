// GGUF files whose metadata and tensors make no model: each is refused with the right code and a
// sentence that names the thing.
#include "compiler/import/language/gguf_model.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "compiler/import/gguf/testing.h"

namespace aicf::language {
namespace {

using aicf::testing::GgufArray;
using aicf::testing::GgufEntry;
using aicf::testing::GgufParts;
using aicf::testing::GgufString;
using aicf::testing::GgufValue;
using aicf::testing::Raw;

constexpr uint32_t kGgufU32 = 4, kGgufF32 = 6, kGgufText = 8, kGgufList = 9;

/// A model's metadata by key and its tensors by name, of f32; tests change it before it is written.
struct GgufModelParts {
  std::map<std::string, std::pair<uint32_t, std::string>> values;
  std::map<std::string, std::vector<uint64_t>> tensors;  ///< extents as the file has them

  void Number(const std::string& key, uint32_t number) { values[key] = {kGgufU32, Raw(number)}; }
  void Real(const std::string& key, float number) { values[key] = {kGgufF32, Raw(number)}; }
  void Text(const std::string& key, const std::string& text) {
    values[key] = {kGgufText, GgufString(text)};
  }

  Result<Model> Read() const {
    GgufParts file;
    for (const auto& [key, value] : values) {
      file.values.push_back(GgufValue(key, value.first, value.second));
    }
    for (const auto& [name, extents] : tensors) {
      uint64_t bytes = 4;
      for (const uint64_t extent : extents) bytes *= extent;
      file.entries.push_back(GgufEntry(name, extents, 0, file.data.size()));
      file.data.resize(file.data.size() + (bytes + 31) / 32 * 32);
    }
    AICF_ASSIGN_OR_RETURN(const gguf::GgufFile parsed, aicf::testing::ParseGguf(file.Bytes()));
    return ModelFromGguf(parsed);
  }
};

/// Two layers of two heads of four elements, with one key head.
GgufModelParts Llama() {
  GgufModelParts p;
  p.Text("general.architecture", "llama");
  p.Number("llama.block_count", 2);
  p.Number("llama.embedding_length", 8);
  p.Number("llama.feed_forward_length", 12);
  p.Number("llama.attention.head_count", 2);
  p.Number("llama.attention.head_count_kv", 1);
  p.Number("llama.context_length", 64);
  p.Real("llama.attention.layer_norm_rms_epsilon", 1e-5F);
  p.tensors = {{"token_embd.weight", {8, 10}}, {"output_norm.weight", {8}}};
  for (const std::string layer : {"blk.0.", "blk.1."}) {
    p.tensors[layer + "attn_norm.weight"] = {8};
    p.tensors[layer + "ffn_norm.weight"] = {8};
    p.tensors[layer + "attn_q.weight"] = {8, 8};
    p.tensors[layer + "attn_k.weight"] = {8, 4};
    p.tensors[layer + "attn_v.weight"] = {8, 4};
    p.tensors[layer + "attn_output.weight"] = {8, 8};
    p.tensors[layer + "ffn_gate.weight"] = {8, 12};
    p.tensors[layer + "ffn_up.weight"] = {8, 12};
    p.tensors[layer + "ffn_down.weight"] = {12, 8};
  }
  return p;
}

struct GgufRow {
  const char* name;
  void (*change)(GgufModelParts&);
  const char* sentence;
  Code code = Code::kBadModel;
};

void ExpectGgufRefused(const std::vector<GgufRow>& rows) {
  for (const GgufRow& row : rows) {
    SCOPED_TRACE(row.name);
    GgufModelParts parts = Llama();
    row.change(parts);
    const auto model = parts.Read();
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.status().code(), row.code) << model.status().ToString();
    EXPECT_NE(model.status().message().find(row.sentence), std::string::npos)
        << model.status().message();
  }
}

TEST(GgufLanguageModel, TakesTheWholeParts) {
  const auto model = Llama().Read();
  ASSERT_TRUE(model.ok()) << model.status().ToString();
  EXPECT_EQ(model->head, 4);
  EXPECT_EQ(model->vocabulary, 10);
}

TEST(GgufLanguageModel, C12RefusesNumbersThatCannotBe) {
  ExpectGgufRefused(
      {{"no architecture", [](auto& p) { p.values.erase("general.architecture"); },
        "general.architecture"},
       {"mamba", [](auto& p) { p.Text("general.architecture", "mamba"); },
        "architecture \"mamba\" is not supported; supported: llama", Code::kUnsupported},
       {"bert", [](auto& p) { p.Text("general.architecture", "bert"); }, "read from folders",
        Code::kUnsupported},
       {"no layers", [](auto& p) { p.Number("llama.block_count", 0); }, "llama.block_count"},
       {"layers", [](auto& p) { p.Number("llama.block_count", 1U << 31); }, "llama.block_count"},
       {"many layers", [](auto& p) { p.Number("llama.block_count", 5000); }, "5000 layers"},
       {"more layers", [](auto& p) { p.Number("llama.block_count", 3); },
        "weight \"blk.2.attn_norm\" is missing"},
       {"fewer layers", [](auto& p) { p.Number("llama.block_count", 1); }, "is of no layer of 1"},
       {"missing", [](auto& p) { p.values.erase("llama.block_count"); }, "llama.block_count"},
       {"type", [](auto& p) { p.Text("llama.block_count", "2"); }, "llama.block_count"},
       {"no heads", [](auto& p) { p.Number("llama.attention.head_count", 0); },
        "llama.attention.head_count"},
       {"not divisible", [](auto& p) { p.Number("llama.attention.head_count_kv", 3); },
        "2 heads and 3 key heads"},
       {"head", [](auto& p) { p.Number("llama.attention.key_length", 6); },
        "\"blk.0.attn_q\" has shape"},
       {"values", [](auto& p) { p.Number("llama.attention.value_length", 6); },
        "keys of 4 and values of 6 elements per head", Code::kUnsupported},
       {"layers differ",
        [](auto& p) {
          p.values["llama.feed_forward_length"] = {
              kGgufList, GgufArray(kGgufU32, 2, Raw(uint32_t{12}) + Raw(uint32_t{16}))};
        },
        "differs between layers", Code::kUnsupported},
       {"epsilon", [](auto& p) { p.Real("llama.attention.layer_norm_rms_epsilon", std::nanf("")); },
        "is not finite"},
       {"negative", [](auto& p) { p.Real("llama.attention.layer_norm_rms_epsilon", -1); },
        "epsilon of the norms"},
       {"window", [](auto& p) { p.Number("llama.attention.sliding_window", 0); },
        "sliding_window"}});
}

TEST(GgufLanguageModel, LinearScalingStretchesTheContext) {
  GgufModelParts p = Llama();
  EXPECT_EQ(ContextMadeFor(*p.Read()), 64);
  p.Text("llama.rope.scaling.type", "linear");
  p.Real("llama.rope.scaling.factor", 4);
  EXPECT_EQ(ContextMadeFor(*p.Read()), 256);
  p.Number("llama.rope.scaling.original_context_length", 32);
  EXPECT_EQ(ContextMadeFor(*p.Read()), 128);
  p.Number("llama.rope.scaling.original_context_length", 8);
  EXPECT_EQ(ContextMadeFor(*p.Read()), 64) << "what the model says itself";
}

TEST(GgufLanguageModel, RefusesRopesThatCannotBe) {
  ExpectGgufRefused(
      {{"wide", [](auto& p) { p.Number("llama.rope.dimension_count", 6); }, "6 of 4 elements"},
       {"odd", [](auto& p) { p.Number("llama.rope.dimension_count", 3); }, "3 of 4 elements"},
       {"base 0", [](auto& p) { p.Real("llama.rope.freq_base", 0); }, "freq_base"},
       {"base", [](auto& p) { p.Real("llama.rope.freq_base", INFINITY); }, "is not finite"},
       {"tiny base", [](auto& p) { p.Real("llama.rope.freq_base", 1e-30F); }, "of the rope"},
       {"kind", [](auto& p) { p.Text("llama.rope.scaling.type", "yarn"); }, "rope scaling \"yarn\"",
        Code::kUnsupported},
       {"factor",
        [](auto& p) {
          p.Text("llama.rope.scaling.type", "linear");
          p.Real("llama.rope.scaling.factor", 0);
        },
        "rope.scaling.factor is 0"},
       {"magnitude", [](auto& p) { p.Real("llama.rope.scaling.attn_factor", 0); },
        "magnitude of the rope"},
       {"factors", [](auto& p) { p.tensors["rope_freqs.weight"] = {3}; },
        "not one factor for each of 2 pairs"},
       {"zeros", [](auto& p) { p.tensors["rope_freqs.weight"] = {2}; }, "expected factors above 0"},
       {"one list", [](auto& p) { p.tensors["rope_factors_long.weight"] = {1}; },
        "\"rope_factors_long\" is not one factor for each of 2 pairs"}});
}

TEST(GgufLanguageModel, RefusesWrongWeights) {
  ExpectGgufRefused(
      {{"missing", [](auto& p) { p.tensors.erase("blk.1.ffn_up.weight"); },
        "weight \"blk.1.ffn_up\" is missing"},
       {"no embedding", [](auto& p) { p.tensors.erase("token_embd.weight"); },
        "weight \"token_embd\" is missing or no matrix"},
       {"vector", [](auto& p) { p.tensors["token_embd.weight"] = {80}; }, "no matrix"},
       {"shape",
        [](auto& p) {
          p.tensors["blk.0.attn_q.weight"] = {8, 9};
        },
        "weight \"blk.0.attn_q\" has shape"},
       {"rank", [](auto& p) { p.tensors["blk.0.attn_q.weight"] = {64}; },
        "weight \"blk.0.attn_q\" has shape"},
       {"bias", [](auto& p) { p.tensors["blk.0.attn_q.bias"] = {7}; },
        "weight \"blk.0.attn_q.bias\" has shape"},
       {"layer 2",
        [](auto& p) {
          p.tensors["blk.2.attn_q.weight"] = {8, 8};
        },
        "is of no layer of 2"},
       {"layer 2^32",
        [](auto& p) {
          p.tensors["blk.4294967296.attn_q.weight"] = {8, 8};
        },
        "is of no layer of 2"},
       {"no number",
        [](auto& p) {
          p.tensors["blk."] = {8, 8};
        },
        "is of no layer of 2"}});
}

}  // namespace
}  // namespace aicf::language
