#include "tools/aicf-inspect/problem_json.h"

#include <type_traits>

#include "tools/common/text.h"

namespace aicf::tools {
namespace {

/// The name of an enumeration's value. It does not compile unless there are as many names as
/// values.
template <class E, size_t N>
std::string Named(E value, const char* const (&names)[N]) {
  static_assert(N == static_cast<size_t>(E::kCount));
  return names[static_cast<size_t>(value)];
}

std::string Label(abi::ReduceKind v) {
  return Named(v, {"sum", "product", "min", "max", "mean", "argmin", "argmax"});
}
std::string Label(abi::PoolKind v) { return Named(v, {"max", "average", "lp"}); }
std::string Label(abi::NormalizeKind v) {
  return Named(v, {"softmax", "log-softmax", "layer norm", "rms norm"});
}
std::string Label(abi::GatherKind v) { return Named(v, {"take", "elements", "points"}); }
std::string Label(abi::ResizeMode v) { return Named(v, {"nearest", "linear", "cubic"}); }
std::string Label(abi::CoordinateMode v) {
  return Named(v, {"half pixel", "pytorch half pixel", "align corners", "asymmetric",
                   "half pixel symmetric", "tf half pixel for nn"});
}
std::string Label(abi::NearestMode v) {
  return Named(v, {"round, prefer floor", "round, prefer ceil", "floor", "ceil"});
}
std::string Label(abi::ScatterKind v) { return Named(v, {"elements", "points"}); }
std::string Label(abi::ScatterReduction v) {
  return Named(v, {"replace", "add", "mul", "min", "max"});
}
std::string Label(abi::ScanKind v) { return Named(v, {"sum", "product"}); }
std::string Label(abi::SamplePadding v) { return Named(v, {"zeros", "border", "reflection"}); }
std::string Label(abi::RoiKind v) {
  return Named(v, {"align, average", "align, max", "pool, max"});
}
std::string Label(abi::CellKind v) { return Named(v, {"rnn", "gru", "lstm"}); }
std::string Label(abi::RowOrigin v) { return Named(v, {"fixed", "last keys", "operand"}); }
std::string Label(BlockFormat v) { return std::string(InfoOf(v).name); }
std::string Label(abi::Direction v) { return Named(v, {"forward", "reverse", "bidirectional"}); }

/// A visitor that lists the fields of an attribute struct.
struct AttrLister {
  Json out = Json::array();

  void operator()(std::string_view name, const Dims& v) { Add(name, ToListString(v)); }
  void operator()(std::string_view name, int64_t v) { Add(name, std::to_string(v)); }
  template <int64_t kBefore>
  void operator()(std::string_view name, abi::AddedInt<kBefore> v) {
    if (v.stored()) Add(name, std::to_string(v.value));
  }
  void operator()(std::string_view name, abi::AddedReal v) {
    if (v.stored()) Add(name, FormatNumber(v.value));
  }
  void operator()(std::string_view name, double v) { Add(name, FormatNumber(v)); }
  void operator()(std::string_view name, bool v) {
    if (v) Add(name, "yes");
  }
  void operator()(std::string_view name, const std::vector<Dims>& v) {
    std::vector<std::string> items;
    for (const Dims& d : v) items.push_back(ToListString(d));
    Add(name, Join(items, " "));
  }
  void operator()(std::string_view name, const std::vector<double>& v) {
    std::vector<std::string> items;
    for (const double d : v) items.push_back(FormatNumber(d));
    Add(name, Join(items, " "));
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(std::string_view name, E v) { Add(name, Label(v)); }

 private:
  void Add(std::string_view name, std::string text) {
    if (!text.empty()) out.push_back(Json::array({name, std::move(text)}));
  }
};

Json ViewsJson(const std::vector<abi::View>& views) {
  auto out = Json::array();
  for (const abi::View& v : views) {
    out.push_back(
        Json::array({DTypeName(v.dtype), std::vector<int64_t>(v.shape.begin(), v.shape.end()),
                     std::vector<int64_t>(v.strides.begin(), v.strides.end()), v.offset}));
  }
  return out;
}

Json NodeJson(const abi::ExprNode& node) {
  auto out = Json::array({abi::ExprOpName(node.op)});
  switch (node.op) {
    case abi::ExprOp::kConst:
      if (IsFloat(node.dtype)) {
        const double value = abi::BitsToFloat(node.imm);
        // JSON has neither infinities nor NaN, so these stay text.
        out.push_back(value - value == 0 ? Json(value) : Json(FormatDouble(value)));
        break;
      }
      [[fallthrough]];
    case abi::ExprOp::kInput:
    case abi::ExprOp::kIndex:
      out.push_back(static_cast<int64_t>(node.imm));
      break;
    case abi::ExprOp::kCast:
      out.push_back(node.args[0]);
      out.push_back(DTypeName(node.dtype));
      break;
    default:
      for (int a = 0; a < abi::ExprOpArity(node.op); ++a) out.push_back(node.args[a]);
  }
  return out;
}

Json ExprJson(const abi::Expr& expr) {
  Json out{{"nodes", Json::array()}, {"results", expr.results}};
  for (const abi::ExprNode& node : expr.nodes) out["nodes"].push_back(NodeJson(node));
  return out;
}

}  // namespace

Json ProblemJson(const abi::Problem& problem) {
  AttrLister attrs;
  // Visit is not const, though reading changes nothing.
  abi::Attrs fields = problem.attrs;
  std::visit([&](auto& a) { a.Visit(attrs); }, fields);
  Json out{{"family", abi::FamilyName(problem.family)},
           {"math", abi::MathModeName(problem.math)},
           {"core", problem.core_inputs},
           {"attrs", std::move(attrs.out)},
           {"in", ViewsJson(problem.inputs)},
           {"out", ViewsJson(problem.outputs)}};
  if (!problem.prologue.empty()) out["pro"] = ExprJson(problem.prologue);
  if (!problem.epilogue.empty()) out["epi"] = ExprJson(problem.epilogue);
  if (!problem.score.empty()) out["score"] = ExprJson(problem.score);
  return out;
}

}  // namespace aicf::tools
