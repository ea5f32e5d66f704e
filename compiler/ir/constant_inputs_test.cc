// Which graph inputs have to be bound, followed backwards through the nodes that read them. The
// graphs are as an importer leaves them: shapes are not known yet.
#include "compiler/ir/constant_inputs.h"

#include <gtest/gtest.h>

#include <memory>

namespace aicf::ir {
namespace {

class Builder {
 public:
  ValueId Input(const std::string& name) {
    const ValueId id = Value(name);
    graph_.inputs.push_back(id);
    return id;
  }
  ValueId Value(const std::string& name) {
    ir::Value value;
    value.name = name;
    return graph_.AddValue(std::move(value));
  }
  ValueId Node(const std::string& op, std::vector<ValueId> inputs, std::vector<Body> bodies = {}) {
    ir::Node node;
    node.op = op;
    node.inputs = std::move(inputs);
    node.outputs = {Value(op + std::to_string(graph_.values.size()))};
    node.bodies = std::move(bodies);
    graph_.nodes.push_back(std::move(node));
    return graph_.nodes.back().outputs[0];
  }
  std::string Needed() const {
    std::string names;
    for (ValueId id : InputsToBind(graph_)) names += graph_.values[id].name + " ";
    return names;
  }
  std::shared_ptr<const Graph> Finish(std::vector<ValueId> outputs) {
    graph_.outputs = std::move(outputs);
    return std::make_shared<const Graph>(graph_);
  }

 private:
  Graph graph_;
};

TEST(ConstantInputs, DirectReadersDecide) {
  Builder b;
  const ValueId x = b.Input("x"), s = b.Input("s"), p = b.Input("p"), v = b.Input("v");
  b.Node("Pad", {b.Node("Reshape", {x, s}), p, v});
  EXPECT_EQ(b.Needed(), "s p ");
}

TEST(ConstantInputs, ValuesAreFollowedThroughArithmeticButNotThroughShapes) {
  Builder b;
  const ValueId x = b.Input("x"), a = b.Input("a"), c = b.Input("c"), z = b.Input("z");
  const ValueId count = b.Node("Add", {b.Node("Mul", {a, c}), b.Node("Shape", {z})});
  b.Node("Tile", {x, count});
  EXPECT_EQ(b.Needed(), "a c ");
}

TEST(ConstantInputs, NothingIsNeededWhereShapesAreGiven) {
  Builder b;
  const ValueId x = b.Input("x"), y = b.Input("y");
  b.Node("Exp", {b.Node("Add", {x, y})});
  EXPECT_EQ(b.Needed(), "");
}

TEST(ConstantInputs, BodiesCapture) {
  Builder inner;
  const ValueId x = inner.Value("x"), s = inner.Value("s");
  const std::shared_ptr<const Graph> branch = inner.Finish({inner.Node("Expand", {x, s})});
  Builder b;
  const ValueId condition = b.Input("condition"), data = b.Input("data"), shape = b.Input("shape");
  b.Node("If", {condition}, {{"then_branch", branch, {{x, data}, {s, shape}}}});
  EXPECT_EQ(b.Needed(), "shape ");
}

TEST(ConstantInputs, ALoopThatStacksNeedsItsCondition) {
  Builder inner;
  const ValueId count = inner.Input("i"), going = inner.Input("going"), sum = inner.Input("sum");
  const ValueId next = inner.Node("Add", {sum, count});
  const std::shared_ptr<const Graph> body = inner.Finish({going, next, next});
  Builder b;
  const ValueId trips = b.Input("trips"), start = b.Input("start"), data = b.Input("data");
  b.Node("Loop", {trips, start, data}, {{"body", body, {}}});
  EXPECT_EQ(b.Needed(), "trips start ");
}

}  // namespace
}  // namespace aicf::ir
