// cuda.gemm.tensor_MxN: tiles on tensor cores.
#pragma once

#include "common/tile_mma.cuh"
#include "gemm/packed_b.cuh"

#include "gemm/product.cuh"
