#include "tests/passes/random_graph.h"

#include <algorithm>
#include <numeric>

#include "compiler/ir/infer/infer.h"

namespace aicf {
namespace {

ir::Value MakeValue(std::string name, DType dtype, const Dims& shape) {
  ir::Value v;
  v.name = std::move(name);
  v.dtype = dtype;
  v.shape = shape;
  v.shape_known = true;
  return v;
}

}  // namespace

int64_t RandomGraph::Int(int64_t low, int64_t high) {
  return std::uniform_int_distribution<int64_t>(low, high)(rng_);
}

Dims RandomGraph::Shape(int rank) {
  Dims shape;
  while (shape.rank() < rank) shape.push_back(Int(1, 4));
  return shape;
}

ir::ValueId RandomGraph::Input() {
  const Dims shape = Shape(static_cast<int>(Int(2, 4)));
  const ir::ValueId id = g_.AddValue(MakeValue(StrCat("in", g_.values.size()), DType::kF32, shape));
  g_.inputs.push_back(id);
  floats_.push_back(id);
  return id;
}

ir::ValueId RandomGraph::Constant(const Dims& shape) {
  std::vector<float> values(static_cast<size_t>(*ElementCount(shape)));
  for (float& v : values) v = static_cast<float>(Int(-8, 8)) / 8;
  ir::Value v = MakeValue(StrCat("c", g_.values.size()), DType::kF32, shape);
  v.constant = ir::Tensor::FromValues<float>(DType::kF32, shape, values);
  return g_.AddValue(std::move(v));
}

ir::ValueId RandomGraph::IntConstant(const std::vector<int64_t>& values) {
  const Dims shape{static_cast<int64_t>(values.size())};
  ir::Value v = MakeValue(StrCat("i", g_.values.size()), DType::kI64, shape);
  v.constant = ir::Tensor::FromValues<int64_t>(DType::kI64, shape, values);
  return g_.AddValue(std::move(v));
}

ir::ValueId RandomGraph::Any() {
  // Recent values are likelier, so that chains form.
  const auto last = static_cast<int64_t>(floats_.size()) - 1;
  return floats_[static_cast<size_t>(std::max(Int(0, last), Int(0, last)))];
}

ir::ValueId RandomGraph::AnyOfRank(int rank) {
  for (int tries = 0; tries < 8; ++tries) {
    const ir::ValueId id = Any();
    if (g_.values[id].shape.rank() == rank) return id;
  }
  return ir::kNoValue;
}

void RandomGraph::Add(std::string_view op, Ids inputs, ir::AttrMap attrs, int outputs) {
  ir::Node node;
  node.op = op;
  node.name = StrCat(op, g_.nodes.size());
  node.inputs = std::move(inputs);
  node.attrs = std::move(attrs);
  for (int i = 0; i < outputs; ++i) {
    node.outputs.push_back(g_.AddValue(MakeValue(StrCat("v", g_.values.size()), DType::kF32, {})));
  }
  if (!ir::InferNode(g_, node).ok()) return;  // the combination is not legal: no node
  for (ir::ValueId out : node.outputs) {
    const int64_t count = *ElementCount(g_.values[out].shape);
    if (count > 0 && count < 2000) floats_.push_back(out);
  }
  g_.nodes.push_back(std::move(node));
}

void RandomGraph::Unary() {
  static constexpr std::string_view kOps[] = {"Relu", "Neg",       "Sigmoid", "Tanh",
                                              "Abs",  "HardSwish", "Identity"};
  Add(kOps[Int(0, std::size(kOps) - 1)], {Any()});
}

void RandomGraph::Binary() {
  static constexpr std::string_view kOps[] = {"Add", "Mul", "Sub", "Max"};
  const ir::ValueId a = Any();
  ir::ValueId b = Any();
  const Dims& shape = g_.values[a].shape;
  if (!BroadcastShapes(shape, g_.values[b].shape) || Int(0, 2) == 0) {
    Dims other = shape;
    for (int64_t& e : other) e = Int(0, 1) == 0 ? 1 : e;
    b = Constant(Int(0, 2) == 0 ? Dims{} : other);
  }
  Add(kOps[Int(0, std::size(kOps) - 1)], {a, b});
}

void RandomGraph::Transpose() {
  const ir::ValueId x = Any();
  std::vector<int64_t> perm(g_.values[x].shape.rank());
  std::iota(perm.begin(), perm.end(), 0);
  std::shuffle(perm.begin(), perm.end(), rng_);
  Add("Transpose", {x}, {{"perm", perm}});
}

void RandomGraph::Reshape() {
  const ir::ValueId x = Any();
  int64_t left = *ElementCount(g_.values[x].shape);
  std::vector<int64_t> shape;
  while (shape.size() < 3) {
    int64_t factor = Int(1, left);
    while (left % factor != 0) --factor;
    shape.push_back(factor);
    left /= factor;
  }
  shape.push_back(left);
  Add("Reshape", {x, IntConstant(shape)});
}

void RandomGraph::Slice() {
  const ir::ValueId x = Any();
  const Dims& shape = g_.values[x].shape;
  if (shape.empty()) return;
  const int64_t axis = Int(0, shape.rank() - 1);
  const int64_t extent = shape[static_cast<int>(axis)];
  const int64_t start = Int(0, extent - 1);
  const bool back = Int(0, 3) == 0;
  const int64_t end = back ? -extent - 1 : Int(start + 1, extent);
  Add("Slice", {x, IntConstant({start}), IntConstant({end}), IntConstant({axis}),
                IntConstant({back ? -1 : Int(1, 2)})});
}

void RandomGraph::Concat() {
  const ir::ValueId x = Any();
  if (g_.values[x].shape.empty()) return;
  Ids pieces{x};
  for (ir::ValueId other : floats_) {
    if (pieces.size() < 4 && g_.values[other].shape == g_.values[x].shape && Int(0, 1) == 0) {
      pieces.push_back(other);
    }
  }
  Add("Concat", pieces, {{"axis", Int(0, g_.values[x].shape.rank() - 1)}});
}

void RandomGraph::Split() {
  const ir::ValueId x = Any();
  const Dims& shape = g_.values[x].shape;
  if (shape.empty()) return;
  const int64_t axis = Int(0, shape.rank() - 1);
  const int64_t first = Int(0, shape[static_cast<int>(axis)]);
  Add("Split", {x, IntConstant({first, shape[static_cast<int>(axis)] - first})}, {{"axis", axis}},
      2);
}

void RandomGraph::Reduce() {
  static constexpr std::string_view kOps[] = {"ReduceMean", "ReduceMax", "ReduceL2",
                                              "ReduceSumSquare"};
  const ir::ValueId x = Any();
  if (g_.values[x].shape.empty()) return;
  Add(kOps[Int(0, std::size(kOps) - 1)], {x, IntConstant({Int(0, g_.values[x].shape.rank() - 1)})},
      {{"keepdims", Int(0, 1)}});
}

void RandomGraph::Softmax() {
  const ir::ValueId x = Any();
  if (!g_.values[x].shape.empty())
    Add("Softmax", {x}, {{"axis", Int(0, g_.values[x].shape.rank() - 1)}});
}

void RandomGraph::MatMul() {
  const ir::ValueId x = Any();
  if (!g_.values[x].shape.empty())
    Add("MatMul", {x, Constant({g_.values[x].shape.back(), Int(1, 5)})});
}

void RandomGraph::Conv() {
  const ir::ValueId x = AnyOfRank(4);
  if (x == ir::kNoValue) return;
  const int64_t outputs = Int(1, 4);
  const int64_t kernel = Int(0, 1) == 0 ? 1 : 3;
  const int64_t pad = kernel / 2;
  Ids inputs{x, Constant({outputs, g_.values[x].shape[1], kernel, kernel})};
  if (Int(0, 1) == 0) inputs.push_back(Constant({outputs}));
  Add("Conv", inputs, {{"pads", std::vector<int64_t>(4, pad)}});
}

void RandomGraph::Pool() {
  const ir::ValueId x = AnyOfRank(4);
  if (x == ir::kNoValue) return;
  Add(Int(0, 1) == 0 ? "MaxPool" : "AveragePool", {x},
      {{"kernel_shape", std::vector<int64_t>{2, 2}}, {"pads", std::vector<int64_t>{1, 0, 1, 0}}});
}

void RandomGraph::Expand() {
  const ir::ValueId x = Any();
  Dims shape = g_.values[x].shape;
  for (int64_t& e : shape) e = e == 1 ? Int(1, 3) : e;
  Add("Expand", {x, IntConstant(std::vector<int64_t>(shape.begin(), shape.end()))});
}

void RandomGraph::Pad() {
  const ir::ValueId x = Any();
  std::vector<int64_t> pads(2 * g_.values[x].shape.rank());
  for (int64_t& p : pads) p = Int(-1, 1);
  Add("Pad", {x, IntConstant(pads)},
      {{"mode", Int(0, 1) == 0 ? std::string("edge") : std::string("constant")}});
}

void RandomGraph::Gather() {
  const ir::ValueId x = Any();
  if (g_.values[x].shape.empty()) return;
  const int64_t axis = Int(0, g_.values[x].shape.rank() - 1);
  std::vector<int64_t> picks;
  for (int i = 0; i < 3; ++i)
    picks.push_back(Int(0, g_.values[x].shape[static_cast<int>(axis)] - 1));
  Add("Gather", {x, IntConstant(picks)}, {{"axis", axis}});
}

void RandomGraph::AddOne() {
  using Maker = void (RandomGraph::*)();
  static constexpr Maker kMakers[] = {
      &RandomGraph::Unary,  &RandomGraph::Unary,   &RandomGraph::Unary,     &RandomGraph::Binary,
      &RandomGraph::Binary, &RandomGraph::Binary,  &RandomGraph::Transpose, &RandomGraph::Reshape,
      &RandomGraph::Slice,  &RandomGraph::Concat,  &RandomGraph::Concat,    &RandomGraph::Split,
      &RandomGraph::Reduce, &RandomGraph::Softmax, &RandomGraph::MatMul,    &RandomGraph::Conv,
      &RandomGraph::Conv,   &RandomGraph::Pool,    &RandomGraph::Expand,    &RandomGraph::Pad,
      &RandomGraph::Gather};
  (this->*kMakers[Int(0, std::size(kMakers) - 1)])();
}

ir::Graph RandomGraph::Make(int nodes) {
  for (int64_t i = Int(1, 2); i > 0; --i) Input();
  for (int i = 0; i < nodes; ++i) AddOne();
  for (int64_t i = Int(1, 3); i > 0; --i) {
    const ir::ValueId out = i == 1 ? floats_.back() : Any();
    if (std::find(g_.outputs.begin(), g_.outputs.end(), out) == g_.outputs.end())
      g_.outputs.push_back(out);
  }
  return g_;
}

}  // namespace aicf
