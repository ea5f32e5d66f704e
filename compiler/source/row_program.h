/// The program that samples are run on where an entry point's batch holds many of them.
#pragma once

#include <optional>

#include "compiler/buckets/buckets.h"
#include "compiler/ir/graph.h"
#include "compiler/options/compile_options.h"

namespace aicf {

/// The model with a batch of one row, lowered like the entry point `lowered`, which `bucket` binds.
/// The batch is the first axis of the first input, and of all others that have its extent, where
/// the model leaves it open. nullopt: no such axis, or one of a single row; the first row's results
/// depend on others (ir::CheckPrefix); or its products are others
/// (quantize::HaveSameProducts).
/// `model`: imported, with values not bound yet. Cost: that of preparing the model three times.
std::optional<ir::Lowered> RowProgram(const ir::Graph& model, const CompileOptions& options,
                                      const Bucket& bucket, const ir::Lowered& lowered);

}  // namespace aicf
