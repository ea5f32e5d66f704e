/// model.safetensors.index.json: which shard holds which tensor.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"

namespace aicf::safetensors {

struct ShardIndex {
  std::vector<std::string> shards;                        ///< in the order of their names
  std::vector<std::pair<std::string, uint32_t>> tensors;  ///< name and shard, by name
  std::optional<uint64_t> total_bytes;                    ///< of all tensors, where it is stated
};

/// Errors: kBadModel for another form, for duplicate keys, and for shards that are not a plain file
/// name ending in ".safetensors"; kResource for more tensors or shards than the limits.
Result<ShardIndex> ParseShardIndex(std::string_view json);

}  // namespace aicf::safetensors
