// cuda.gemm.tiled_MxN: tiles on the ordinary units, any dtype.
#pragma once

#include "common/tile_ffma.cuh"

namespace aicf {
typedef In1 OperandB;
}

#include "gemm/product.cuh"
