#include "kernels/cuda/blockgemm/packed.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <vector>

#include "base/checked.h"

namespace aicf::cuda {
namespace {

using abi::Problem;

BlockFormat FormatOf(const Problem& p) { return p.as<abi::BlockGemmAttrs>().format; }

/// Bits that lie next to each other both in a row of blocks and in a chunk.
struct BitField {
  int32_t raw;     ///< byte within the blocks that a row has in the chunk
  int32_t packed;  ///< byte within the packed chunk
  uint8_t raw_bit, packed_bit, width;
};

/// The places of all bits of one row in a chunk, block after block; every block has the same number
/// of fields.
class FieldsOfRow {
 public:
  FieldsOfRow(BlockFormat format, int row)
      : format_(format), chunk_(ChunkOf(format)), row_(row), info_(InfoOf(format)) {
    const auto elements = static_cast<int>(info_.elements);
    for (int block = 0; block < chunk_.depth / elements; ++block) {
      base_ = block * static_cast<int>(info_.bytes);
      for (int i = 0; i < elements; ++i) Codes(i, block * elements + i);
      Scales(block);
    }
  }
  std::vector<BitField> Take() { return std::move(fields_); }

 private:
  void Add(int raw, int raw_bit, int packed, int packed_bit, int width) {
    fields_.push_back({base_ + raw, packed + packed_bit / 8, static_cast<uint8_t>(raw_bit),
                       static_cast<uint8_t>(packed_bit % 8), static_cast<uint8_t>(width)});
  }

  /// Adds the field of element k of the chunk in the plane of `width` bits that begins at byte
  /// `plane`.
  void Code(int raw, int raw_bit, int k, int plane, int width) {
    const bool halves = chunk_.groups * 16 == chunk_.depth;
    const int in_run = k % 32;
    const int t = halves ? in_run % 16 / 4 : in_run / 8;
    const int e = halves ? in_run / 16 * 4 + in_run % 4 : in_run % 8;
    const int lane = row_ % 8 * 4 + t;
    const int pair = (k / 32 * 2 + row_ / 8) * 4 + e / 2;
    const int per_word = width <= 16 ? 16 / width : 0;
    const int word = width <= 16 ? pair / per_word : pair * 2 + e % 2;
    const int shift = width <= 16 ? pair % per_word * width + e % 2 * 16 : 0;
    const int at = plane + word / 4 * 512 + lane * 16 + word % 4 * 4;
    for (int bit = 0; bit < width; bit += 8) {
      Add(raw + bit / 8, raw_bit, at, shift + bit, std::min(width, 8));
    }
  }

  /// Adds the code of element i of a block, which is element k of the chunk. The lowest bits of a
  /// code are in the first plane.
  void Codes(int i, int k) {
    const int second = chunk_.depth * BlockChunk::kRows / (format_ == BlockFormat::kQ3_K ? 4 : 2);
    const int two_bits = i / 128 * 32 + i % 32;
    switch (format_) {
      case BlockFormat::kF32:
        return Code(0, 0, k, 0, 32);
      case BlockFormat::kF16:
      case BlockFormat::kBF16:
        return Code(0, 0, k, 0, 16);
      case BlockFormat::kQ4_0:
        return Code(2 + i % 16, i / 16 * 4, k, 0, 4);
      case BlockFormat::kQ4_1:
        return Code(4 + i % 16, i / 16 * 4, k, 0, 4);
      case BlockFormat::kQ5_0:
        Code(6 + i % 16, i / 16 * 4, k, 0, 4);
        return Code(2 + i / 8, i % 8, k, second, 1);
      case BlockFormat::kQ5_1:
        Code(8 + i % 16, i / 16 * 4, k, 0, 4);
        return Code(4 + i / 8, i % 8, k, second, 1);
      case BlockFormat::kQ8_0:
        return Code(2 + i, 0, k, 0, 8);
      case BlockFormat::kQ2_K:
        return Code(16 + two_bits, i % 128 / 32 * 2, k, 0, 2);
      case BlockFormat::kQ3_K:
        Code(32 + two_bits, i % 128 / 32 * 2, k, 0, 2);
        return Code(i % 32, i / 32, k, second, 1);
      case BlockFormat::kQ4_K:
        return Code(16 + i / 64 * 32 + i % 32, i / 32 % 2 * 4, k, 0, 4);
      case BlockFormat::kQ5_K:
        Code(48 + i / 64 * 32 + i % 32, i / 32 % 2 * 4, k, 0, 4);
        return Code(16 + i % 32, i / 32, k, second, 1);
      case BlockFormat::kQ6_K:
        Code(i / 128 * 64 + i % 64, i % 128 / 64 * 4, k, 0, 4);
        return Code(128 + two_bits, i % 128 / 32 * 2, k, second, 2);
      case BlockFormat::kCount:
        return;
    }
  }

