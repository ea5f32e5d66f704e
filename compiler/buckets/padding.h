/// Which input axes of an entry point may hold fewer positions than it is compiled for.
#pragma once

#include <vector>

#include "base/status.h"
#include "compiler/buckets/buckets.h"
#include "compiler/ir/graph.h"
#include "compiler/passes/pass.h"
#include "schema/program.h"

namespace aicf {

/// Looks at every extent that the model leaves open: axes that share a symbol are padded together,
/// as are unnamed axes that have equal extents in every entry point. Where that proves nothing of
/// unnamed axes, each is looked at by itself.
///
/// Independence of what is padded is not enough: a model may compute with its own extents (a mean
/// as a sum over a Shape). So the model is prepared at each smaller extent as well, and each of
/// these graphs is proven to compute a prefix of what the entry point's graph does
/// (ir::CheckPrefix). The record reaches as far down as was looked at, without gaps; the
/// combinations of several paddings are looked at too. How many graphs may be prepared follows from
/// the model's size, so that equal models give equal records.
///
/// `model`: imported, with values bound; `shapes`: InputShapes. Records one "bucket" decision per
/// open extent: from where on it may be padded, or the op that forbids it.
/// Errors: those of preparing the entry point itself.
Result<std::vector<schema::Padding>> ProvePaddings(const ir::Graph& model,
                                                   const std::vector<std::vector<Dims>>& shapes,
                                                   size_t entry, PassContext& context);

}  // namespace aicf
