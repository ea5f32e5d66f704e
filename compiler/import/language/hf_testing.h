/// Folders of Hugging Face models, written part by part in tests.
#pragma once

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "compiler/import/language/hf_model.h"

namespace aicf::language {

/// What a folder holds; tests change it before it is written.
struct HfParts {
  nlohmann::json config;
  std::string config_text;  ///< in the place of `config`, unless empty
  std::map<std::string, std::vector<int64_t>> weights;
  std::map<std::string, std::string> dtypes;  ///< of weights that are not F32
  std::map<std::string, std::string> files;   ///< more files

  std::string WeightBytes() const {
    nlohmann::json header = nlohmann::json::object();
    int64_t offset = 0;
    for (const auto& [name, shape] : weights) {
      const bool other = dtypes.contains(name);
      int64_t bytes = other ? 8 : 4;
      for (const int64_t extent : shape) bytes *= extent;
      header[name] = {{"dtype", other ? dtypes.at(name) : "F32"},
                      {"shape", shape},
                      {"data_offsets", {offset, offset + bytes}}};
      offset += bytes;
    }
    const std::string text = header.dump();
    const uint64_t length = text.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text +
           std::string(static_cast<size_t>(offset), '\0');
  }
};

/// Two layers of two heads of four elements, with one key head.
inline HfParts LlamaParts() {
  HfParts parts;
  parts.config = {
      {"model_type", "llama"},    {"num_hidden_layers", 2},        {"hidden_size", 8},
      {"num_attention_heads", 2}, {"num_key_value_heads", 1},      {"intermediate_size", 12},
      {"vocab_size", 10},         {"max_position_embeddings", 64}, {"tie_word_embeddings", true},
      {"rms_norm_eps", 1e-5}};
  parts.weights = {{"model.embed_tokens.weight", {10, 8}}, {"model.norm.weight", {8}}};
  for (const std::string layer : {"model.layers.0.", "model.layers.1."}) {
    parts.weights[layer + "input_layernorm.weight"] = {8};
    parts.weights[layer + "post_attention_layernorm.weight"] = {8};
    parts.weights[layer + "self_attn.q_proj.weight"] = {8, 8};
    parts.weights[layer + "self_attn.k_proj.weight"] = {4, 8};
    parts.weights[layer + "self_attn.v_proj.weight"] = {4, 8};
    parts.weights[layer + "self_attn.o_proj.weight"] = {8, 8};
    parts.weights[layer + "mlp.gate_proj.weight"] = {12, 8};
    parts.weights[layer + "mlp.up_proj.weight"] = {12, 8};
    parts.weights[layer + "mlp.down_proj.weight"] = {8, 12};
  }
  return parts;
}

/// One layer of two heads, and the files of sentence-transformers.
inline HfParts BertParts() {
  HfParts parts;
  parts.config = {{"model_type", "bert"},         {"num_hidden_layers", 1},  {"hidden_size", 8},
                  {"num_attention_heads", 2},     {"intermediate_size", 12}, {"vocab_size", 10},
                  {"max_position_embeddings", 16}};
  const auto norm = [&](const std::string& name) {
    parts.weights[name + ".weight"] = {8};
    parts.weights[name + ".bias"] = {8};
  };
  parts.weights["embeddings.word_embeddings.weight"] = {10, 8};
  parts.weights["embeddings.position_embeddings.weight"] = {16, 8};
  parts.weights["embeddings.token_type_embeddings.weight"] = {2, 8};
  norm("embeddings.LayerNorm");
  const std::string layer = "encoder.layer.0.";
  for (const char* name : {"self.query", "self.key", "self.value", "output.dense"}) {
    parts.weights[layer + "attention." + name + ".weight"] = {8, 8};
  }
  norm(layer + "attention.output.LayerNorm");
  parts.weights[layer + "intermediate.dense.weight"] = {12, 8};
  parts.weights[layer + "output.dense.weight"] = {8, 12};
  norm(layer + "output.LayerNorm");
  parts.files["modules.json"] =
      R"([{"type": "a.Transformer", "path": ""}, {"type": "a.Pooling", "path": "1_Pooling"},)"
      R"( {"type": "a.Normalize", "path": "2_Normalize"}])";
  parts.files["1_Pooling/config.json"] = R"({"pooling_mode_mean_tokens": true})";
  return parts;
}

inline void WriteParts(const std::filesystem::path& folder, const HfParts& parts) {
  const auto write = [&](const std::string& name, const std::string& bytes) {
    std::filesystem::create_directories((folder / name).parent_path());
    std::ofstream(folder / name, std::ios::binary) << bytes;
  };
  if (!parts.config.is_null() || !parts.config_text.empty()) {
    write("config.json", parts.config_text.empty() ? parts.config.dump() : parts.config_text);
  }
  if (!parts.weights.empty()) write("model.safetensors", parts.WeightBytes());
  for (const auto& [name, bytes] : parts.files) write(name, bytes);
}

inline Result<Model> ReadParts(const HfParts& parts) {
  namespace fs = std::filesystem;
  std::string pattern = (fs::temp_directory_path() / "aicf-model-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr) return Status(Code::kIo, "mkdtemp");
  WriteParts(pattern, parts);
  auto model = ModelFromHfFolder(pattern);
  fs::remove_all(pattern);
  return model;
}

}  // namespace aicf::language
