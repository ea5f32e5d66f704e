/// Extents that only a run decides.
///
/// A value always has its largest possible shape. The op aicf.Counted says of a value that, along
/// one axis, only the first `count` positions hold data, `count` being an i64 of one element
/// computed at run time; what lies beyond is arbitrary. An op that reads such a value either works
/// on every position by itself, so that its result is counted alike, or is refused: the rules of
/// all ops stand in dynamic_extent.cc and nowhere else. A counted graph output is exported with its
/// count.
#pragma once

#include <map>

#include "base/status.h"
#include "compiler/ir/graph.h"

namespace aicf::ir {

inline constexpr std::string_view kCounted = "aicf.Counted";

struct DynamicExtent {
  int axis = 0;
  ValueId count = kNoValue;
  friend bool operator==(const DynamicExtent&, const DynamicExtent&) = default;
};

/// Derived by one walk over the nodes in order; never stored in a graph.
class DynamicExtents {
 public:
  /// Takes one node, whose inputs were visited and whose outputs have shapes.
  /// Errors: kUnsupported naming op and value, when the op would see what lies beyond the count.
  Status Visit(const Graph& graph, const Node& node);
  /// nullptr: every position of the value holds data.
  const DynamicExtent* Of(ValueId value) const;

 private:
  std::map<ValueId, DynamicExtent> extents_;
};

/// All nodes of a graph.
Result<DynamicExtents> FindDynamicExtents(const Graph& graph);

}  // namespace aicf::ir
