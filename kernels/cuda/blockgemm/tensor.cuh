// cuda.blockgemm.tensor_MxN: tiles on tensor cores, with A and the decoded B rounded to 16 bits.
#pragma once

#include "common/tile_mma.cuh"

#include "blockgemm/product.cuh"
