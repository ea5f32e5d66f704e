#include "compiler/plan/weights.h"

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

namespace {

uint64_t ReadU64(std::span<const std::byte> bytes, size_t at) {
  uint64_t v = 0;
  for (int i = 7; i >= 0; --i)
    v = v << 8 | static_cast<uint64_t>(bytes[at + static_cast<size_t>(i)]);
  return v;
}

}  // namespace

Result<std::vector<NamedConstant>> DecodeConstants(std::span<const std::byte> section) {
  std::vector<NamedConstant> out;
  if (section.empty()) return out;
  if (section.size() < 8) return Status(Code::kBadArtifact, "lowered weights: cut off");
  const uint64_t count = ReadU64(section, 0);
  if (count > (section.size() - 8) / 32) {
    return Error(Code::kBadArtifact, "lowered weights: ", count, " constants in ", section.size(),
                 " bytes");
  }
  for (uint64_t i = 0; i < count; ++i) {
    const size_t row = 8 + static_cast<size_t>(i) * 32;
    const uint64_t offset = ReadU64(section, row + 16), bytes = ReadU64(section, row + 24);
    if (offset > section.size() || bytes > section.size() - offset) {
      return Error(Code::kBadArtifact, "lowered weights: constant ", i, " is outside the section");
    }
    NamedConstant c{{ReadU64(section, row), ReadU64(section, row + 8)},
                    section.subspan(offset, bytes)};
    if (HashBytes(c.bytes) != c.hash) {
      return Error(Code::kBadArtifact, "lowered weights: constant ", i, " has another hash");
    }
    out.push_back(c);
  }
  return out;
}

}  // namespace aicf
