#include "kernels/cpu/blockgemm/layout.h"

#include <cstring>

namespace aicf::cpu {
namespace {

// Calls f(offset in B's buffer, offset in the packed constant, size) for every field of every
// column, all in bytes.
template <class F>
void EachField(const abi::Problem& p, const F& f) {
  const BlockFormat format = p.as<abi::BlockGemmAttrs>().format;
  const BlockFields fields = BlockFieldsOf(format);
  const BlockShape s = BlockShapeOf(p);
  const abi::View& b = p.inputs[1];
  const int64_t blocks = s.depth / fields.elements;
  const int64_t first_half = fields.halves_first ? 0 : 4 * fields.words;
  const int64_t first_word = fields.halves_first ? 2 * fields.halves : 0;
  for (int64_t n = 0; n < s.columns; ++n) {
    const int64_t panel = n / kBlockColumns * s.panel_bytes, column = n % kBlockColumns;
    for (int64_t block = 0; block < blocks; ++block) {
      const int64_t from = b.offset + n * b.strides[0] + block * fields.bytes;
      for (int64_t i = 0; i < fields.halves; ++i) {
        const int64_t at = (block * fields.halves + i) * kBlockColumns + column;
        f(from + first_half + 2 * i, panel + 2 * at, size_t{2});
      }
      for (int64_t i = 0; i < fields.words; ++i) {
        const int64_t at = (block * fields.words + i) * kBlockColumns + column;
        f(from + first_word + 4 * i, panel + s.halves_bytes + 4 * at, size_t{4});
      }
    }
  }
}

}  // namespace

bool HasBlockScales(BlockFormat format) { return InfoOf(format).elements > 1; }

bool RoundsBlockRows(const abi::Problem& p) {
  return p.math == abi::MathMode::kInt8 && HasBlockScales(p.as<abi::BlockGemmAttrs>().format);
}

BlockFields BlockFieldsOf(BlockFormat format) {
  BlockFields fields;
  fields.elements = static_cast<int>(InfoOf(format).elements);
  fields.bytes = static_cast<int>(InfoOf(format).bytes);
  switch (format) {
    case BlockFormat::kF16:
    case BlockFormat::kBF16:
      return {.elements = kBlockGroup, .bytes = 2 * kBlockGroup, .halves = kBlockGroup};
    case BlockFormat::kQ4_1:
    case BlockFormat::kQ5_1:
    case BlockFormat::kQ4_K:
    case BlockFormat::kQ5_K:
      fields.halves = 2;
      break;
    case BlockFormat::kQ2_K:
      fields.halves = 2;
      fields.halves_first = false;
      break;
    case BlockFormat::kQ3_K:
    case BlockFormat::kQ6_K:
      fields.halves = 1;
      fields.halves_first = false;
      break;
    default:
      fields.halves = 1;
      break;
  }
  fields.words = (fields.bytes - 2 * fields.halves) / 4;
  return fields;
}

BlockShape BlockShapeOf(const abi::Problem& p) {
  const BlockFormat format = p.as<abi::BlockGemmAttrs>().format;
  const BlockFields fields = BlockFieldsOf(format);
  const Dims& a = p.inputs[0].shape;
  BlockShape s;
  s.rows = 1;
  for (int axis = 0; axis + 1 < a.rank(); ++axis) s.rows *= a[axis];
  s.columns = p.outputs[0].shape.back();
  s.depth = a.back();
  const int64_t blocks = s.depth / fields.elements;
  constexpr int64_t kLine = 64;
  s.panels = (s.columns + kBlockColumns - 1) / kBlockColumns;
  s.halves_bytes = (2 * kBlockColumns * blocks * fields.halves + kLine - 1) / kLine * kLine;
  s.panel_bytes = s.halves_bytes + 4 * kBlockColumns * blocks * fields.words;
  return s;
}

int64_t RowStrideOf(const abi::View& v) {
  for (int axis = v.shape.rank() - 2; axis >= 0; --axis) {
    if (v.shape[axis] > 1) return v.strides[axis];
  }
  return 0;
}

bool IsEvenRows(const abi::View& v) {
  if (v.dtype != DType::kF32 || (v.strides.back() != 1 && v.shape.back() > 1)) return false;
  int64_t next = RowStrideOf(v);
  for (int axis = v.shape.rank() - 2; axis >= 0; --axis) {
    if (v.shape[axis] == 1) continue;
    if (v.strides[axis] != next) return false;
    next *= v.shape[axis];
  }
  return true;
}

BlockWorkspace BlockWorkspaceOf(const abi::Problem& p) {
  const BlockShape s = BlockShapeOf(p);
  BlockWorkspace w;
  const auto take = [&w](int64_t bytes) {
    constexpr uint64_t kLine = 64;
    const uint64_t at = w.bytes;
    w.bytes += (static_cast<uint64_t>(bytes) + kLine - 1) / kLine * kLine;
    return at;
  };
  const int64_t elements = s.rows * s.depth;
  if (!IsEvenRows(p.inputs[0])) w.copy = take(4 * elements);
  if (!RoundsBlockRows(p)) return w;
  w.codes = take(elements);
  w.scales = take(4 * elements / kBlockGroup);
  w.starts = take(4 * elements / BlockRoundingOf(p.as<abi::BlockGemmAttrs>().format).run);
  return w;
}

void PackBlocks(const abi::Problem& p, const void* buffer, void* packed) {
  const BlockShape s = BlockShapeOf(p);
  std::memset(packed, 0, static_cast<size_t>(s.panels * s.panel_bytes));
  EachField(p, [&](int64_t from, int64_t to, size_t bytes) {
    std::memcpy(static_cast<char*>(packed) + to, static_cast<const char*>(buffer) + from, bytes);
  });
}

void UnpackBlocks(const abi::Problem& p, const void* packed, void* buffer) {
  EachField(p, [&](int64_t to, int64_t from, size_t bytes) {
    std::memcpy(static_cast<char*>(buffer) + to, static_cast<const char*>(packed) + from, bytes);
  });
}

}  // namespace aicf::cpu
