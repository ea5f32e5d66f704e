/// The program section's bytes: Program <-> FlatBuffer (schema/artifact.fbs).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/status.h"
#include "schema/program.h"

namespace aicf::schema {

/// Longest string a program may hold, in bytes.
inline constexpr uint32_t kMaxStringBytes = 65536;
/// Longest value of a metadata entry: dictionaries of large vocabularies fit.
inline constexpr uint32_t kMaxMetadataBytes = 1 << 20;

/// Deterministic: equal programs give equal bytes. Errors: kResource above kMaxProgramBytes;
/// kInvalidArgument for a view or a tensor map whose lists have different ranks.
Result<std::vector<std::byte>> EncodeProgram(const Program& program);

/// Whether the bytes are a FlatBuffer of the schema whose every offset stays inside of them: what
/// DecodeProgram asks first. REQUIRES: at most kMaxProgramBytes, at a multiple of 64.
bool IsWellFormed(std::span<const std::byte> bytes);

/// Whether a program section has records (artifact.fbs), as those that EncodeProgram makes do.
/// REQUIRES: DecodeProgram accepts it.
bool HoldsRecords(std::span<const std::byte> program_section);

/// Structure only: bounds, alignment, counts, enumerations, text. What the program means is for
/// VerifyProgram. Accepts any alignment of `bytes` (copies when it is below 64).
/// Errors: kBadArtifact; kResource for more steps, buffers or entry points than verify.h allows.
/// Cost: linear in bytes.size(), memory too.
Result<Program> DecodeProgram(std::span<const std::byte> bytes);

}  // namespace aicf::schema
