/// The folder of a Hugging Face model as one input (parts.h).
#pragma once

#include <string>

#include "tests/fuzz/parts.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {

/// Letters: a config.json, b model.safetensors, c model.safetensors.index.json, d and e its shards
/// 1.safetensors and 2.safetensors, t tokenizer.json, u tokenizer_config.json, g
/// generation_config.json, j chat_template.jinja, m modules.json, p 1_Pooling/config.json. Files
/// that the input has not are absent. Gives the folder's path.
std::string WriteFolder(Input input);

/// Target::mutate: lengths of headers stay right.
size_t MutateFolder(uint8_t* data, size_t size, size_t room, uint64_t seed);

}  // namespace aicf::fuzz
