#include "kernels/cpu/gemm/microkernel.h"

#include <utility>

AICF_ISA_BEGIN
namespace {

template <int kVectors, bool kGathered, int... kRow>
TileFn Pick(int rows, std::integer_sequence<int, kRow...>) {
  static constexpr TileFn kTiles[] = {&RunTile<kRow + 1, kVectors, kGathered>...};
  return kTiles[rows - 1];
}

template <int kVectors>
TileFn PickRows(int rows, bool gathered) {
  constexpr auto kSequence = std::make_integer_sequence<int, kTileRows[kVectors - 1]>();
  return gathered ? Pick<kVectors, true>(rows, kSequence) : Pick<kVectors, false>(rows, kSequence);
}

}  // namespace

TileFn FindTile(int vectors, int rows, bool gathered) {
  switch (vectors) {
    case 1:
      return PickRows<1>(rows, gathered);
    case 2:
      return PickRows<2>(rows, gathered);
    case 3:
      return PickRows<3>(rows, gathered);
    default:
      return PickRows<4>(rows, gathered);
  }
}

AICF_ISA_END
