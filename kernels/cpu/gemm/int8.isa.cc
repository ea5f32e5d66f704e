// Register tiles of integer products: the form of microkernel.h with i32 sums.
#include <utility>

#include "kernels/cpu/gemm/int_simd.h"
#include "kernels/cpu/gemm/integer_tiles.h"
#include "kernels/cpu/gemm/microkernel.h"

AICF_ISA_BEGIN
namespace {

// An i8 is multiplied as the u8 x + 128, which flips the highest bit of each byte. The numbers from
// which the sums start make up for what that adds to them (integer_pack.h).
constexpr int32_t kFlip = static_cast<int32_t>(0x80808080u);

template <int kRows, int kVectors>
AICF_INLINE void StartSums(const TileWork& work, IntVec (&acc)[kRows][kVectors]) {
#pragma GCC unroll 4
  for (int j = 0; j < kVectors; ++j) {
    const IntVec start = LoadInts(work.start + PanelVector<kVectors>(j, work.b_far));
#pragma GCC unroll 16
    for (int r = 0; r < kRows; ++r) acc[r][j] = start;
  }
}

template <int kRows, int kVectors>
AICF_INLINE void StoreSums(const TileWork& work, IntVec (&acc)[kRows][kVectors]) {
  float* out = work.out;
  const int64_t stride = work.out_stride;
#pragma GCC unroll 16
  for (int r = 0; r < kRows; ++r, out += stride) {
#pragma GCC unroll 4
    for (int j = 0; j < kVectors; ++j) StoreInts(out + j * kLanes, acc[r][j]);
  }
}

template <class Products, int kRows, int kVectors, bool kGathered>
AICF_INLINE void RunIntegerTile(const TileWork& work, IntVec flip) {
  IntVec acc[kRows][kVectors];
  StartSums<kRows, kVectors>(work, acc);
  const int64_t depth = work.depth, b_stride = work.b_stride, far = work.b_far;
  for (int64_t tap = 0; tap < work.tap_count; ++tap) {
    TileRowsAt<kRows, kVectors, kGathered> rows(work, tap);
    const float* b = work.taps[tap].b;
    const float* ahead = b + kAheadRows * b_stride;
    for (int64_t k = 0; k < depth; ++k, b += b_stride, ahead += b_stride) {
      typename Products::Right panel[kVectors];
#pragma GCC unroll 4
      for (int j = 0; j < kVectors; ++j) {
        const int64_t at = PanelVector<kVectors>(j, far);
        panel[j] = Products::OfB(LoadInts(b + at));
        if (kVectors > 1) __builtin_prefetch(ahead + at);
      }
#pragma GCC unroll 16
      for (int r = 0; r < kRows; ++r) {
        const typename Products::Left x = Products::OfX(Xor(RepeatCell(rows.Cell(r, k)), flip));
#pragma GCC unroll 4
        for (int j = 0; j < kVectors; ++j) acc[r][j] = Products::Add(acc[r][j], x, panel[j]);
      }
      rows.Next();
    }
  }
  StoreSums<kRows, kVectors>(work, acc);
}

// Words and u8 are not flipped: the exclusive or with the constant 0 compiles to no instruction.
template <int kRows, int kVectors, bool kGathered>
void RunWords(const TileWork& work) {
  RunIntegerTile<WordProducts, kRows, kVectors, kGathered>(work, RepeatInt(0));
}
template <int kRows, int kVectors, bool kGathered>
void RunUnsigned(const TileWork& work) {
  RunIntegerTile<ByteProducts, kRows, kVectors, kGathered>(work, RepeatInt(0));
}
template <int kRows, int kVectors, bool kGathered>
void RunSigned(const TileWork& work) {
  RunIntegerTile<ByteProducts, kRows, kVectors, kGathered>(work, RepeatInt(kFlip));
}

template <int kVectors, bool kGathered, int... kRow>
IntegerTileFn Pick(IntegerForm form, bool flip, int rows, std::integer_sequence<int, kRow...>) {
  static constexpr IntegerTileFn kWords[] = {&RunWords<kRow + 1, kVectors, kGathered>...};
  static constexpr IntegerTileFn kUnsigned[] = {&RunUnsigned<kRow + 1, kVectors, kGathered>...};
  static constexpr IntegerTileFn kSigned[] = {&RunSigned<kRow + 1, kVectors, kGathered>...};
  if (form == IntegerForm::kWords) return kWords[rows - 1];
  return (flip ? kSigned : kUnsigned)[rows - 1];
}

template <int kVectors>
IntegerTileFn PickRows(IntegerForm form, bool flip, int rows, bool gathered) {
  constexpr auto kSequence = std::make_integer_sequence<int, kTileRows[kVectors - 1]>();
  return gathered ? Pick<kVectors, true>(form, flip, rows, kSequence)
                  : Pick<kVectors, false>(form, flip, rows, kSequence);
}

}  // namespace

IntegerTileFn FindIntegerTile(IntegerForm form, bool flip, int vectors, int rows, bool gathered) {
  switch (vectors) {
    case 1:
      return PickRows<1>(form, flip, rows, gathered);
    case 2:
      return PickRows<2>(form, flip, rows, gathered);
    case 3:
      return PickRows<3>(form, flip, rows, gathered);
    default:
      return PickRows<4>(form, flip, rows, gathered);
  }
}

AICF_ISA_END
