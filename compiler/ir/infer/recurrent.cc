#include "compiler/ir/infer/recurrent.h"

#include <algorithm>

#include "compiler/ir/infer/common.h"
#include "kernels/abi/recurrent.h"

namespace aicf::ir {
namespace {

using abi::CellActivation;
using abi::CellKind;
using In8 = RecurrentInputs;

/// An activation function, and what it takes from the lists of alphas and betas.
struct ActivationRow {
  std::string_view name;  ///< lower case
  CellActivation kind;
  bool alpha, beta;
  double alpha_default, beta_default;
  bool required = false;  ///< ONNX gives it no defaults
};

constexpr ActivationRow kActivations[] = {
    {"tanh", CellActivation::kTanh, false, false, 0, 0},
    {"sigmoid", CellActivation::kSigmoid, false, false, 0, 0},
    {"relu", CellActivation::kRelu, false, false, 0, 0},
    {"affine", CellActivation::kAffine, true, true, 1, 0},
    {"leakyrelu", CellActivation::kLeakyRelu, true, false, static_cast<double>(0.01f), 0},
    {"thresholdedrelu", CellActivation::kThresholdedRelu, true, false, 1, 0},
    {"scaledtanh", CellActivation::kScaledTanh, true, true, 0, 0, true},
    {"hardsigmoid", CellActivation::kHardSigmoid, true, true, static_cast<double>(0.2f), 0.5},
    {"elu", CellActivation::kElu, true, false, 1, 0},
    {"softsign", CellActivation::kSoftsign, false, false, 0, 0},
    {"softplus", CellActivation::kSoftplus, false, false, 0, 0},
};

std::string LowerCase(std::string text) {
  for (char& c : text) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return text;
}

template <class T>
std::vector<T> ListOf(const Node& node, std::string_view key) {
  const auto it = node.attrs.find(key);
  if (it == node.attrs.end()) return {};
  const auto* list = std::get_if<std::vector<T>>(&it->second);
  return list != nullptr ? *list : std::vector<T>{};
}

std::vector<std::string> DefaultActivations(CellKind cell) {
  if (cell == CellKind::kRnn) return {"Tanh"};
  if (cell == CellKind::kGru) return {"Sigmoid", "Tanh"};
  return {"Sigmoid", "Tanh", "Tanh"};
}

/// The next value of a list from which a function takes one only if it has such a parameter.
double Next(const std::vector<double>& list, size_t* next, double fallback) {
  return *next < list.size() ? list[(*next)++] : fallback;
}

Status ResolveActivations(const Node& node, RecurrentSpec& spec) {
  abi::RecurrentAttrs& a = spec.attrs;
  auto names = ListOf<std::string>(node, "activations");
  const auto alphas = ListOf<double>(node, "activation_alpha");
  const auto betas = ListOf<double>(node, "activation_beta");
  if (names.empty()) {
    for (int64_t d = 0; d < spec.directions; ++d) {
      for (std::string& name : DefaultActivations(a.cell)) names.push_back(std::move(name));
    }
  }
  const int64_t expected = abi::ActivationsOf(a.cell) * spec.directions;
  if (static_cast<int64_t>(names.size()) != expected) {
    return BadNode("names ", names.size(), " activations, expected ", expected);
  }
  size_t next_alpha = 0, next_beta = 0;
  for (const std::string& name : names) {
    const std::string lower = LowerCase(name);
    const auto* row = std::find_if(std::begin(kActivations), std::end(kActivations),
                                   [&](const ActivationRow& r) { return r.name == lower; });
    if (row == std::end(kActivations)) return BadNode("unknown activation ", Quote(name));
    if (row->required && (next_alpha >= alphas.size() || next_beta >= betas.size())) {
      return BadNode("activation ", Quote(name), " needs an alpha and a beta");
    }
    a.activations.push_back(static_cast<int64_t>(row->kind));
    a.alpha.push_back(row->alpha ? Next(alphas, &next_alpha, row->alpha_default) : 0);
    a.beta.push_back(row->beta ? Next(betas, &next_beta, row->beta_default) : 0);
  }
  return OkStatus();
}

Status ResolveAttributes(const Node& node, RecurrentSpec& spec) {
  abi::RecurrentAttrs& a = spec.attrs;
  a.cell = node.op == "RNN" ? CellKind::kRnn : node.op == "GRU" ? CellKind::kGru : CellKind::kLstm;
  spec.gates = abi::GatesOf(a.cell);
  const std::string direction = node.Str("direction", "forward");
  if (direction == "bidirectional") {
    a.direction = abi::Direction::kBidirectional;
    spec.directions = 2;
  } else if (direction == "reverse") {
    a.direction = abi::Direction::kReverse;
  } else if (direction != "forward") {
    return BadNode("unknown direction ", Quote(direction));
  }
  a.clip = node.Float("clip", 0);
  if (!(a.clip >= 0)) return BadNode("clip ", a.clip, " is negative");
  const int64_t layout = node.Int("layout", 0);
  if (layout != 0 && layout != 1) return BadNode("layout ", layout, ", expected 0 or 1");
  spec.batch_first = layout == 1;
  a.linear_before_reset = a.cell == CellKind::kGru && node.Int("linear_before_reset", 0) != 0;
  a.input_forget = a.cell == CellKind::kLstm && node.Int("input_forget", 0) != 0;
  a.peepholes = a.cell == CellKind::kLstm && HasInput(node, In8::kP);
  return ResolveActivations(node, spec);
}

Status CheckInput(const Graph& graph, const Node& node, size_t i, const Dims& expected) {
  if (!HasInput(node, i)) return OkStatus();
  if (i != In8::kLengths) AICF_RETURN_IF_ERROR(CheckSameDType(graph, node, 0, i));
  if (InShape(graph, node, i) == expected) return OkStatus();
  return BadNode("input ", i, " has shape ", ToString(InShape(graph, node, i)), ", expected ",
                 ToString(expected));
}

Status ResolveShapes(const Graph& graph, const Node& node, RecurrentSpec& spec) {
  AICF_RETURN_IF_ERROR(CheckDType(graph, node, In8::kX, kFloats));
  const Dims &x = InShape(graph, node, In8::kX), &r = InShape(graph, node, In8::kR);
  if (x.rank() != 3 || r.rank() != 3) return BadNode("X and R have to be of rank 3");
  spec.steps = x[spec.batch_first ? 1 : 0];
  spec.batch = x[spec.batch_first ? 0 : 1];
  spec.input = x[2];
  spec.hidden = r[2];
  if (spec.hidden == 0) return BadNode("hidden_size is 0");
  const int64_t stated = node.Int("hidden_size", spec.hidden);
  if (stated != spec.hidden) {
    return BadNode("hidden_size is ", stated, " but R has ", spec.hidden, " columns");
  }
  const int64_t d = spec.directions, width = spec.gates * spec.hidden;
  const Dims state =
      spec.batch_first ? Dims{spec.batch, d, spec.hidden} : Dims{d, spec.batch, spec.hidden};
  AICF_RETURN_IF_ERROR(CheckInput(graph, node, In8::kW, {d, width, spec.input}));
  AICF_RETURN_IF_ERROR(CheckInput(graph, node, In8::kR, {d, width, spec.hidden}));
  AICF_RETURN_IF_ERROR(CheckInput(graph, node, In8::kB, {d, 2 * width}));
  AICF_RETURN_IF_ERROR(CheckInput(graph, node, In8::kLengths, {spec.batch}));
  AICF_RETURN_IF_ERROR(CheckInput(graph, node, In8::kH, state));
  AICF_RETURN_IF_ERROR(CheckInput(graph, node, In8::kC, state));
  return CheckInput(graph, node, In8::kP, {d, 3 * spec.hidden});
}

/// Whether sequences may be shorter than X.
Result<bool> HasShortSequences(const Graph& graph, const Node& node, const RecurrentSpec& spec) {
  if (!HasInput(node, In8::kLengths)) return false;
  const Value& lengths = In(graph, node, In8::kLengths);
  if (lengths.dtype != DType::kI32) {
    return BadNode("sequence_lens is ", DTypeName(lengths.dtype), ", expected i32");
  }
  if (!lengths.is_constant()) return true;
  bool shorter = false;
  for (int64_t b = 0; b < spec.batch; ++b) {
    const int64_t length = lengths.constant.IntAt(b);
    if (length < 0 || length > spec.steps) {
      return BadNode("sequence_lens[", b, "] is ", length, ", X has ", spec.steps, " steps");
    }
    shorter = shorter || length != spec.steps;
  }
  return shorter;
}

}  // namespace

Result<RecurrentSpec> ResolveRecurrent(const Graph& graph, const Node& node) {
  RecurrentSpec spec;
  AICF_RETURN_IF_ERROR(ResolveAttributes(node, spec));
  AICF_RETURN_IF_ERROR(ResolveShapes(graph, node, spec));
  AICF_ASSIGN_OR_RETURN(spec.attrs.lengths, HasShortSequences(graph, node, spec));
  return spec;
}

Status InferRecurrent(Graph& graph, const Node& node) {
  AICF_ASSIGN_OR_RETURN(const RecurrentSpec s, ResolveRecurrent(graph, node));
  const DType dtype = In(graph, node, In8::kX).dtype;
  const Dims y = s.batch_first ? Dims{s.batch, s.steps, s.directions, s.hidden}
                               : Dims{s.steps, s.directions, s.batch, s.hidden};
  const Dims state =
      s.batch_first ? Dims{s.batch, s.directions, s.hidden} : Dims{s.directions, s.batch, s.hidden};
  AICF_RETURN_IF_ERROR(SetOutput(graph, node, 0, dtype, y));
  AICF_RETURN_IF_ERROR(SetOutput(graph, node, 1, dtype, state));
  return SetOutput(graph, node, 2, dtype, state);
}

}  // namespace aicf::ir
