/// What every shape rule needs: access to a node's inputs, checked setting of its outputs, and the
/// wording of refusals.
#pragma once

#include "base/checked.h"
#include "base/scanner.h"
#include "compiler/ir/infer/infer.h"

namespace aicf::ir {

template <class... Pieces>
Status BadNode(const Pieces&... pieces) {
  return Error(Code::kBadModel, pieces...);
}

/// REQUIRES: the input is present.
inline const Value& In(const Graph& graph, const Node& node, size_t i) {
  return graph.values[node.inputs[i]];
}
inline const Dims& InShape(const Graph& graph, const Node& node, size_t i) {
  return In(graph, node, i).shape;
}
inline bool HasInput(const Node& node, size_t i) { return node.input(i) != kNoValue; }

/// Sets dtype and shape of output i. Errors: kBadModel when the shape's size does not fit int64.
Status SetOutput(Graph& graph, const Node& node, size_t i, DType dtype, const Dims& shape);

/// Errors: kUnsupported above kMaxRank.
Status CheckRank(int64_t rank);

/// Errors: kBadModel when inputs a and b differ in dtype.
Status CheckSameDType(const Graph& graph, const Node& node, size_t a, size_t b);

enum DTypeMask : unsigned {
  kFloats = 1,
  kSigned = 2,
  kUnsigned = 4,
  kBools = 8,
  kIntegers = kSigned | kUnsigned,
  kNumbers = kFloats | kIntegers,
  kAny = kNumbers | kBools,
};
/// Errors: kBadModel when input i's dtype is not of a kind in `mask`, or is one that is only stored
/// (base/dtype.h) and the mask is not kAny.
Status CheckDType(const Graph& graph, const Node& node, size_t i, unsigned mask);

/// Ascending without duplicates in [0, rank). `what` names the list in errors.
Result<Dims> NormalizeAxes(const std::vector<int64_t>& axes, int rank,
                           std::string_view what = "axes");

/// Dims from a list that comes from the model. Errors: kUnsupported above kMaxRank.
Result<Dims> ToDims(const std::vector<int64_t>& values);

/// Like ConstantInts, for an input that must be there.
Result<std::vector<int64_t>> RequiredInts(const Graph& graph, const Node& node, size_t input,
                                          std::string_view what);

}  // namespace aicf::ir
