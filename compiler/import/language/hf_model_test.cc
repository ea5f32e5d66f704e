// Folders that are not what they should be: each is refused with the right code and a sentence that
// names the thing. That the others give the right results is shown by tests/language/transformers.
#include "compiler/import/language/hf_model.h"

#include "compiler/import/language/hf_testing.h"

namespace aicf::language {
namespace {

using Json = nlohmann::json;

struct FolderRow {
  const char* name;
  void (*change)(HfParts&);
  const char* sentence;
  Code code = Code::kBadModel;
};

void ExpectRefused(const HfParts& whole, const std::vector<FolderRow>& rows) {
  for (const FolderRow& row : rows) {
    SCOPED_TRACE(row.name);
    HfParts parts = whole;
    row.change(parts);
    const auto model = ReadParts(parts);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.status().code(), row.code) << model.status().ToString();
    EXPECT_NE(model.status().message().find(row.sentence), std::string::npos)
        << model.status().message();
  }
}

TEST(HfModel, TakesTheWholeParts) {
  const auto llama = ReadParts(LlamaParts());
  ASSERT_TRUE(llama.ok()) << llama.status().ToString();
  EXPECT_EQ(llama->head, 4);
  EXPECT_EQ(llama->layer_numbers.size(), 2u);
  const auto bert = ReadParts(BertParts());
  ASSERT_TRUE(bert.ok()) << bert.status().ToString();
  EXPECT_TRUE(bert->encoder && bert->unit_length);
}

TEST(HfModel, RefusesWrongWeights) {
  ExpectRefused(LlamaParts(),
                {{"missing", [](auto& p) { p.weights.erase("model.layers.1.mlp.up_proj.weight"); },
                  "weight \"blk.1.ffn_up\" is missing"},
                 {"no embedding", [](auto& p) { p.weights.erase("model.embed_tokens.weight"); },
                  "weight \"token_embd\" is missing"},
                 {"shape",
                  [](auto& p) {
                    p.weights["model.layers.0.self_attn.q_proj.weight"] = {8, 9};
                  },
                  "weight \"blk.0.attn_q\" has shape"},
                 {"rank",
                  [](auto& p) {
                    p.weights["model.norm.weight"] = {2, 4};
                  },
                  "weight \"output_norm\" has shape"},
                 {"empty", [](auto& p) { p.weights["model.norm.weight"] = {0}; },
                  "weight \"output_norm\" has shape"},
                 {"bias", [](auto& p) { p.weights["model.layers.0.self_attn.q_proj.bias"] = {7}; },
                  "weight \"blk.0.attn_q.bias\" has shape"},
                 {"unknown",
                  [](auto& p) {
                    p.weights["model.layers.0.mlp.experts.0.w1.weight"] = {8, 8};
                  },
                  "is not known of architecture llama", Code::kUnsupported},
                 {"layer 2",
                  [](auto& p) {
                    p.weights["model.layers.2.mlp.up_proj.weight"] = {12, 8};
                  },
                  "is of layer 2, the model has 2"},
                 {"layer 2^32",
                  [](auto& p) { p.weights["model.layers.4294967296.mlp.up_proj.weight"] = {1}; },
                  "is not known of architecture llama", Code::kUnsupported},
                 {"layer 00",
                  [](auto& p) {
                    p.weights["model.layers.00.mlp.up_proj.weight"] = {12, 8};
                  },
                  "is not known of architecture llama", Code::kUnsupported},
                 {"twice", [](auto& p) { p.weights["norm.weight"] = {8}; }, "is there twice"},
                 {"integers", [](auto& p) { p.dtypes["model.norm.weight"] = "I64"; },
                  "is i64, expected f32", Code::kUnsupported},
                 {"untied", [](auto& p) { p.config["tie_word_embeddings"] = false; },
                  "weight \"output\" is missing"},
                 {"none", [](auto& p) { p.weights.clear(); }, "safetensors", Code::kIo}});
}

TEST(HfModel, RefusesNumbersThatCannotBe) {
  ExpectRefused(
      LlamaParts(),
      {{"no layers", [](auto& p) { p.config["num_hidden_layers"] = 0; }, "num_hidden_layers"},
       {"negative", [](auto& p) { p.config["num_hidden_layers"] = -1; }, "num_hidden_layers"},
       {"fraction", [](auto& p) { p.config["num_hidden_layers"] = 1.5; }, "num_hidden_layers"},
       {"text", [](auto& p) { p.config["num_hidden_layers"] = "2"; }, "num_hidden_layers"},
       {"missing", [](auto& p) { p.config.erase("num_hidden_layers"); }, "num_hidden_layers"},
       {"a million", [](auto& p) { p.config["num_hidden_layers"] = 1000000; }, "1000000 layers"},
       {"2^40", [](auto& p) { p.config["hidden_size"] = uint64_t{1} << 40; }, "hidden_size"},
       {"2^63", [](auto& p) { p.config["vocab_size"] = uint64_t{1} << 63; }, "vocab_size"},
       {"no words", [](auto& p) { p.config["vocab_size"] = 0; }, "vocab_size"},
       {"more words", [](auto& p) { p.config["vocab_size"] = 11; }, "\"token_embd\" has shape"},
       {"no heads", [](auto& p) { p.config["num_attention_heads"] = 0; }, "num_attention_heads"},
       {"not divisible", [](auto& p) { p.config["num_key_value_heads"] = 3; },
        "2 heads and 3 key heads"},
       {"no key heads", [](auto& p) { p.config["num_key_value_heads"] = 0; },
        "2 heads and 0 key heads"},
       {"no head", [](auto& p) { p.config["head_dim"] = 0; }, "of 0 elements"},
       {"other head", [](auto& p) { p.config["head_dim"] = 6; }, "\"blk.0.attn_q\" has shape"},
       {"wide head", [](auto& p) { p.config["head_dim"] = uint32_t{1} << 31; }, "has shape"},
       {"no positions", [](auto& p) { p.config["max_position_embeddings"] = 0; },
        "max_position_embeddings"},
       {"epsilon", [](auto& p) { p.config["rms_norm_eps"] = -1e-5; }, "epsilon of the norms"},
       {"huge epsilon", [](auto& p) { p.config["rms_norm_eps"] = 1e300; }, "epsilon of the norms"},
       {"epsilon's type", [](auto& p) { p.config["rms_norm_eps"] = "1e-5"; }, "rms_norm_eps"},
       {"end", [](auto& p) { p.config["eos_token_id"] = -1; }, "eos_token_id"},
       {"ends",
        [](auto& p) {
          p.config["eos_token_id"] = {2, "3"};
        },
        "eos_token_id"},
       {"tied", [](auto& p) { p.config["tie_word_embeddings"] = 1; }, "tie_word_embeddings"}});
}

TEST(HfModel, LinearScalingStretchesTheContext) {
  HfParts parts = LlamaParts();
  EXPECT_EQ(ContextMadeFor(*ReadParts(parts)), 64);
  parts.config["rope_scaling"] = {{"type", "linear"}, {"factor", 2.5}};
  EXPECT_EQ(ContextMadeFor(*ReadParts(parts)), 160);
  parts.config["rope_scaling"]["original_max_position_embeddings"] = 32;
  EXPECT_EQ(ContextMadeFor(*ReadParts(parts)), 80);
}

TEST(HfModel, RefusesRopesThatCannotBe) {
  const auto longrope = [](HfParts& p, const Json& factors) {
    p.config["rope_scaling"] = {{"type", "longrope"},
                                {"short_factor", {1, 1}},
                                {"long_factor", factors},
                                {"original_max_position_embeddings", 16}};
  };
  HfParts parts = LlamaParts();
  longrope(parts, {1, 2});
  EXPECT_TRUE(ReadParts(parts).ok());
  for (const auto& [factors, sentence] :
       {std::pair<Json, const char*>{{1, 2, 3}, "3 numbers in \"long_factor\" for 2 pairs"},
        {{1, 0}, "expected factors above 0"},
        {{1, "2"}, "\"long_factor\" is missing or not a list"},
        {{1, 1e-300}, "frequency of the rope"},
        {7, "\"long_factor\" is missing or not a list"}}) {
    longrope(parts, factors);
    const auto model = ReadParts(parts);
    ASSERT_FALSE(model.ok());
    EXPECT_EQ(model.status().code(), Code::kBadModel);
    EXPECT_NE(model.status().message().find(sentence), std::string::npos)
        << model.status().message();
  }
  ExpectRefused(
      LlamaParts(),
      {{"theta 0", [](auto& p) { p.config["rope_theta"] = 0; }, "rope_theta is 0"},
       {"theta", [](auto& p) { p.config["rope_theta"] = "x"; }, "rope_theta"},
       {"kind",
        [](auto& p) {
          p.config["rope_scaling"] = {{"rope_type", "yarn"}};
        },
        "rope scaling \"yarn\" is not supported", Code::kUnsupported},
       {"no object", [](auto& p) { p.config["rope_scaling"] = 5; }, "rope_scaling"},
       {"no parameters", [](auto& p) { p.config["rope_parameters"] = {1}; }, "rope_parameters"},
       {"factor 0",
        [](auto& p) {
          p.config["rope_scaling"] = {{"type", "linear"}, {"factor", 0}};
        },
        "factor"},
       {"no factor",
        [](auto& p) {
          p.config["rope_scaling"] = {{"type", "linear"}};
        },
        "factor"},
       {"tiny factor",
        [](auto& p) {
          p.config["rope_scaling"] = {{"type", "linear"}, {"factor", 1e-300}};
        },
        "frequency of the rope"},
       {"llama3",
        [](auto& p) {
          p.config["rope_parameters"] = {{"rope_type", "llama3"},
                                         {"factor", 2.0},
                                         {"low_freq_factor", 4.0},
                                         {"high_freq_factor", 1.0},
                                         {"original_max_position_embeddings", 8}};
        },
        "impossible factors"},
       {"no part", [](auto& p) { p.config["partial_rotary_factor"] = 0; }, "of a head turn"},
       {"two parts", [](auto& p) { p.config["partial_rotary_factor"] = 2; }, "of a head turn"},
       {"odd part", [](auto& p) { p.config["partial_rotary_factor"] = 0.25; }, "of a head turn"},
       {"layer types", [](auto& p) { p.config["layer_types"] = {"full_attention"}; },
        "1 layer_types for 2 layers"},
       {"layer type",
        [](auto& p) {
          p.config["layer_types"] = {"full_attention", "mamba"};
        },
        "layers of type \"mamba\"", Code::kUnsupported},
       {"no types", [](auto& p) { p.config["layer_types"] = 2; }, "layer_types"},
       {"window 0",
        [](auto& p) {
          p.config["layer_types"] = {"full_attention", "sliding_attention"};
          p.config["sliding_window"] = 0;
        },
        "\"sliding_window\" is 0"},
       {"no window",
        [](auto& p) {
          p.config["layer_types"] = {"full_attention", "sliding_attention"};
        },
        "\"sliding_window\" is 0"},
       {"mistral's window 0",
        [](auto& p) {
          p.config["model_type"] = "mistral";
          p.config["sliding_window"] = 0;
        },
        "\"sliding_window\" is 0"}});
}

TEST(HfModel, RefusesWhatIsNotKnown) {
  ExpectRefused(LlamaParts(),
                {{"no type", [](auto& p) { p.config.erase("model_type"); }, "model_type"},
                 {"number", [](auto& p) { p.config["model_type"] = 3; }, "model_type"},
                 {"mamba", [](auto& p) { p.config["model_type"] = "mamba"; },
                  "model_type \"mamba\" is not supported; supported: llama", Code::kUnsupported},
                 {"activation", [](auto& p) { p.config["hidden_act"] = "relu"; },
                  "activation \"relu\"", Code::kUnsupported},
                 {"both ways",
                  [](auto& p) {
                    p.config["model_type"] = "gemma";
                    p.config["use_bidirectional_attention"] = true;
                  },
                  "\"use_bidirectional_attention\" is true", Code::kUnsupported},
                 {"unscaled",
                  [](auto& p) {
                    p.config["model_type"] = "gpt2";
                    p.config["scale_attn_weights"] = false;
                  },
                  "\"scale_attn_weights\" is false", Code::kUnsupported}});
}

TEST(HfModel, RefusesTextsThatAreNoConfiguration) {
  ExpectRefused(
      LlamaParts(),
      {{"no file", [](auto& p) { p.config = nullptr; }, "config.json", Code::kIo},
       {"a list", [](auto& p) { p.config_text = "[]"; }, "no JSON object"},
       {"half", [](auto& p) { p.config_text = "{\"model_type\": \"lla"; }, "no JSON object"},
       {"more", [](auto& p) { p.config_text = "{} {}"; }, "no JSON object"},
       {"1e400", [](auto& p) { p.config_text = "{\"rms_norm_eps\": 1e400}"; }, "no JSON object"},
       {"NaN", [](auto& p) { p.config_text = "{\"rms_norm_eps\": NaN}"; }, "no JSON object"},
       {"not UTF-8", [](auto& p) { p.config_text = "{\"\xff\": 1}"; }, "not UTF-8"},
       {"twice", [](auto& p) { p.config_text = R"({"a": 1, "b": {"a": 1, "a": 2}})"; },
        "has \"a\" twice"},
       {"deep", [](auto& p) { p.config_text = "{\"a\":" + std::string(1000000, '['); },
        "at most 32 levels"},
       {"tokenizer", [](auto& p) { p.files["tokenizer.json"] = "{"; }, "tokenizer.json"}});
}

TEST(HfModel, RefusesOtherPoolings) {
  ExpectRefused(
      BertParts(),
      {{"cls",
        [](auto& p) { p.files["1_Pooling/config.json"] = R"({"pooling_mode_cls_token": true})"; },
        "\"pooling_mode_cls_token\" is not supported", Code::kUnsupported},
       {"mode", [](auto& p) { p.files["1_Pooling/config.json"] = R"({"pooling_mode": "max"})"; },
        "\"max\" is not supported", Code::kUnsupported},
       {"no file", [](auto& p) { p.files.erase("1_Pooling/config.json"); }, "1_Pooling"},
       {"no list", [](auto& p) { p.files["modules.json"] = "{}"; }, "modules.json"},
       {"no type", [](auto& p) { p.files["modules.json"] = "[{}]"; }, "modules.json"},
       {"dense",
        [](auto& p) {
          p.files["modules.json"] =
              R"([{"type": "Transformer"}, {"type": "Pooling"}, {"type": "a.Dense"}])";
        },
        "module 2 is \"Dense\"", Code::kUnsupported},
       {"no pooling", [](auto& p) { p.files["modules.json"] = R"([{"type": "Transformer"}])"; },
        "no pooling module", Code::kUnsupported},
       {"a decoder", [](auto& p) { p.config["is_decoder"] = true; }, "\"is_decoder\" is true",
        Code::kUnsupported},
       {"no types",
        [](auto& p) {
          p.weights["embeddings.token_type_embeddings.weight"] = {0, 8};
        },
        "\"token_types\" is empty"},
       {"positions", [](auto& p) { p.config["max_position_embeddings"] = 17; },
        "\"position_embd\" has shape"}});
}

}  // namespace
}  // namespace aicf::language
