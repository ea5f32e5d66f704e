/// The decoder (decoder_weights.h) as exporters write it for a cache of fixed length: the whole
/// cache of every layer is an input, and an output to which the new rows have been added.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "tests/states/decoder_weights.h"
#include "tests/states/stream_model.h"

namespace aicf::states {

/// How the model writes new rows into its cache and says where they belong.
enum class CacheForm {
  kTensorScatter,    ///< TensorScatter and Attention of opset 24; write_indices [1]
  kScatterNd,        ///< index_put: ScatterND between transposes; cache_position [N]
  kScatterElements,  ///< index_copy: ScatterElements; cache_position [N]
  kGroupQuery,       ///< com.microsoft.GroupQueryAttention; attention_mask [1, kCache]
};
inline constexpr CacheForm kCacheForms[] = {CacheForm::kTensorScatter, CacheForm::kScatterNd,
                                            CacheForm::kScatterElements, CacheForm::kGroupQuery};
std::string NameOf(CacheForm form);

/// input_ids i64 [1, N] and positions -> logits [1, N, kTokens], with
/// past_key_values.L.key and .value -> present.L.key and .value, [1, kGroups, kCache, kHead].
ModelBuilder DecoderModel(const Decoder& decoder, CacheForm form);
/// The name of the input that tells the model its positions.
std::string PositionsOf(CacheForm form);

/// Options for `target` with the entry points "prefill" for `prompt` tokens and "decode" for one.
/// The caches are states, and the positions are a meta.
CompileOptions DecoderOptions(const std::string& target, CacheForm form, int64_t prompt);

/// Runs `entry`, which has to be the entry point for as many tokens as are given. They have the
/// positions from `first` on. Returns the logits of all tokens.
Result<std::vector<float>> Decode(Session& session, CacheForm form, const std::string& entry,
                                  std::span<const int64_t> tokens, int64_t first);

}  // namespace aicf::states
