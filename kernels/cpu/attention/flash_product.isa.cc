// A tile's products, on the register tiles of the gemm family.
#include "kernels/cpu/attention/flash_parts.h"
#include "kernels/cpu/gemm/microkernel.h"

AICF_ISA_BEGIN

void MultiplyTile(const float* a, int64_t a_pitch, int64_t rows, int64_t depth, const float* b,
                  int64_t b_pitch, int64_t columns, float* c, int64_t c_pitch) {
  static constexpr float kZeros[2 * kLanes] = {};
  constexpr int64_t kRows = kTileRows[1], kColumns = 2 * kLanes;
  for (int64_t column = 0; column < columns; column += kColumns) {
    const int vectors = columns - column >= kColumns ? 2 : 1;
    const TileTap tap{0, b + column};
    TileCall call{};
    call.taps = &tap;
    call.tap_count = 1;
    call.row_stride = a_pitch;
    call.depth = depth;
    call.b_stride = b_pitch;
    call.start = kZeros;
    call.out_stride = c_pitch;
    call.last = FirstLanes(kLanes);
    for (int64_t row = 0; row < rows; row += kRows) {
      call.x = a + row * a_pitch;
      call.out = c + row * c_pitch + column;
      FindTile(vectors, static_cast<int>(rows - row < kRows ? rows - row : kRows), false)(call);
    }
  }
}

AICF_ISA_END
