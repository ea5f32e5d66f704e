/// The bytes around the sections: fixed header, section table, placement of sections. Everything is
/// little-endian and read by memcpy; nothing is interpreted before its hash is known to be right.
///
/// Placement is a function of the sections' kinds and sizes alone: kinds strictly ascend (so the
/// program comes first), each section starts at the first multiple of its alignment after the one
/// before it, the gaps are zero, and the file ends where the last section ends. So the sections are
/// sorted, apart and cover the file exactly, and no bit of a file is outside every check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/status.h"
#include "schema/artifact.h"

namespace aicf::schema {

/// The first 64 bytes of a file.
struct RawHeader {
  char magic[8];
  uint16_t major;
  uint16_t minor;
  uint32_t section_count;
  uint64_t required_features;  ///< bits a reader must know; an unknown one is kUnsupported
  uint64_t file_bytes;
  uint64_t peak_device_bytes;
  uint32_t kernel_abi;  ///< abi::kKernelAbiVersion
  uint32_t reserved;    ///< zero
  uint64_t hash_low;    ///< XXH3-128 of header and table with this field zero
  uint64_t hash_high;
};
static_assert(sizeof(RawHeader) == 64);

/// One row of the section table, which follows the header.
struct RawSection {
  uint32_t kind;
  uint32_t reserved;  ///< zero
  uint64_t offset;    ///< bytes from the start of the file
  uint64_t bytes;     ///< not zero: an empty section is absent
  uint64_t hash_low;  ///< XXH3-128 of the section's bytes
  uint64_t hash_high;
};
static_assert(sizeof(RawSection) == 40);

/// Required-feature bits. A file has exactly the bits that FeaturesOf names for its program, less
/// kFeatureRecords where the program has none: a reader that does not know one of them could not
/// run it rightly.
inline constexpr uint64_t kFeatureState = 1;         ///< states, or metas
inline constexpr uint64_t kFeatureOrder = 2;         ///< Step.stream, Step.waits, Step.programmatic
inline constexpr uint64_t kFeatureHalves = 4;        ///< GemmAttrs::halves other than 1
inline constexpr uint64_t kFeatureRowNorm = 8;       ///< GemmAttrs::rms_epsilon
inline constexpr uint64_t kFeatureBlockScales = 16;  ///< GemmAttrs::scale_terms
inline constexpr uint64_t kFeatureMoments = 32;      ///< GemmAttrs::moments_epsilon
inline constexpr uint64_t kFeatureParts = 64;        ///< GemmAttrs::part_terms, part_columns
inline constexpr uint64_t kFeatureSymbols = 128;     ///< Step.symbol with abi::kSymbolPrefix
inline constexpr uint64_t kFeatureAppending = 256;   ///< AttentionAttrs::append_pairs
inline constexpr uint64_t kFeatureRecords = 512;     ///< Program.records
inline constexpr uint64_t kKnownFeatures =
    kFeatureState | kFeatureOrder | kFeatureHalves | kFeatureRowNorm | kFeatureBlockScales |
    kFeatureMoments | kFeatureParts | kFeatureSymbols | kFeatureAppending | kFeatureRecords;
/// Of a file of the program that is written now.
uint64_t FeaturesOf(const Program& program);
inline constexpr uint16_t kMinorOfSignatures = 2;
inline constexpr uint32_t kMaxSections = 64;
inline constexpr uint64_t kMaxFileBytes = uint64_t{1} << 42;
inline constexpr uint64_t kMaxProgramBytes = uint64_t{1} << 30;  ///< FlatBuffers end at 2 GiB

/// 4096 for weights, 64 for the rest.
uint64_t SectionAlignment(SectionKind kind);

/// Bytes of header and table, from the first sizeof(RawHeader) bytes of a file.
/// Errors: kBadArtifact (not an artifact, absurd table), kUnsupported (another major version).
Result<size_t> HeaderBytes(std::span<const std::byte> first);

/// Checks and decodes header and table. `prefix` is exactly HeaderBytes() long; `file_bytes` is
/// what the file really has. Errors: kBadArtifact; kUnsupported for a feature or kernel contract
/// that this reader does not know; kResource above kMaxFileBytes.
Result<HeaderInfo> ParseHeader(std::span<const std::byte> prefix, uint64_t file_bytes);

/// Header and table of a file, hashed. Versions, counts and sizes are taken from `info` as they
/// are.
std::vector<std::byte> BuildHeader(const HeaderInfo& info);

/// Fills in every section's offset and the file's size from kinds and bytes.
/// Errors: kResource when the file would pass kMaxFileBytes.
Status PlaceSections(HeaderInfo& info);

}  // namespace aicf::schema
