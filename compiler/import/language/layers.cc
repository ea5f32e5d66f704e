#include "compiler/import/language/layers.h"

#include <algorithm>

#include "compiler/ir/block_nodes.h"

namespace aicf::language {
namespace {

ir::Tensor BytesTensor(const Weight& weight) {
  const auto row = static_cast<int64_t>(weight.bytes.size()) / weight.shape[0];
  return {DType::kU8, {weight.shape[0], row}, weight.bytes, weight.owner};
}

ir::Tensor FloatTensor(const Weight& weight) {
  return {DType::kF32, weight.shape, weight.bytes, weight.owner};
}

std::string FormatName(const Weight& weight) { return std::string(InfoOf(weight.format).name); }

bool SameFormat(const std::vector<const Weight*>& parts) {
  return std::ranges::all_of(parts, [&](const Weight* p) { return p->format == parts[0]->format; });
}

}  // namespace

Result<ValueId> Layers::Vector(const std::string& role) {
  const Weight& weight = *model_.Find(role);
  AICF_ASSIGN_OR_RETURN(const std::vector<float> values, Decode(weight));
  return w_.Floats(role, values, weight.shape);
}

Result<ValueId> Layers::Norm(const std::string& role, ValueId x) {
  if (!Has(role)) return x;
  AICF_ASSIGN_OR_RETURN(const ValueId scale, Vector(role));
  std::vector<ValueId> inputs = {x, scale};
  if (model_.norm == language::Norm::kLayer && Has(role + ".bias")) {
    AICF_ASSIGN_OR_RETURN(const ValueId bias, Vector(role + ".bias"));
    inputs.push_back(bias);
  }
  const bool rms = model_.norm == language::Norm::kRms;
  return w_.Op(rms ? "RMSNormalization" : "LayerNormalization", inputs,
               {{"axis", int64_t{-1}}, {"epsilon", model_.epsilon}});
}

Result<ValueId> Layers::Joined(ValueId x, const std::vector<const Weight*>& parts,
                               const std::string& name) {
  const Weight all = parts.size() == 1 ? *parts[0] : JoinRows(parts);
  if (all.format == BlockFormat::kF32) {
    const ValueId matrix = w_.Constant(name, FloatTensor(all));
    return w_.Op("MatMul", {x, w_.Transpose(matrix, {1, 0})});
  }
  const ValueId blocks = w_.Constant(name, BytesTensor(all));
  return w_.Op(ir::kBlockMatMul, {x, blocks}, {{"format", FormatName(all)}});
}

Result<ValueId> Layers::Biased(ValueId y, const std::vector<std::string>& roles) {
  if (std::ranges::none_of(roles, [&](const std::string& r) { return Has(r + ".bias"); })) return y;
  std::vector<float> all;
  for (const std::string& role : roles) {
    const auto rows = static_cast<size_t>(model_.Find(role)->shape[0]);
    std::vector<float> bias(rows);
    if (Has(role + ".bias")) {
      AICF_ASSIGN_OR_RETURN(bias, Decode(*model_.Find(role + ".bias")));
    }
    all.insert(all.end(), bias.begin(), bias.end());
  }
  const Dims shape = {static_cast<int64_t>(all.size())};
  return w_.Add(y, w_.Floats(roles[0] + ".bias", all, shape));
}

Result<ValueId> Layers::Product(ValueId x, const std::vector<std::string>& roles) {
  std::vector<const Weight*> parts;
  for (const std::string& role : roles) parts.push_back(model_.Find(role));
  if (SameFormat(parts)) {
    AICF_ASSIGN_OR_RETURN(const ValueId y, Joined(x, parts, roles[0]));
    return Biased(y, roles);
  }
  std::vector<ValueId> results;
  for (size_t i = 0; i < roles.size(); ++i) {
    AICF_ASSIGN_OR_RETURN(const ValueId y, Joined(x, {parts[i]}, roles[i]));
    AICF_ASSIGN_OR_RETURN(const ValueId biased, Biased(y, {roles[i]}));
    results.push_back(biased);
  }
  return w_.Concat(results, -1);
}

Result<ValueId> Layers::Rows(const std::string& role, ValueId indices) {
  const Weight& weight = *model_.Find(role);
  if (weight.format == BlockFormat::kF32) {
    return w_.Op("Gather", {w_.Constant(role, FloatTensor(weight)), indices});
  }
  const ValueId rows = w_.Op("Gather", {w_.Constant(role, BytesTensor(weight)), indices});
  return w_.Op(ir::kDequantizeBlocks, {rows}, {{"format", FormatName(weight)}});
}

ValueId Layers::Activated(ValueId x) {
  switch (model_.activation) {
    case Activation::kSilu:
      return w_.Op("Swish", {x});
    case Activation::kGelu:
      return w_.Op("Gelu", {x});
    case Activation::kGeluTanh:
      break;
  }
  return w_.Op("Gelu", {x}, {{"approximate", std::string("tanh")}});
}

Result<ValueId> Layers::FeedForward(int64_t layer, ValueId x) {
  const auto role = [&](std::string_view name) { return LayerRole(layer, name); };
  ValueId h = ir::kNoValue;
  if (model_.gated) {
    const bool joint = Has(role("ffn_gate_up"));
    AICF_ASSIGN_OR_RETURN(
        const ValueId both,
        Product(x, joint ? std::vector<std::string>{role("ffn_gate_up")}
                         : std::vector<std::string>{role("ffn_gate"), role("ffn_up")}));
    const auto parts = w_.Split(both, {model_.feed_forward, model_.feed_forward});
    h = w_.Mul(Activated(parts[0]), parts[1]);
  } else {
    AICF_ASSIGN_OR_RETURN(const ValueId up, Product(x, {role("ffn_up")}));
    h = Activated(up);
  }
  return Product(h, {role("ffn_down")});
}

ValueId Layers::Capped(ValueId x, double cap) {
  const ValueId by = w_.Float(cap);
  return w_.Mul(w_.Op("Tanh", {w_.Op("Div", {x, by})}), by);
}

}  // namespace aicf::language
