// A real model that exists as GGUF in several formats and as safetensors: the same weights, within
// each format's rounding.
#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>
#include <fstream>

#include "base/float16.h"
#include "compiler/import/gguf/gguf.h"
#include "compiler/import/safetensors/folder.h"

namespace aicf::gguf {
namespace {

class GgufModel : public ::testing::Test {
 protected:
  void SetUp() override {
    const char* models = std::getenv("AICF_TEST_MODELS");
    if (models != nullptr) folder_ = StrCat(models, "/llm/stories260K");
    if (models == nullptr || !std::ifstream(folder_ + "/config.json")) {
      GTEST_SKIP() << "AICF_TEST_MODELS names no folder with llm/stories260K";
    }
  }
  GgufFile Gguf(const std::string& format) const {
    auto file = ReadGguf(StrCat(folder_, "/stories260K.", format, ".gguf"));
    EXPECT_TRUE(file.ok()) << file.status().ToString();
    return *std::move(file);
  }

  std::string folder_;
};

// The name that transformers gives a tensor of a Llama model in GGUF.
std::string TransformersName(std::string_view name) {
  if (name == "token_embd.weight") return "model.embed_tokens.weight";
  if (name == "output_norm.weight") return "model.norm.weight";
  static constexpr std::pair<std::string_view, std::string_view> kParts[] = {
      {"attn_q", "self_attn.q_proj"},          {"attn_k", "self_attn.k_proj"},
      {"attn_v", "self_attn.v_proj"},          {"attn_output", "self_attn.o_proj"},
      {"ffn_gate", "mlp.gate_proj"},           {"ffn_up", "mlp.up_proj"},
      {"ffn_down", "mlp.down_proj"},           {"attn_norm", "input_layernorm"},
      {"ffn_norm", "post_attention_layernorm"}};
  const size_t layer = name.find('.') + 1, part = name.find('.', layer) + 1;
  for (const auto& [gguf, other] : kParts) {
    if (name.substr(part) == StrCat(gguf, ".weight")) {
      return StrCat("model.layers.", name.substr(layer, part - layer), other, ".weight");
    }
  }
  return "";
}

// In GGUF the rows of a Llama head that rotate together are neighbours; transformers has the first
// of each pair in the upper half. Row of transformers' tensor for row `row`.
int64_t RotatedRow(std::string_view name, int64_t row, int64_t head_rows) {
  if (name.find("attn_q.") == name.npos && name.find("attn_k.") == name.npos) return row;
  const int64_t in_head = row % head_rows;
  return row - in_head + in_head % 2 * (head_rows / 2) + in_head / 2;
}

constexpr int64_t kHeadRows = 8;

// Compares every element: near(value, expected, largest magnitude of its block of 32).
template <class Near>
void ExpectWeights(const GgufFile& file, const safetensors::SafetensorsFile& reference, Near near) {
  size_t compared = 0;
  for (const Tensor& tensor : file.tensors()) {
    const ir::Tensor* expected = reference.Find(TransformersName(tensor.name));
    if (tensor.name == "output.weight") expected = reference.Find("model.embed_tokens.weight");
    ASSERT_NE(expected, nullptr) << tensor.name;
    ASSERT_EQ(expected->shape(), tensor.shape) << tensor.name;
    const auto values = DecodeTensor(tensor);
    ASSERT_TRUE(values.ok());
    const int64_t columns = tensor.shape.back(), rows = values->count() / columns;
    for (int64_t r = 0; r < rows; ++r) {
      const int64_t from = RotatedRow(tensor.name, r, kHeadRows) * columns;
      for (int64_t c = 0; c < columns; ++c) {
        double largest = 0;
        for (int64_t i = c / 32 * 32; i < std::min(columns, c / 32 * 32 + 32); ++i) {
          largest = std::max(largest, std::fabs(expected->FloatAt(from + i)));
        }
        const float value = values->at<float>(r * columns + c);
        ASSERT_TRUE(near(tensor, value, expected->FloatAt(from + c), largest))
            << tensor.name << " " << r << "," << c << ": " << value << " "
            << expected->FloatAt(from + c);
      }
    }
    ++compared;
  }
  EXPECT_GE(compared, 47u);
  EXPECT_GE(compared, reference.tensors.size());
}

TEST_F(GgufModel, F32IsBitForBitTheSameAsSafetensors) {
  const auto reference = safetensors::ReadFolder(folder_);
  ASSERT_TRUE(reference.ok()) << reference.status().ToString();
  ExpectWeights(Gguf("F32"), *reference, [](const Tensor&, float v, double e, double) {
    return std::bit_cast<uint32_t>(v) == std::bit_cast<uint32_t>(static_cast<float>(e));
  });
}

TEST_F(GgufModel, OtherFormatsAreWithinTheirRounding) {
  const auto reference = safetensors::ReadFolder(folder_);
  ASSERT_TRUE(reference.ok()) << reference.status().ToString();
  for (const char* name : {"F16", "Q8_0", "Q4_0"}) {
    int rounded = 0;
    ExpectWeights(Gguf(name), *reference, [&](const Tensor& t, float v, double e, double largest) {
      rounded += t.format != BlockFormat::kF32;
      // Half a step of the scale, whose own rounding to 16 bits moves the largest code most. In
      // Q4_0 the largest is -8 steps, and what is opposite to it ends at 7.
      if (t.format == BlockFormat::kF32) return v == static_cast<float>(e);
      if (t.format == BlockFormat::kF16) return v == F16ToF32(F32ToF16(static_cast<float>(e)));
      const double step = largest / (t.format == BlockFormat::kQ8_0 ? 127 : 8);
      const double half = t.format == BlockFormat::kQ8_0 ? 0.5 : 1.0;
      return std::fabs(v - e) <= step * half + largest * 0x1p-10;
    });
    EXPECT_GT(rounded, 100000) << name;
  }
}

TEST_F(GgufModel, SafetensorsIn16BitsAreTheRoundedOnes) {
  const auto full = safetensors::ReadFolder(folder_);
  ASSERT_TRUE(full.ok()) << full.status().ToString();
  for (DType dtype : {DType::kF16, DType::kBF16}) {
    const auto half =
        safetensors::ReadSafetensors(StrCat(folder_, "/model.", DTypeName(dtype), ".safetensors"));
    ASSERT_TRUE(half.ok()) << half.status().ToString();
    ASSERT_EQ(half->tensors.size(), full->tensors.size());
    for (const safetensors::NamedTensor& tensor : half->tensors) {
      const ir::Tensor* expected = full->Find(tensor.name);
      ASSERT_NE(expected, nullptr);
      ASSERT_EQ(tensor.data.dtype(), dtype);
      for (int64_t i = 0; i < expected->count(); ++i) {
        const float e = expected->at<float>(i);
        ASSERT_EQ(tensor.data.at<uint16_t>(i), dtype == DType::kF16 ? F32ToF16(e) : F32ToBF16(e));
      }
    }
  }
}

TEST_F(GgufModel, MetadataOfAModel) {
  const GgufFile file = Gguf("Q4_0");
  EXPECT_EQ(*file.Get<std::string_view>("general.architecture"), "llama");
  EXPECT_EQ(*file.Get<uint32_t>("llama.block_count"), 5u);
  EXPECT_EQ(file.Get<std::vector<std::string_view>>("tokenizer.ggml.tokens")->size(), 512u);
  EXPECT_EQ(file.Get<std::vector<float>>("tokenizer.ggml.scores")->size(), 512u);
}

}  // namespace
}  // namespace aicf::gguf
