/// A small embedding model with random weights and a tokenizer of ten words, as a Hugging Face
/// folder. Tests only.
#pragma once

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <memory>
#include <nlohmann/json.hpp>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "compiler/compiler.h"

namespace aicf::testing {

class SmallBert {
 public:
  static constexpr int64_t kSize = 8, kVocabulary = 10, kContext = 16;

  /// An artifact of the model for the CPU.
  static Result<CompileResult> Compiled() {
    const std::filesystem::path folder =
        std::filesystem::temp_directory_path() / ("aicf-small-bert-" + std::to_string(getpid()));
    std::filesystem::create_directories(folder / "1_Pooling");
    Write(folder / "config.json", Config().dump());
    Write(folder / "tokenizer.json", Tokenizer().dump());
    Write(folder / "modules.json",
          R"([{"type": "a.Transformer", "path": ""}, {"type": "a.Pooling", "path": "1_Pooling"},
              {"type": "a.Normalize", "path": "2_Normalize"}])");
    Write(folder / "1_Pooling/config.json", R"({"pooling_mode_mean_tokens": true})");
    Write(folder / "model.safetensors", Weights());
    auto compiled = Compile(folder.string(), {});
    std::filesystem::remove_all(folder);
    return compiled;
  }

 private:
  using Json = nlohmann::ordered_json;

  static void Write(const std::filesystem::path& path, const std::string& bytes) {
    std::ofstream(path, std::ios::binary) << bytes;
  }

  static Json Config() {
    return {{"model_type", "bert"},
            {"num_hidden_layers", 1},
            {"hidden_size", kSize},
            {"num_attention_heads", 2},
            {"intermediate_size", 12},
            {"vocab_size", kVocabulary},
            {"max_position_embeddings", kContext}};
  }

  static Json Tokenizer() {
    Json added = Json::array();
    const char* const special[] = {"[UNK]", "[CLS]", "[SEP]"};
    for (int id = 0; id < 3; ++id) {
      added.push_back({{"id", id}, {"content", special[id]}, {"special", true}});
    }
    Json words;
    for (const char* word :
         {"[UNK]", "[CLS]", "[SEP]", "a", "##b", "the", "sky", "is", "blue", "sea"}) {
      words[word] = words.size();
    }
    return {{"normalizer", {{"type", "BertNormalizer"}, {"lowercase", true}}},
            {"pre_tokenizer", {{"type", "BertPreTokenizer"}}},
            {"post_processor",
             {{"type", "BertProcessing"},
              {"sep", Json::array({"[SEP]", 2})},
              {"cls", Json::array({"[CLS]", 1})}}},
            {"added_tokens", added},
            {"decoder", {{"type", "WordPiece"}, {"prefix", "##"}}},
            {"model",
             {{"type", "WordPiece"},
              {"unk_token", "[UNK]"},
              {"continuing_subword_prefix", "##"},
              {"max_input_chars_per_word", 100},
              {"vocab", words}}}};
  }

  static std::vector<std::pair<std::string, std::vector<int64_t>>> Shapes() {
    const std::string layer = "encoder.layer.0.";
    std::vector<std::pair<std::string, std::vector<int64_t>>> shapes = {
        {"embeddings.word_embeddings.weight", {kVocabulary, kSize}},
        {"embeddings.position_embeddings.weight", {kContext, kSize}},
        {"embeddings.token_type_embeddings.weight", {2, kSize}},
        {layer + "intermediate.dense.weight", {12, kSize}},
        {layer + "output.dense.weight", {kSize, 12}}};
    for (const std::string norm :
         {"embeddings.", "encoder.layer.0.attention.output.", "encoder.layer.0.output."}) {
      shapes.push_back({norm + "LayerNorm.weight", {kSize}});
      shapes.push_back({norm + "LayerNorm.bias", {kSize}});
    }
    for (const std::string name : {"self.query", "self.key", "self.value", "output.dense"}) {
      shapes.push_back({layer + "attention." + name + ".weight", {kSize, kSize}});
    }
    return shapes;
  }

  static std::string Weights() {
    std::mt19937 random(5);
    Json header;
    std::string data;
    for (const auto& [name, shape] : Shapes()) {
      const size_t begin = data.size();
      const int64_t count = shape[0] * (shape.size() > 1 ? shape[1] : 1);
      for (int64_t i = 0; i < count; ++i) {
        const float value = static_cast<float>(random() % 2000) / 1000.0f - 1;
        data.append(reinterpret_cast<const char*>(&value), sizeof value);
      }
      header[name] = {{"dtype", "F32"}, {"shape", shape}, {"data_offsets", {begin, data.size()}}};
    }
    const std::string text = header.dump();
    const uint64_t length = text.size();
    return std::string(reinterpret_cast<const char*>(&length), sizeof length) + text + data;
  }
};

}  // namespace aicf::testing
