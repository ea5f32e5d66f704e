// cuda.blockgemm.tiled_MxN: tiles on the ordinary floating-point units, in any math mode.
#pragma once

#include "common/tile_ffma.cuh"

#include "blockgemm/product.cuh"
