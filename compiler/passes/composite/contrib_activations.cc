// Activations of com.microsoft: the forms that exporters and graph optimisers put a Gelu in.
#include "base/scanner.h"
#include "compiler/passes/composite/activation.h"
#include "compiler/passes/composite/composer.h"
#include "compiler/passes/composite/composites.h"

namespace aicf {
namespace {

ir::ValueId Gelu(Composer& c, ir::ValueId x, std::string approximate) {
  return c.Op("Gelu", {x}, {{"approximate", std::move(approximate)}});
}

}  // namespace

ir::ValueId Activate(Composer& c, ir::ValueId x, std::string_view name,
                     const std::vector<double>& parameters) {
  struct Form {
    std::string_view name;
    std::vector<std::string_view> attributes;
  };
  static const Form kForms[] = {{"", {}},
                                {"Elu", {"alpha"}},
                                {"Gelu", {}},
                                {"HardSigmoid", {"alpha", "beta"}},
                                {"HardSwish", {}},
                                {"LeakyRelu", {"alpha"}},
                                {"Relu", {}},
                                {"Selu", {"alpha", "gamma"}},
                                {"Sigmoid", {}},
                                {"Softplus", {}},
                                {"Softsign", {}},
                                {"Tanh", {}},
                                {"ThresholdedRelu", {"alpha"}}};
  if (name == "Clip" && parameters.size() == 2) {
    return c.Op("Clip",
                {x, c.Scalar(parameters[0], c.Type(x)), c.Scalar(parameters[1], c.Type(x))});
  }
  for (const Form& form : kForms) {
    if (form.name != name || parameters.size() > form.attributes.size()) continue;
    if (name.empty()) return x;
    ir::AttrMap attrs;
    for (size_t i = 0; i < parameters.size(); ++i) {
      attrs.emplace(form.attributes[i], parameters[i]);
    }
    return c.Op(name, {x}, std::move(attrs));
  }
  c.Fail(Error(Code::kUnsupported, "activation ", Quote(std::string(name)), " with ",
               parameters.size(), " parameters"));
  return ir::kNoValue;
}

Status ExpandContribGelu(Composer& c) {
  c.Output(0, Gelu(c, c.In(0), "none"));
  return c.status();
}

Status ExpandFastGelu(Composer& c) {
  c.Output(0, Gelu(c, c.Has(1) ? c.Add(c.In(0), c.In(1)) : c.In(0), "tanh"));
  return c.status();
}

Status ExpandQuickGelu(Composer& c) {
  // The attribute's default as the f32 that a file would hold.
  const double alpha = c.node().Float("alpha", static_cast<double>(1.702f));
  c.Output(0, c.Op("Swish", {c.In(0)}, {{"alpha", alpha}}));
  return c.status();
}

Status ExpandBiasGelu(Composer& c) {
  c.Output(0, Gelu(c, c.Add(c.In(0), c.In(1)), "none"));
  return c.status();
}

Status ExpandBiasSplitGelu(Composer& c) {
  const Dims shape = c.Shape(c.In(0));
  if (shape.rank() != 3 || shape[2] % 2 != 0) {
    return Error(Code::kBadModel, "its input is ", ToString(shape),
                 ", expected rank 3 and an even last extent");
  }
  const int64_t half = shape[2] / 2;
  const ir::ValueId x = c.Add(c.In(0), c.In(1));
  c.Output(0, c.Mul(c.Window(x, 2, 0, half), Gelu(c, c.Window(x, 2, half, half), "none")));
  return c.status();
}

Status ExpandBiasAdd(Composer& c) {
  c.Output(0, c.Add(c.Add(c.In(0), c.In(1)), c.In(2)));
  return c.status();
}

}  // namespace aicf
