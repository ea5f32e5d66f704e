// Shapes of a convolution as a product, and the phases of a transposed one.
#pragma once

namespace aicf {

constexpr int kSpatial = Out0::kRank - 2;
constexpr bool kTransposed = attr_transposed;
constexpr int kWeightColumn = kTransposed ? 1 : 0;   ///< axis of the weights
constexpr int kWeightChannel = kTransposed ? 0 : 1;  ///< axis of the weights
constexpr index_t kGroups = static_cast<index_t>(attr_group);
constexpr index_t kChannels = In0::extent(1) / kGroups;  ///< input channels of a group
constexpr index_t kColumns = Out0::extent(1) / kGroups;  ///< output channels of a group

AICF_DEVICE constexpr index_t Stride(int d) { return static_cast<index_t>(attr_strides(d)); }
AICF_DEVICE constexpr index_t Dilation(int d) { return static_cast<index_t>(attr_dilations(d)); }
/// Positions and taps along spatial axis d in one phase, rounded up: some phases lack the last one.
AICF_DEVICE constexpr index_t PhasePositions(int d) {
  return kTransposed ? (Out0::extent(d + 2) + Stride(d) - 1) / Stride(d) : Out0::extent(d + 2);
}
AICF_DEVICE constexpr index_t PhaseTaps(int d) {
  return kTransposed ? (In1::extent(d + 2) + Stride(d) - 1) / Stride(d) : In1::extent(d + 2);
}
AICF_DEVICE constexpr index_t Rows() {
  index_t rows = Out0::extent(0);
  for (int d = 0; d < kSpatial; ++d) rows *= PhasePositions(d);
  return rows;
}
AICF_DEVICE constexpr index_t Length() {
  index_t length = kChannels;
  for (int d = 0; d < kSpatial; ++d) length *= PhaseTaps(d);
  return length;
}
AICF_DEVICE constexpr index_t Phases() {
  index_t phases = 1;
  for (int d = 0; d < kSpatial; ++d) phases *= kTransposed ? Stride(d) : 1;
  return phases;
}
AICF_DEVICE constexpr bool Padded() {
  for (int d = 0; d < kSpatial; ++d) {
    if (attr_pads_begin(d) != 0 || attr_pads_end(d) != 0) return true;
  }
  return false;
}
constexpr index_t kRows = Rows();
constexpr index_t kLength = Length();
constexpr index_t kPhases = Phases();
constexpr bool kPadded = Padded();

/// Output positions residue + stride * q read inputs base + q - dilation * j through taps
/// first + stride * j. Without transposition there is one phase, and base is minus the padding.
struct Phase {
  index_t residue[kSpatial], first[kSpatial], base[kSpatial];
};

AICF_DEVICE Phase PhaseOf(index_t number) {
  Phase phase = {};
#pragma unroll
  for (int d = kSpatial - 1; d >= 0; --d) {
    const index_t pad = static_cast<index_t>(attr_pads_begin(d));
    phase.base[d] = -pad;
    if constexpr (kTransposed) {
      phase.residue[d] = number % Stride(d);
      number /= Stride(d);
      // Dilation and stride have no common divisor, so exactly one tap below the stride fits.
      index_t first = 0;
      while ((phase.residue[d] + pad - first * Dilation(d)) % Stride(d) != 0) ++first;
      phase.first[d] = first;
      phase.base[d] = (phase.residue[d] + pad - first * Dilation(d)) / Stride(d);
    }
  }
  return phase;
}

/// Image and position within the phase of a row.
AICF_DEVICE Point PointOfRow(index_t row) {
  if constexpr (!kTransposed) return kRowsInner ? OutputPoint(row, 0) : OutputPoint(0, row);
  Point point = {};
#pragma unroll
  for (int d = kSpatial - 1; d >= 0; --d) {
    constexpr index_t kOne = 1;
    const index_t positions = PhasePositions(d) > 0 ? PhasePositions(d) : kOne;
    point.c[d + 2] = row % positions;
    row /= positions;
  }
  point.c[0] = row;
  return point;
}

}  // namespace aicf
