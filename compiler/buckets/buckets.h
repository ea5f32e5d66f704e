/// The entry points that one compilation makes: the model at several bound sets of shapes.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace aicf {

/// Shapes by input name, as given for --shapes and --bucket.
using ShapeMap = std::map<std::string, Dims, std::less<>>;

/// One entry point: its name in the artifact, and what it binds. Inputs that the model itself gives
/// a shape need not be named.
struct Bucket {
  std::string name;
  ShapeMap shapes;
};

/// "main" where shapes are given or there is no bucket, then the buckets in their order.
/// Errors: kInvalidArgument for a name that is empty, given twice or "main" beside a main.
Result<std::vector<Bucket>> EntryPointsOf(const ShapeMap& shapes,
                                          const std::vector<Bucket>& buckets);

/// The shapes of all of the model's inputs in each entry point, in the model's order.
/// Errors: those of BindShapes, naming the bucket; kInvalidArgument for two of equal shapes, of
/// which one could never be chosen.
Result<std::vector<std::vector<Dims>>> InputShapes(const ir::Graph& model,
                                                   const std::vector<Bucket>& entries);

/// "bucket 'b6'"; "" where the compilation has no buckets, so that the entry point is the only one.
std::string EntryLabel(const std::vector<Bucket>& buckets, const Bucket& entry);

}  // namespace aicf
