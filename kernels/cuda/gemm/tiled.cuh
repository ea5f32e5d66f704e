// cuda.gemm.tiled_MxN: tiles on the ordinary units, any dtype.
#pragma once

#include "common/tile_ffma.cuh"
#include "gemm/product.cuh"
