#include "tests/fuzz/artifact_mutation.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "schema/codec.h"
#include "schema/format.h"
#include "schema/testing.h"
#include "tests/faults/artifacts/mutation.h"
#include "tests/fuzz/parts.h"

namespace aicf::fuzz {
namespace {

using hostile::Random;
using schema::RawHeader;
using schema::RawSection;
using schema::SectionKind;

/// A file in its parts, nothing of which is checked.
struct File {
  RawHeader header;
  std::vector<std::pair<SectionKind, std::string>> sections;

  std::string* Find(SectionKind kind) {
    for (auto& [k, bytes] : sections) {
      if (k == kind) return &bytes;
    }
    return nullptr;
  }
};

std::optional<File> Split(std::string_view bytes) {
  File file;
  if (bytes.size() < sizeof file.header) return std::nullopt;
  std::memcpy(&file.header, bytes.data(), sizeof file.header);
  const size_t count = file.header.section_count;
  if (count == 0 || count > schema::kMaxSections) return std::nullopt;
  if (bytes.size() < sizeof(RawHeader) + count * sizeof(RawSection)) return std::nullopt;
  for (size_t i = 0; i < count; ++i) {
    RawSection s;
    std::memcpy(&s, bytes.data() + sizeof(RawHeader) + i * sizeof s, sizeof s);
    if (s.offset > bytes.size() || s.bytes > bytes.size() - s.offset) return std::nullopt;
    file.sections.emplace_back(static_cast<SectionKind>(s.kind), bytes.substr(s.offset, s.bytes));
  }
  return file;
}

/// Sizes, places and hashes follow from the sections; the rest of the header stays, unless the
/// program says otherwise.
std::string Join(const File& file, const schema::Program* program) {
  schema::HeaderInfo info{file.header.major,
                          file.header.minor,
                          0,
                          file.header.peak_device_bytes,
                          {},
                          file.header.required_features};
  if (program != nullptr) {
    info.peak_device_bytes = program->arena_bytes + program->weights_bytes + program->state_bytes;
    info.required_features = schema::FeaturesOf(*program);
  }
  for (const auto& [kind, bytes] : file.sections) {
    if (!bytes.empty()) info.sections.push_back({kind, 0, bytes.size(), {}});
  }
  if (!schema::PlaceSections(info).ok() || info.file_bytes > (size_t{1} << 22)) return {};
  std::vector<std::byte> out = schema::BuildHeader(info);
  out.resize(info.file_bytes);
  size_t at = 0;
  for (const auto& [kind, bytes] : file.sections) {
    if (bytes.empty()) continue;
    std::memcpy(out.data() + info.sections[at++].offset, bytes.data(), bytes.size());
  }
  schema::testing::Reseal(out);
  return {reinterpret_cast<const char*>(out.data()), out.size()};
}

/// What the changed program needs of its weights is there, within reason.
void FitWeights(File& file, const schema::Program& program, Random& random) {
  constexpr uint64_t kMost = uint64_t{1} << 18;
  std::string* weights = file.Find(SectionKind::kWeights);
  if (weights == nullptr) {
    if (program.weights_bytes == 0) return;
    file.sections.insert(file.sections.begin() + 1, {SectionKind::kWeights, ""});
    weights = &file.sections[1].second;
  }
  const size_t before = weights->size();
  weights->resize(std::min(program.weights_bytes, kMost));
  for (size_t i = before; i < weights->size(); ++i)
    (*weights)[i] = static_cast<char>(random.Below(4));
}

/// Fields of the program change; empty where the section holds none.
std::string WithOtherProgram(File file, Random& random) {
  std::string* section = file.Find(SectionKind::kProgram);
  if (section == nullptr || file.sections[0].first != SectionKind::kProgram) return {};
  const auto decoded = schema::DecodeProgram(std::as_bytes(std::span(*section)));
  if (!decoded.ok()) return {};
  const schema::Program changed = hostile::Mutated(*decoded, random);
  const auto encoded = schema::EncodeProgram(changed);
  if (!encoded.ok()) return {};
  section->assign(reinterpret_cast<const char*>(encoded->data()), encoded->size());
  FitWeights(file, changed, random);
  return Join(file, &changed);
}

std::string WithOtherSection(File file, bool text, size_t room, Random& random) {
  std::vector<size_t> choice;
  for (size_t i = 0; i < file.sections.size(); ++i) {
    const SectionKind kind = file.sections[i].first;
    const bool is_text = kind == SectionKind::kDecisions || kind == SectionKind::kLowered ||
                         kind == SectionKind::kProvenance;
    if (kind == SectionKind::kWeights || (text && !is_text)) continue;
    choice.push_back(i);
  }
  if (choice.empty()) return {};
  std::string& bytes = file.sections[choice[random.Below(choice.size())]].second;
  MutateString(bytes, bytes.size() + room);
  return Join(file, nullptr);
}

size_t Mutate(uint8_t* data, size_t size, size_t room, uint64_t seed, unsigned program_share,
              bool text) {
  Random random(seed);
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const auto file = Split(bytes);
  const size_t more = room - std::min(room, size);
  std::string changed;
  if (file && random.Chance(program_share)) {
    changed = WithOtherProgram(*file, random);
  } else if (file && random.Chance(85)) {
    changed = WithOtherSection(*file, text, more, random);
  }
  if (!changed.empty()) return Replace(data, size, room, changed);
  size = MutateBytes(data, size, room);
  std::vector<std::byte> sealed(size);
  std::memcpy(sealed.data(), data, size);
  schema::testing::Reseal(sealed);
  std::memcpy(data, sealed.data(), size);
  return size;
}

}  // namespace

size_t MutateArtifact(uint8_t* data, size_t size, size_t room, uint64_t seed) {
  return Mutate(data, size, room, seed, 60, false);
}

size_t MutateArtifactText(uint8_t* data, size_t size, size_t room, uint64_t seed) {
  return Mutate(data, size, room, seed, 10, true);
}

}  // namespace aicf::fuzz
