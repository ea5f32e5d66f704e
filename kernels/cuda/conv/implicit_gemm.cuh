// cuda.conv.implicit_gemm_MxN: tiles on the ordinary units, any dtype.
#pragma once

#include "common/tile_ffma.cuh"
#include "conv/product.cuh"
