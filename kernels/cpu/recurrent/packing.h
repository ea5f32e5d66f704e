/// The packed layout of R for the vector kernels, shared by the compiler, which packs, and the
/// kernels. Host code only.
///
/// The hidden units are cut into blocks of one vector. A block's rows of the gates that one pass
/// computes lie together, so that a micro-kernel streams them once and has all gates of its units
/// in registers: packed[direction][pass][block][k][gate of the pass][unit of the block], zero
/// beyond the last unit. Every cell has one pass with all its gates, but for a GRU that resets the
/// state before its product: z and r, then the hidden gate.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/abi/recurrent.h"
#include "kernels/cpu/gemm/panels.h"

namespace aicf::cpu {

struct RecurrentPacking {
  int64_t hidden = 0, directions = 1;
  int lanes = 1;
  int passes = 1;
  int64_t gates[2] = {};  ///< of each pass

  RecurrentPacking(const abi::Problem& p, int lane_count) : lanes(lane_count) {
    const abi::RecurrentShape s = abi::RecurrentShapeOf(p);
    hidden = s.hidden;
    directions = s.directions;
    gates[0] = s.gates;
    if (abi::ResetsBeforeProduct(p)) {
      passes = 2;
      gates[0] = 2;
      gates[1] = 1;
    }
  }
  int64_t blocks() const { return (hidden + lanes - 1) / lanes; }
  /// Hidden units rounded up to whole vectors.
  int64_t padded() const { return blocks() * lanes; }
  int64_t block_floats(int pass) const { return hidden * gates[pass] * lanes; }
  int64_t direction_floats() const { return padded() * hidden * (gates[0] + gates[1]); }
  /// First float of block 0 of a pass.
  int64_t pass_offset(int64_t direction, int pass) const {
    return direction * direction_floats() + (pass == 1 ? blocks() * block_floats(0) : 0);
  }
  uint64_t bytes() const {
    return sizeof(float) * static_cast<uint64_t>(directions * direction_floats());
  }
  /// Calls f(direction, pass, block).
  template <class F>
  void ForEachBlock(const F& f) const {
    for (int64_t d = 0; d < directions; ++d) {
      for (int pass = 0; pass < passes; ++pass) {
        for (int64_t block = 0; block < blocks(); ++block) f(d, pass, block);
      }
    }
  }
};

/// Packs one block; `from` is the first element of the buffer of R, `packed` the whole packed R.
inline void PackRecurrentBlock(const abi::Problem& p, const RecurrentPacking& layout, int64_t d,
                               int pass, int64_t block, const float* from, float* packed) {
  const abi::View& r = p.inputs[1];
  const int64_t gates = layout.gates[pass], first_gate = pass == 0 ? 0 : layout.gates[0];
  float* out = packed + layout.pass_offset(d, pass) + block * layout.block_floats(pass);
  const float* direction = from + r.offset + d * r.strides[0];
  for (int64_t g = 0; g < gates; ++g) {
    for (int64_t lane = 0; lane < layout.lanes; ++lane) {
      const int64_t unit = block * layout.lanes + lane;
      const bool inside = unit < layout.hidden;
      const float* row = direction + ((first_gate + g) * layout.hidden + unit) * r.strides[1];
      float* column = out + g * layout.lanes + lane;
      for (int64_t k = 0; k < layout.hidden; ++k) {
        column[k * gates * layout.lanes] = inside ? row[k * r.strides[2]] : 0.0f;
      }
    }
  }
}

/// The inverse: writes the block's elements of R into its buffer.
inline void UnpackRecurrentBlock(const abi::Problem& p, const RecurrentPacking& layout, int64_t d,
                                 int pass, int64_t block, const float* packed, float* to) {
  const abi::View& r = p.inputs[1];
  const int64_t gates = layout.gates[pass], first_gate = pass == 0 ? 0 : layout.gates[0];
  const float* in = packed + layout.pass_offset(d, pass) + block * layout.block_floats(pass);
  const int64_t first = block * layout.lanes;
  const int64_t units = std::min<int64_t>(layout.lanes, layout.hidden - first);
  float* direction = to + r.offset + d * r.strides[0];
  for (int64_t g = 0; g < gates; ++g) {
    for (int64_t lane = 0; lane < units; ++lane) {
      float* row = direction + ((first_gate + g) * layout.hidden + first + lane) * r.strides[1];
      const float* column = in + g * layout.lanes + lane;
      for (int64_t k = 0; k < layout.hidden; ++k) {
        row[k * r.strides[2]] = column[k * gates * layout.lanes];
      }
    }
  }
}

}  // namespace aicf::cpu
