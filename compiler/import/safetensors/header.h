/// The JSON header of a safetensors file, checked in its form alone: what it says about bytes is
/// checked by who has them.
#pragma once

#include <array>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"
#include "base/status.h"

namespace aicf::safetensors {

struct HeaderEntry {
  std::string name;
  DType dtype = DType::kF32;
  Dims shape;
  uint64_t begin = 0, end = 0;  ///< in the data after the header
};

struct Header {
  std::vector<HeaderEntry> entries;                           ///< by name
  std::vector<std::pair<std::string, std::string>> metadata;  ///< in the file's order
};

/// Errors: as ParseSafetensors.
Result<Header> ParseHeader(std::string_view json);

}  // namespace aicf::safetensors
