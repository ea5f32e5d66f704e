/// Formats that store a row as blocks: a few elements share scales and take a few bits each. The
/// table is base/block_format.def. Like the element types it lies in base/, below kernels and
/// importers, so that kernels can take blocks without decoding them first. The decoders here define
/// what a block means, and kernels that take blocks are compared with them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

namespace aicf {

enum class BlockFormat : uint8_t {
#define AICF_BLOCK_FORMAT(id, ggml, name, elements, bytes) id,
#include "base/block_format.def"
#undef AICF_BLOCK_FORMAT
  kCount
};

inline constexpr int kBlockFormatCount = static_cast<int>(BlockFormat::kCount);

struct BlockFormatInfo {
  std::string_view name;
  uint32_t ggml_type = 0;
  uint32_t elements = 0;  ///< of one block
  uint32_t bytes = 0;     ///< of one block
};

const BlockFormatInfo& InfoOf(BlockFormat format);

/// The format that a GGUF file means by this number; nullopt for one that is not in the table.
std::optional<BlockFormat> BlockFormatOfGgml(uint32_t ggml_type);

/// Bytes of a tensor of `rows` rows of `columns` elements; nullopt when a row is no whole number of
/// blocks, or on overflow.
std::optional<uint64_t> BlockBytes(BlockFormat format, uint64_t rows, uint64_t columns);

/// Decodes whole blocks; each arithmetic operation is rounded to f32. `blocks` may have any
/// alignment.
/// REQUIRES: blocks.size() is out.size() elements in this format.
void DecodeBlocks(BlockFormat format, std::span<const std::byte> blocks, std::span<float> out);

}  // namespace aicf
