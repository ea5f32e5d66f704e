/// Transfers what samples said of one program to another program with the same products: the same
/// model made for one row of a batch and for many of them, or for two lengths of a sequence.
#pragma once

#include "compiler/passes/quantize/calibration.h"
#include "compiler/passes/quantize/products.h"

namespace aicf::quantize {

/// Whether both programs have the same products that may multiply codes: for every k, the k-th ones
/// have the same weights and read the same one of the values (by its number), and the same may be
/// assumed of the values.
/// Cost: one comparison of the weights.
bool HaveSameProducts(const ir::Lowered& one, const ir::Lowered& other);

/// The record of program `from` as one of `to`. REQUIRES: HaveSameProducts; the record is of
/// `from`.
CalibratedEntry RecordFor(const ir::Lowered& to, const ir::Lowered& from, CalibratedEntry record);

}  // namespace aicf::quantize