  void Bytes(int raw, int packed, int count) {
    for (int b = 0; b < count; ++b) Add(raw + b, 0, packed + b, 0, 8);
  }

  /// Adds the 12 bytes from byte 4 of a block on, which hold scales and minimums of 6 bits.
  void SixBitPairs(int to) {
    for (int group = 0; group < 8; ++group) {
      for (int bit = 0; bit < 6; ++bit) {
        const int upper = bit - 4;
        const int place = group / 2 * 24 + group % 2 * 6 + bit;
        if (group < 4) {
          Add(4 + group, bit, to, place, 1);
          Add(8 + group, bit, to, place + 12, 1);
        } else if (upper < 0) {
          Add(8 + group, bit, to, place, 1);
          Add(8 + group, 4 + bit, to, place + 12, 1);
        } else {
          Add(group, 6 + upper, to, place, 1);
          Add(4 + group, 6 + upper, to, place + 12, 1);
        }
      }
    }
  }

  void Scales(int block) {
    const int scales = chunk_.codes_bytes, after = scales + 16 * BlockChunk::kRows;
    switch (format_) {
      case BlockFormat::kQ4_0:
      case BlockFormat::kQ5_0:
      case BlockFormat::kQ8_0:
        return Bytes(0, scales + (row_ * chunk_.groups + block) * 2, 2);
      case BlockFormat::kQ4_1:
      case BlockFormat::kQ5_1:
        return Bytes(0, scales + (row_ * chunk_.groups + block) * 4, 4);
      case BlockFormat::kQ4_K:
      case BlockFormat::kQ5_K:
        Bytes(0, scales + row_ * 16, 4);
        return SixBitPairs(scales + row_ * 16 + 4);
      case BlockFormat::kQ2_K:
        Bytes(0, scales + row_ * 16, 16);
        return Bytes(80, after + row_ * 4, 4);
      case BlockFormat::kQ3_K:
        for (int group = 0; group < 16; ++group) {
          const int to = scales + row_ * 16 + group;
          Add(96 + group % 8, group / 8 * 4, to, 0, 4);
          Add(104 + group % 4, group / 4 * 2, to, 4, 2);
        }
        return Bytes(108, after + row_ * 2, 2);
      case BlockFormat::kQ6_K:
        Bytes(192, scales + row_ * 16, 16);
        return Bytes(208, after + row_ * 2, 2);
      default:
        return;
    }
  }

