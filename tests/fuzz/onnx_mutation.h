/// Changes ONNX files so that they remain ONNX files: fields of messages are set, added, repeated,
/// copied from elsewhere in the model or removed. A change of single bytes nearly always breaks a
/// length.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace aicf::fuzz {

/// A Target::mutate for ONNX files.
size_t MutateOnnx(uint8_t* data, size_t size, size_t room, uint64_t seed);

/// The same for a string.
void MutateOnnxString(std::string& bytes, size_t room, uint64_t seed);

}  // namespace aicf::fuzz
