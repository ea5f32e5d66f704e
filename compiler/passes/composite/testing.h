/// Test support: a graph with composites, given as text, is expanded, lowered and interpreted.
#pragma once

#include <gtest/gtest.h>

#include "compiler/ir/op_table.h"
#include "compiler/passes/graph/passes.h"
#include "compiler/passes/lower/testing.h"

namespace aicf::testing {

/// A list attribute of a node in the text form: "[1, 2]".
inline std::string ListText(const std::vector<int64_t>& values) {
  std::string out;
  for (int64_t v : values) out += StrCat(out.empty() ? "" : ", ", v);
  return StrCat("[", out, "]");
}

/// A node of one op under construction, as text with its inputs.
class CompositeCase {
 public:
  explicit CompositeCase(std::string op) : op_(std::move(op)) {}

  /// Appends an input; a constant one is known when the graph is expanded.
  CompositeCase& Input(const std::string& name, ir::Tensor tensor, bool constant = false) {
    declared_ +=
        StrCat("input %", name, ": ", DTypeName(tensor.dtype()), ShapeText(tensor.shape()), "\n");
    operands_ += StrCat(operands_.empty() ? "" : ", ", "%", name);
    (constant ? constants_ : feeds_).emplace(name, std::move(tensor));
    return *this;
  }
  CompositeCase& Absent() {
    operands_ += operands_.empty() ? "_" : ", _";
    return *this;
  }
  CompositeCase& Attr(const std::string& name, const std::string& value) {
    attrs_ += StrCat(attrs_.empty() ? "" : ", ", name, "=", value);
    return *this;
  }
  /// Appends an output; "_" for one that is left out.
  CompositeCase& Output(const std::string& name) {
    made_ += StrCat(made_.empty() ? "" : ", ", name == "_" ? "_" : StrCat("%", name, ": f32"));
    ++named_;
    if (name != "_") outputs_ += StrCat("output %", name, "\n");
    return *this;
  }
  /// Trailing absent inputs are dropped and missing outputs added, as an importer does.
  std::string Text() const {
    std::string operands = operands_, made = made_;
    while (operands.ends_with(", _")) operands.resize(operands.size() - 3);
    const int missing = ir::FindOp(op_)->outputs - named_;
    for (int i = 0; i < missing; ++i) made += ", _";
    return StrCat("graph \"g\" {\n", declared_, "(", made, ") = ", op_, "(", operands, ")",
                  attrs_.empty() ? "" : StrCat(" {", attrs_, "}"), " \"node\"\n", outputs_, "}");
  }

  Result<RunResult> Run() const {
    RunResult out;
    AICF_ASSIGN_OR_RETURN(out.graph, ir::ParseGraph(Text()));
    PassContext context;
    AICF_ASSIGN_OR_RETURN(context.device, abi::FindDevice("cpu:baseline"));
    context.decisions = &out.decisions;
    AICF_RETURN_IF_ERROR(BindValues(out.graph, constants_));
    AICF_RETURN_IF_ERROR(InferAndFold(out.graph, context));
    AICF_RETURN_IF_ERROR(Verify(out.graph));
    AICF_ASSIGN_OR_RETURN(out.lowered, LowerGraph(out.graph, context));
    AICF_RETURN_IF_ERROR(Verify(out.lowered));
    std::vector<ir::Tensor> fed;
    for (ir::BufferId b : out.lowered.inputs) fed.push_back(feeds_.at(out.lowered.buffers[b].name));
    AICF_ASSIGN_OR_RETURN(out.tensors, Interpret(out.lowered, fed));
    for (const ir::Tensor& t : out.tensors) out.outputs.push_back(ToArray(t));
    return out;
  }

 private:
  std::string op_, declared_, operands_, attrs_, made_, outputs_;
  int named_ = 0;
  std::map<std::string, ir::Tensor, std::less<>> feeds_, constants_;
};

/// Runs the case and compares one of its outputs with what is wanted, exactly by default.
inline void ExpectRun(const CompositeCase& c, const Array& want, size_t output = 0, double rtol = 0,
                      double atol = 0) {
  const auto run = c.Run();
  ASSERT_TRUE(run.ok()) << run.status().ToString() << c.Text();
  ExpectClose(run->outputs[output], want, rtol, atol, c.Text());
}

/// The error of a case that must be refused.
inline Status Refusal(const CompositeCase& c) {
  const auto run = c.Run();
  EXPECT_FALSE(run.ok()) << c.Text();
  return run.status();
}

/// x [B, L, heads * D] as [B, heads, L, D].
inline Array HeadsOf(const Array& x, int64_t heads) {
  if (x.shape.rank() == 4) return x;
  const int64_t size = x.shape[2] / heads;
  return Generate({x.shape[0], heads, x.shape[1], size}, [&](const Dims& at) {
    return x[{at[0], at[2], at[1] * size + at[3]}];
  });
}

/// x [B, H, L, D] as [B, L, H * D].
inline Array Merged(const Array& x) {
  const int64_t size = x.shape[3];
  return Generate({x.shape[0], x.shape[2], x.shape[1] * size}, [&](const Dims& at) {
    return x[{at[0], at[2] / size, at[1], at[2] % size}];
  });
}

/// a then b along axis 2 of rank 4.
inline Array Appended(const Array& a, const Array& b) {
  Dims shape = b.shape;
  shape[2] += a.shape[2];
  return Generate(shape, [&](Dims at) {
    if (at[2] < a.shape[2]) return a[at];
    at[2] -= a.shape[2];
    return b[at];
  });
}

}  // namespace aicf::testing
