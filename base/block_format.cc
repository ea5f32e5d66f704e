#include "base/block_format.h"

#include "base/block_decoders.h"
#include "base/checked.h"

namespace aicf {
namespace {

constexpr BlockFormatInfo kBlockFormats[] = {
#define AICF_BLOCK_FORMAT(id, ggml, name, elements, bytes) {name, ggml, elements, bytes},
#include "base/block_format.def"
#undef AICF_BLOCK_FORMAT
};

using BlockDecoder = void (*)(const uint8_t*, float*);
constexpr BlockDecoder kBlockDecoders[] = {
#define AICF_BLOCK_FORMAT(id, ggml, name, elements, bytes) &blocks::Decode_##id,
#include "base/block_format.def"
#undef AICF_BLOCK_FORMAT
};

}  // namespace

const BlockFormatInfo& InfoOf(BlockFormat format) {
  return kBlockFormats[static_cast<int>(format)];
}

std::optional<BlockFormat> BlockFormatOfGgml(uint32_t ggml_type) {
  for (int i = 0; i < kBlockFormatCount; ++i) {
    if (kBlockFormats[i].ggml_type == ggml_type) return static_cast<BlockFormat>(i);
  }
  return std::nullopt;
}

std::optional<uint64_t> BlockBytes(BlockFormat format, uint64_t rows, uint64_t columns) {
  const BlockFormatInfo& info = InfoOf(format);
  if (columns % info.elements != 0) return std::nullopt;
  uint64_t blocks = 0, bytes = 0;
  if (!CheckedMul(rows, columns / info.elements, &blocks)) return std::nullopt;
  if (!CheckedMul(blocks, uint64_t{info.bytes}, &bytes)) return std::nullopt;
  return bytes;
}

void DecodeBlocks(BlockFormat format, std::span<const std::byte> blocks, std::span<float> out) {
  const BlockFormatInfo& info = InfoOf(format);
  const BlockDecoder decode = kBlockDecoders[static_cast<int>(format)];
  const auto* in = reinterpret_cast<const uint8_t*>(blocks.data());
  for (size_t done = 0; done < out.size(); done += info.elements, in += info.bytes) {
    decode(in, out.data() + done);
  }
}

}  // namespace aicf
