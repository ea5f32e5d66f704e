#include "compiler/buckets/buckets.h"

#include <set>

#include "base/utf8.h"
#include "compiler/passes/graph/passes.h"

namespace aicf {

Result<std::vector<Bucket>> EntryPointsOf(const ShapeMap& shapes,
                                          const std::vector<Bucket>& buckets) {
  std::vector<Bucket> entries;
  if (!shapes.empty() || buckets.empty()) {
    entries.push_back({"main", shapes});
  }
  entries.insert(entries.end(), buckets.begin(), buckets.end());
  std::set<std::string_view> names;
  for (const Bucket& entry : entries) {
    if (entry.name.empty() || !IsCleanText(entry.name)) {
      return Error(Code::kInvalidArgument, "a bucket has no name, or one that is no text");
    }
    if (names.insert(entry.name).second) continue;
    return Error(Code::kInvalidArgument, "bucket '", entry.name, "' is given twice",
                 entry.name == "main" ? "; the shapes without a name are 'main'" : "");
  }
  return entries;
}

Result<std::vector<std::vector<Dims>>> InputShapes(const ir::Graph& model,
                                                   const std::vector<Bucket>& entries) {
  std::vector<std::vector<Dims>> all;
  for (const Bucket& entry : entries) {
    ir::Graph bound = model;
    const Status status = BindShapes(bound, entry.shapes);
    if (!status.ok()) return status.WithContext(StrCat("bucket '", entry.name, "'"));
    std::vector<Dims> shapes;
    for (ir::ValueId id : bound.inputs) shapes.push_back(bound.values[id].shape);
    for (size_t e = 0; e < all.size(); ++e) {
      if (all[e] != shapes) continue;
      return Error(Code::kInvalidArgument, "bucket '", entry.name, "' has the shapes of '",
                   entries[e].name, "'");
    }
    all.push_back(std::move(shapes));
  }
  return all;
}

std::string EntryLabel(const std::vector<Bucket>& buckets, const Bucket& entry) {
  return buckets.empty() ? "" : StrCat("bucket '", entry.name, "'");
}

}  // namespace aicf
