/// What samples said of one program, said of another that has the same products: a model made for
/// one row of a batch and for many of them, or for two lengths of a sequence.
#pragma once

#include "compiler/passes/quantize/calibration.h"
#include "compiler/passes/quantize/products.h"

namespace aicf::quantize {

/// Whether the k-th product that may multiply codes has the same weights in both programs and reads
/// the same one of the values, and the same may be assumed of these.
/// Cost: one comparison of the weights.
bool HaveSameProducts(const ir::Lowered& one, const ir::Lowered& other);

/// The record of program `from` as one of `to`. REQUIRES: HaveSameProducts; the record is of
/// `from`.
CalibratedEntry RecordFor(const ir::Lowered& to, const ir::Lowered& from, CalibratedEntry record);

}  // namespace aicf::quantize
