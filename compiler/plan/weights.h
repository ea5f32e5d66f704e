/// The weights section: constants placed once each by content, aligned, in first-use order.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "base/hash.h"
#include "base/status.h"
#include "schema/program.h"

namespace aicf {

class WeightsBuilder {
 public:
  /// Reserves memory for that many bytes, so that adding them moves none that are there already.
  void Reserve(size_t bytes) { bytes_.reserve(bytes); }
  /// Offset of these bytes in the section; equal contents share one place.
  uint64_t Add(std::span<const std::byte> bytes);
  std::vector<std::byte> Take() { return std::move(bytes_); }

 private:
  std::vector<std::byte> bytes_;
  std::map<std::pair<uint64_t, uint64_t>, uint64_t> places_;
};

/// One constant of the lowered program that the plan's weights do not hold.
struct NamedConstant {
  Hash128 hash;
  std::span<const std::byte> bytes;
};

/// The lowered-weights section: count, then {hash, offset, bytes} sorted by hash, then 64-byte
/// aligned data.
std::vector<std::byte> EncodeConstants(std::vector<NamedConstant> constants);
/// The inverse; the constants are parts of `section`. Their hashes are checked. Errors:
/// kBadArtifact.
Result<std::vector<NamedConstant>> DecodeConstants(std::span<const std::byte> section);

}  // namespace aicf
