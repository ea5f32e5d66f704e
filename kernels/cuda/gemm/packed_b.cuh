// B as cuda.gemm.tensor reads it: the step's operand, or with packed_b its packed form, which the
// host's gemm/packed_b.h describes. To be included after tile_mma.cuh.
#pragma once

namespace aicf {

constexpr int kPackedPiece = 8;  // values in 16 bytes

/// The packed form with the interface of an operand's view (In1). The columns that pad a row count
/// as columns of zeros.
struct PackedB {
  typedef tile_t S;
  static constexpr int kRank = In1::kRank;
  static constexpr index_t kOffset = 0;
  static constexpr index_t kPitch =
      (In1::extent(kRank - 1) + kPackedPiece - 1) / kPackedPiece * kPackedPiece;

  static AICF_DEVICE constexpr index_t extent(int d) {
    return d == kRank - 1 ? kPitch : In1::extent(d);
  }
  static AICF_DEVICE constexpr index_t stride(int d) {
    if (d == kRank - 1) return 1;
    if (d == kRank - 2) return kPitch;
    if (In1::stride(d) == 0) return 0;
    index_t stride = kPitch * In1::extent(kRank - 2);
    for (int inner = d + 1; inner < kRank - 2; ++inner) {
      if (In1::stride(inner) != 0) stride *= In1::extent(inner);
    }
    return stride;
  }
  static AICF_DEVICE constexpr int run(int d) { return d == kRank - 1 ? kPackedPiece : 1; }
};

template <bool kIsPacked>
struct OperandOf {
  typedef In1 View;
};
template <>
struct OperandOf<true> {
  typedef PackedB View;
};
typedef OperandOf<kPackedB != 0>::View OperandB;

}  // namespace aicf
