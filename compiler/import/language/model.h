/// A language model as its files describe it: numbers, and weights by role. Readers of GGUF files
/// and of Hugging Face folders fill it, graph builders read it.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/block_format.h"
#include "base/dims.h"
#include "base/status.h"
#include "schema/tokenizer.h"

namespace aicf::language {

/// A tensor as it is stored. Matrices are [outputs, inputs], so that a row of blocks belongs to one
/// output.
struct Weight {
  BlockFormat format = BlockFormat::kF32;
  Dims shape;
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< keeps the bytes alive
};

enum class Norm : uint8_t { kRms, kLayer };
enum class Activation : uint8_t { kSilu, kGelu, kGeluTanh };

/// Rotary positions: pair i of a head turns by position * inverse_frequencies[i].
struct Rope {
  std::vector<float> inverse_frequencies;  ///< one per pair; what is left of a head does not turn
  double magnitude = 1;                    ///< factor of sine and cosine (longrope)
  /// Used instead where texts may have more than `short_context` positions; empty: never.
  std::vector<float> long_frequencies = {};
  int64_t short_context = 0;
  /// Positions for which frequencies that are all divided alike make room; 0: they are not divided.
  int64_t stretched_context = 0;
  friend bool operator==(const Rope&, const Rope&) = default;
};

struct LayerNumbers {
  int64_t window = 0;  ///< positions that a token sees, itself among them; 0: all
  int rope = 0;        ///< index into Model::ropes
};

/// Weights are named as in GGUF files, without ".weight": "token_embd", "blk.3.attn_q",
/// "blk.3.attn_q.bias". What is computed depends on which optional weights are there: biases, norms
/// of queries and keys, norms behind attention and feed-forward, an output matrix of its own.
struct Model {
  std::string architecture;  ///< "llama", "qwen3", "gemma3", "gpt2", "bert", ...
  int64_t layers = 0, hidden = 0, heads = 0, key_heads = 0, head = 0, feed_forward = 0;
  int64_t vocabulary = 0;
  int64_t trained_context = 0;  ///< positions, as the file says it
  Norm norm = Norm::kRms;
  double epsilon = 1e-5;
  bool gated = true;  ///< activation(gate) * up; false: activation(up)
  Activation activation = Activation::kSilu;
  double attention_scale = 0;               ///< of the products of queries and keys
  double attention_cap = 0, logit_cap = 0;  ///< cap * tanh(x / cap); 0: none
  double embedding_scale = 1;
  bool encoder = false;      ///< gives a text one vector, the mean of its tokens' vectors
  bool unit_length = false;  ///< the vector is divided by its length
  std::vector<Rope> ropes;   ///< empty: positions are learned ("position_embd"), or none
  std::vector<LayerNumbers> layer_numbers;

  std::map<std::string, Weight, std::less<>> weights;

  std::optional<schema::TokenizerData> tokenizer;
  std::vector<uint32_t> end_tokens;
  std::string chat_template;

  /// nullptr: there is none.
  const Weight* Find(std::string_view role) const;
};

/// "blk.3.attn_q".
std::string LayerRole(int64_t layer, std::string_view role);

/// The number of a layer in digits, as names have it; nullopt for other text, for a zero in front,
/// and above 9999.
std::optional<int64_t> LayerNumber(std::string_view digits);

/// Checks that the numbers of layers and heads are possible. Errors: kBadModel naming them.
Status CheckSizes(const Model& model);

/// Most positions for which the model was made: the trained context, or that to which its rotary
/// positions are stretched where this is more.
int64_t ContextMadeFor(const Model& model);

/// The context to which dividing all frequencies by `factor` stretches `original`.
int64_t StretchedContext(int64_t original, double factor);

/// Checks that scales, caps and frequencies are in ranges in which f32 arithmetic gives results.
/// Errors: kBadModel naming the number.
Status CheckNumbers(const Model& model);

/// Checks that all weights which the model's numbers ask for are there, with the shapes that follow
/// from those numbers. Errors: kBadModel naming the weight.
Status CheckWeights(const Model& model);

/// All values of a weight. Errors: kResource.
Result<std::vector<float>> Decode(const Weight& weight);

/// The rows of several matrices, one after the other. REQUIRES: equal formats and row lengths.
Weight JoinRows(const std::vector<const Weight*>& parts);

/// The transposed matrix. REQUIRES: elements, not blocks of several.
Weight Turned(const Weight& weight);

/// A weight in f32 that owns these values.
Weight OwnedFloats(const Dims& shape, std::vector<float> values);

/// Row i of the result is row order[i].
Weight PermuteRows(const Weight& weight, const std::vector<int64_t>& order);

}  // namespace aicf::language
