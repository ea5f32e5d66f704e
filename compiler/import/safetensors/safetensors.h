/// safetensors: a header in JSON with names, element types and places, then the tensors' bytes.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/import/external_data.h"
#include "compiler/ir/tensor.h"

namespace aicf::safetensors {

inline constexpr uint64_t kMaxHeaderBytes = 100'000'000;  // as in the format's own reader
inline constexpr uint64_t kMaxTensors = uint64_t{1} << 20;
inline constexpr uint64_t kMaxTextBytes = uint64_t{16}
                                          << 20;  ///< that all of __metadata__ takes in memory

struct NamedTensor {
  std::string name;
  ir::Tensor data;  ///< a view of the file, at any alignment
};

struct SafetensorsFile {
  std::vector<NamedTensor> tensors;                           ///< by name
  std::vector<std::pair<std::string, std::string>> metadata;  ///< in the file's order

  /// Null where the file has none of this name.
  const ir::Tensor* Find(std::string_view name) const;
};

/// `owner` keeps `bytes` alive; the tensors share it. Errors: kBadModel for what breaks the format:
/// a header that is not one JSON object of the stated form, duplicate keys, tensors that do not
/// cover the data exactly, one after the other. kUnsupported for element types and ranks that aicf
/// has not; kResource for more than kMaxTensors.
Result<SafetensorsFile> ParseSafetensors(std::span<const std::byte> bytes,
                                         std::shared_ptr<const void> owner);

/// Reads and checks a whole file. Errors: those of ParseSafetensors, OpenRegularFile and
/// FileBytes::Read.
Result<SafetensorsFile> ReadSafetensors(const std::string& path);
/// The same for a file that is open; `name` is what errors call it.
Result<SafetensorsFile> ReadSafetensors(const ModelFile& file, std::string_view name);

}  // namespace aicf::safetensors
