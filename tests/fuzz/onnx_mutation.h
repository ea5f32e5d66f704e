/// Changes of ONNX files that keep them ONNX files: fields of messages set, added, repeated, taken
/// from elsewhere in the model or removed. Bytes alone nearly always break a length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace aicf::fuzz {

/// Target::mutate.
size_t MutateOnnx(uint8_t* data, size_t size, size_t room, uint64_t seed);

/// The same for a string.
void MutateOnnxString(std::string& bytes, size_t room, uint64_t seed);

}  // namespace aicf::fuzz
