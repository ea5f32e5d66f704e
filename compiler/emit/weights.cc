#include "compiler/emit/weights.h"

#include <algorithm>
#include <cstring>

namespace aicf {

uint64_t WeightsBuilder::Add(std::span<const std::byte> bytes) {
  const Hash128 hash = HashBytes(bytes);
  const auto [place, inserted] = places_.try_emplace({hash.high, hash.low}, bytes_.size());
  if (!inserted) return place->second;
  bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  const uint64_t mask = schema::kBufferAlignment - 1;
  bytes_.resize((bytes_.size() + mask) & ~mask);
  return place->second;
}

namespace {

void AppendU64(std::vector<std::byte>& out, uint64_t v) {
  for (int i = 0; i < 8; ++i) out.push_back(static_cast<std::byte>(v >> (8 * i)));
}

}  // namespace

std::vector<std::byte> EncodeConstants(std::vector<NamedConstant> constants) {
  auto key = [](const NamedConstant& c) { return std::pair(c.hash.high, c.hash.low); };
  std::sort(constants.begin(), constants.end(),
            [&](const auto& a, const auto& b) { return key(a) < key(b); });
  constants.erase(std::unique(constants.begin(), constants.end(),
                              [](const auto& a, const auto& b) { return a.hash == b.hash; }),
                  constants.end());
  if (constants.empty()) return {};
  auto align = [](uint64_t v) { return (v + 63) & ~uint64_t{63}; };
  uint64_t offset = align(8 + constants.size() * 32);
  std::vector<std::byte> out;
  AppendU64(out, constants.size());
  for (const NamedConstant& c : constants) {
    AppendU64(out, c.hash.low);
    AppendU64(out, c.hash.high);
    AppendU64(out, offset);
    AppendU64(out, c.bytes.size());
    offset = align(offset + c.bytes.size());
  }
  for (const NamedConstant& c : constants) {
    out.resize(align(out.size()));
    out.insert(out.end(), c.bytes.begin(), c.bytes.end());
  }
  return out;
}

}  // namespace aicf
