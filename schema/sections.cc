#include "schema/sections.h"

#include "base/checked.h"
#include "base/hash.h"
#include "schema/golden.h"
#include "schema/language_model.h"

namespace aicf::schema {

Result<uint64_t> PeakDeviceBytes(const Program& program) {
  uint64_t peak = 0;
  if (!CheckedAdd(program.arena_bytes, program.weights_bytes, &peak) ||
      !CheckedAdd(peak, program.state_bytes, &peak)) {
    return Error(Code::kBadArtifact, "arena, weights and state together overflow");
  }
  return peak;
}

Status CheckSections(const Program& program, std::span<const std::byte> weights,
                     std::span<const std::byte> images) {
  if (weights.size() != program.weights_bytes) {
    return Error(Code::kBadArtifact, "weights: the section has ", weights.size(),
                 " bytes, the program expects ", program.weights_bytes);
  }
  if (program.images.empty() && !images.empty()) {
    return Error(Code::kBadArtifact, "images: the program names none of the section's bytes");
  }
  uint64_t end = 0;
  for (size_t i = 0; i < program.images.size(); ++i) {
    const Image& image = program.images[i];
    if (image.bytes == 0 || image.offset < end ||
        !InRange(image.offset, image.bytes, images.size())) {
      return Error(Code::kBadArtifact, "image ", i, ": ", image.bytes, " bytes at ", image.offset,
                   " are empty, overlap the image before or leave the section of ", images.size());
    }
    end = image.offset + image.bytes;
    if (HashBytes(images.subspan(image.offset, image.bytes)) != image.hash) {
      return Error(Code::kBadArtifact, "image ", i, ": hash mismatch");
    }
  }
  return OkStatus();
}

Status CheckGoldenSection(const Program& program, std::span<const std::byte> golden) {
  if (golden.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const Golden parsed, ParseGolden(golden));
  return CheckGolden(parsed, program);
}

Status CheckLanguageSection(std::span<const std::byte> language) {
  return language.empty() ? OkStatus() : ParseLanguageModel(language).status();
}

}  // namespace aicf::schema
