/// Computes the decoder in f64 and without a cache.
#pragma once

#include <span>
#include <vector>

#include "tests/states/decoder_weights.h"

namespace aicf::states {

/// The logits [kTokens] after the last of `tokens`, from the whole sequence.
std::vector<double> LogitsAfter(const Decoder& decoder, std::span<const int64_t> tokens);

/// How far logits in f32 may lie from LogitsAfter, over the largest logit. A product of n terms
/// rounds n times, by half a unit of f32 each; the longest chain of products goes through every
/// layer (q or k, scores, values, o, gate, down: their lengths add up) and the head. A relative
/// error in what a layer reads becomes one in what it adds, so errors add up along the chain.
double LogitTolerance(size_t sequence);

}  // namespace aicf::states
