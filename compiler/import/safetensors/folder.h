/// A Hugging Face folder's tensors: model.safetensors, or the shards that
/// model.safetensors.index.json names.
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/import/safetensors/safetensors.h"

namespace aicf::safetensors {

inline constexpr uint64_t kMaxIndexBytes = 100'000'000;
inline constexpr uint64_t kMaxShards = 10'000;

/// All tensors by name, in memory; metadata is that of a single file, and empty where there are
/// shards. Every file must be a regular file in this very folder, no link, unless it is one to
/// the store of `files` (OpenNamedFile). Errors: those of ReadSafetensors and OpenNamedFile; kIo
/// when the folder has neither file; kBadModel for an index of another form, for a tensor that is
/// not in exactly the shard that the index names, and where the index states another total size.
Result<SafetensorsFile> ReadFolder(const std::string& directory, const NamedFiles& files = {});

}  // namespace aicf::safetensors
