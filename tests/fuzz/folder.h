/// A Hugging Face model's folder as a single input (parts.h).
#pragma once

#include <string>

#include "tests/fuzz/parts.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {

/// Writes the files of the input to a folder. Letters: a config.json, b model.safetensors, c
/// model.safetensors.index.json, d and e its shards 1.safetensors and 2.safetensors, t
/// tokenizer.json, u tokenizer_config.json, g generation_config.json, j chat_template.jinja, m
/// modules.json, p 1_Pooling/config.json. Files that the input does not have are absent. Returns
/// the folder's path.
std::string WriteFolder(Input input);

/// A Target::mutate that keeps the lengths of headers correct.
size_t MutateFolder(uint8_t* data, size_t size, size_t room, uint64_t seed);

}  // namespace aicf::fuzz
