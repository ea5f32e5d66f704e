// Products of com.microsoft: a product with what a graph optimiser folded into it.
#include "base/scanner.h"
#include "compiler/passes/composite/activation.h"
#include "compiler/passes/composite/composer.h"
#include "compiler/passes/composite/composites.h"

namespace aicf {
namespace {

// An operand in the form that MatMul reads. `transposed`: its rows and columns are exchanged.
// `batch`: its rows come in front of the batch axes.
ir::ValueId Matrix(Composer& c, ir::ValueId v, bool transposed, bool batch) {
  const int rank = c.Shape(v).rank();
  if (rank < 2 || (!transposed && !batch)) return v;
  std::vector<int64_t> perm;
  for (int i = 0; i < rank; ++i) perm.push_back(i);
  if (batch) {
    perm.erase(perm.begin());
    perm.insert(perm.end() - 1, 0);
  }
  if (transposed) std::swap(perm[rank - 2], perm[rank - 1]);
  return c.Transpose(v, std::move(perm));
}

bool Flag(const Composer& c, std::string_view name) { return c.node().Int(name, 0) != 0; }

ir::ValueId PlainProduct(Composer& c) {
  const ir::ValueId a = Matrix(c, c.In(0), Flag(c, "transA"), Flag(c, "transBatchA"));
  const ir::ValueId b = Matrix(c, c.In(1), Flag(c, "transB"), Flag(c, "transBatchB"));
  return c.Scaled(c.MatMul(a, b), c.node().Float("alpha", 1));
}

// The attributes activation_alpha, _beta and _gamma, as far as they are given.
std::vector<double> NamedParameters(const Composer& c) {
  std::vector<double> out;
  for (std::string_view name : {"activation_alpha", "activation_beta", "activation_gamma"}) {
    if (c.node().Has(name)) out.push_back(c.node().Float(name, 0));
  }
  return out;
}

ir::AttrMap Only(const Composer& c, std::initializer_list<std::string_view> names) {
  ir::AttrMap out;
  for (std::string_view name : names) {
    const auto it = c.node().attrs.find(name);
    if (it != c.node().attrs.end()) out.insert(*it);
  }
  return out;
}

std::vector<ir::ValueId> Present(const Composer& c, size_t count) {
  std::vector<ir::ValueId> out;
  for (size_t i = 0; i < count && c.Has(i); ++i) out.push_back(c.In(i));
  return out;
}

}  // namespace

Status ExpandFusedMatMul(Composer& c) {
  c.Output(0, PlainProduct(c));
  return c.status();
}

Status ExpandFusedMatMulActivation(Composer& c) {
  const std::string name = c.node().Str("activation", "");
  if (name == "Softmax") return Error(Code::kUnsupported, "activation \"Softmax\"");
  c.Output(0, Activate(c, PlainProduct(c), name, NamedParameters(c)));
  return c.status();
}

Status ExpandFusedGemm(Composer& c) {
  const ir::ValueId y = c.Op("Gemm", Present(c, 3), Only(c, {"alpha", "beta", "transA", "transB"}));
  c.Output(0, Activate(c, y, c.node().Str("activation", ""), NamedParameters(c)));
  return c.status();
}

Status ExpandGemmFastGelu(Composer& c) {
  ir::ValueId y = c.MatMul(c.In(0), c.In(1));
  if (c.Has(2)) y = c.Add(y, c.In(2));
  c.Output(0, c.Op("Gelu", {y}, {{"approximate", std::string("tanh")}}));
  return c.status();
}

Status ExpandFusedConv(Composer& c) {
  ir::ValueId y =
      c.Op("Conv", Present(c, 3),
           Only(c, {"auto_pad", "dilations", "group", "kernel_shape", "pads", "strides"}));
  if (c.Has(3)) y = c.Add(y, c.In(3));
  std::vector<double> parameters;
  const auto given = c.node().attrs.find("activation_params");
  if (given != c.node().attrs.end()) parameters = std::get<std::vector<double>>(given->second);
  c.Output(0, Activate(c, y, c.node().Str("activation", ""), parameters));
  return c.status();
}

}  // namespace aicf