  const BlockFormat format_;
  const BlockChunk chunk_;
  const int row_;
  const BlockFormatInfo& info_;
  int base_ = 0;
  std::vector<BitField> fields_;
};

/// Calls f(fields, byte where the row's part of the chunk begins in the raw data, byte where the
/// chunk begins in the packed form) for every row and chunk; only the fields of blocks that exist
/// are passed.
template <class F>
void ForEachRowOfChunk(const Problem& p, const F& f) {
  const abi::View& view = p.inputs[1];
  const BlockChunk chunk = ChunkOf(FormatOf(p));
  std::array<std::vector<BitField>, BlockChunk::kRows> fields;
  for (int r = 0; r < BlockChunk::kRows; ++r) fields[r] = FieldsOfRow(FormatOf(p), r).Take();
  const auto block_bytes = static_cast<int64_t>(InfoOf(FormatOf(p)).bytes);
  const int64_t per_chunk = chunk.depth / static_cast<int64_t>(InfoOf(FormatOf(p)).elements);
  const size_t per_block = fields[0].size() / static_cast<size_t>(per_chunk);
  const int64_t blocks = view.shape[1] / block_bytes, chunks = ChunksOf(p);
  for (int64_t n = 0; n < view.shape[0]; ++n) {
    const int64_t row = view.offset + n * view.strides[0];
    const int64_t panel = n / BlockChunk::kRows * chunks;
    for (int64_t c = 0; c < chunks; ++c) {
      const auto here = static_cast<size_t>(std::min(per_chunk, blocks - c * per_chunk));
      f(std::span(fields[static_cast<size_t>(n % BlockChunk::kRows)]).first(here * per_block),
        row + c * per_chunk * block_bytes, (panel + c) * chunk.bytes());
    }
  }
}

/// Rotates the words of all planes of 4 bits by 7 minus the bits of a code: left when packing, back
/// when unpacking.
void RotateNibbles(const Problem& p, bool left, uint8_t* packed) {
  const BlockChunk chunk = ChunkOf(FormatOf(p));
  constexpr int kDepth = 256;  // of chunks that have such a plane
  const int bits = chunk.codes_bytes * 8 / (chunk.depth * BlockChunk::kRows);
  if (chunk.depth != kDepth || bits < 4) return;
  const int64_t count = PanelsOf(p) * ChunksOf(p);
  for (int64_t c = 0; c < count; ++c) {
    for (int at = 0; at < kDepth * BlockChunk::kRows / 2; at += 4) {
      uint8_t* place = packed + c * chunk.bytes() + at;
      uint32_t word = 0;
      std::memcpy(&word, place, sizeof word);
      word = left ? std::rotl(word, 7 - bits) : std::rotr(word, 7 - bits);
      std::memcpy(place, &word, sizeof word);
    }
  }
}

int Mask(const BitField& field) { return (1 << field.width) - 1; }

}  // namespace

BlockChunk ChunkOf(BlockFormat format) {
  switch (format) {
    case BlockFormat::kF32:
      return {32, 2048, 0, 0};
    case BlockFormat::kF16:
    case BlockFormat::kBF16:
      return {64, 2048, 0, 0};
    case BlockFormat::kQ8_0:
      return {128, 2048, 128, 4};
    case BlockFormat::kQ4_0:
      return {256, 2048, 256, 8};
    case BlockFormat::kQ4_1:
      return {256, 2048, 512, 8};
    case BlockFormat::kQ5_0:
      return {256, 2560, 256, 8};
    case BlockFormat::kQ5_1:
      return {256, 2560, 512, 8};
    case BlockFormat::kQ2_K:
      return {256, 1024, 320, 16};
    case BlockFormat::kQ3_K:
      return {256, 1536, 288, 16};
    case BlockFormat::kQ4_K:
      return {256, 2048, 256, 8};
    case BlockFormat::kQ5_K:
      return {256, 2560, 256, 8};
    case BlockFormat::kQ6_K:
      return {256, 3072, 288, 16};
    case BlockFormat::kCount:
      break;
  }
  return {};
}

int64_t ChunksOf(const Problem& p) {
  return CeilDiv(p.inputs[0].shape.back(), int64_t{ChunkOf(FormatOf(p)).depth});
}

int64_t PanelsOf(const Problem& p) {
  return CeilDiv(p.inputs[1].shape[0], int64_t{BlockChunk::kRows});
}

std::string RefusePackedBlocks(const Problem& p, int64_t tile_k) {
  if (!PackedBlocksLayout(p)) return "packs no empty B";
  if (tile_k % 32 == 0) return {};
  return StrCat("reads packed blocks in runs of 32 elements, a tile has ", tile_k);
}

std::optional<abi::PackedLayout> PackedBlocksLayout(const Problem& p) {
  const int64_t bytes = PanelsOf(p) * ChunksOf(p) * ChunkOf(FormatOf(p)).bytes();
  if (bytes == 0) return std::nullopt;
  return abi::PackedLayout{"cuda.blockgemm.panels16", static_cast<uint64_t>(bytes),
                           abi::Recovery::kBits};
}

void PackBlocks(const Problem& p, const void* buffer, void* packed) {
  const auto* raw = static_cast<const uint8_t*>(buffer);
  auto* out = static_cast<uint8_t*>(packed);
  std::memset(out, 0, static_cast<size_t>(PackedBlocksLayout(p)->bytes));
  ForEachRowOfChunk(p, [&](std::span<const BitField> fields, int64_t from, int64_t to) {
    for (const BitField& f : fields) {
      const int bits = (raw[from + f.raw] >> f.raw_bit) & Mask(f);
      out[to + f.packed] = static_cast<uint8_t>(out[to + f.packed] | bits << f.packed_bit);
    }
  });
  RotateNibbles(p, /*left=*/true, out);
}

void UnpackBlocks(const Problem& p, const void* packed, void* buffer) {
  const auto* first = static_cast<const uint8_t*>(packed);
  std::vector<uint8_t> in(first, first + PackedBlocksLayout(p)->bytes);
  RotateNibbles(p, /*left=*/false, in.data());
  auto* raw = static_cast<uint8_t*>(buffer);
  const abi::View& view = p.inputs[1];
  for (int64_t n = 0; n < view.shape[0]; ++n) {
    std::memset(raw + view.offset + n * view.strides[0], 0, static_cast<size_t>(view.shape[1]));
  }
  ForEachRowOfChunk(p, [&](std::span<const BitField> fields, int64_t to, int64_t from) {
    for (const BitField& f : fields) {
      const int bits = (in[static_cast<size_t>(from + f.packed)] >> f.packed_bit) & Mask(f);
      raw[to + f.raw] = static_cast<uint8_t>(raw[to + f.raw] | bits << f.raw_bit);
    }
  });
}

}  // namespace aicf::cuda
