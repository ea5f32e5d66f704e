#include "compiler/ir/prefix/prefix.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "base/scanner.h"
#include "compiler/ir/prefix/rules.h"

namespace aicf::ir {
namespace {

bool SameTensor(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype() || a.shape() != b.shape()) return false;
  const auto x = a.bytes(), y = b.bytes();
  if (x.size() != y.size()) return false;
  return x.data() == y.data() || x.empty() || std::memcmp(x.data(), y.data(), x.size()) == 0;
}

bool SameAttrs(const AttrMap& a, const AttrMap& b) {
  const auto same = [](const AttrValue& x, const AttrValue& y) {
    if (x.index() != y.index()) return false;
    if (const Tensor* tensor = std::get_if<Tensor>(&x))
      return SameTensor(*tensor, std::get<Tensor>(y));
    return std::visit(
        [&](const auto& v) {
          using T = std::decay_t<decltype(v)>;
          if constexpr (std::is_same_v<T, Tensor>) {
            return false;
          } else {
            return v == std::get<T>(y);
          }
        },
        x);
  };
  return a.size() == b.size() &&
         std::equal(a.begin(), a.end(), b.begin(), [&](const auto& x, const auto& y) {
           return x.first == y.first && same(x.second, y.second);
         });
}

bool NowhereLarger(const Dims& small, const Dims& large) {
  if (small.rank() != large.rank()) return false;
  for (int d = 0; d < small.rank(); ++d) {
    if (small[d] > large[d]) return false;
  }
  return true;
}

// Whether each element of `small` equals the element at the same position of `large`.
bool IsPrefix(const Tensor& small, const Tensor& large) {
  if (SameTensor(small, large)) return true;
  const Dims& shape = small.shape();
  if (small.dtype() != large.dtype() || !NowhereLarger(shape, large.shape())) return false;
  if (shape.rank() == 0 || small.count() == 0) return small.count() == 0;
  const Dims strides = RowMajorStrides(large.shape());
  const auto bytes = static_cast<size_t>(DTypeBytes(small.dtype()));
  const size_t run = static_cast<size_t>(shape.back()) * bytes;
  Dims at = Dims::Filled(shape.rank(), 0);
  for (const std::byte* row = small.bytes().data();; row += run) {
    int64_t from = 0;
    for (int d = 0; d < shape.rank(); ++d) from += at[d] * strides[d];
    if (std::memcmp(row, large.bytes().data() + static_cast<size_t>(from) * bytes, run) != 0) {
      return false;
    }
    int d = shape.rank() - 2;
    while (d >= 0 && ++at[d] == shape[d]) at[d--] = 0;
    if (d < 0) return true;
  }
}

std::string NameOf(const Node& node) { return StrCat(node.op, " node ", Quote(node.name)); }

class Walker {
 public:
  Walker(const Graph& large, const Graph& small)
      : large_(large),
        small_(small),
        partner_(large.values.size(), kNoValue),
        cause_(large.values.size(), -1) {}

  std::string Run() {
    if (large_.inputs.size() != small_.inputs.size() ||
        large_.outputs.size() != small_.outputs.size()) {
      return "the graph's inputs or outputs change with its shapes";
    }
    for (size_t i = 0; i < large_.inputs.size(); ++i) {
      Pair(large_.inputs[i], small_.inputs[i], Shrinks(large_.inputs[i], small_.inputs[i]));
    }
    for (size_t n = 0; n < large_.nodes.size(); ++n) {
      const std::string difference = Visit(n);
      if (!difference.empty()) return difference;
    }
    if (large_.nodes.size() != small_.nodes.size())
      return "the graph's nodes change with its shapes";
    for (size_t o = 0; o < large_.outputs.size(); ++o) {
      const std::string why = Operand(large_.outputs[o], small_.outputs[o]);
      if (!why.empty()) {
        return StrCat("output ", Quote(large_.values[large_.outputs[o]].name), ": ", why);
      }
    }
    return "";
  }

 private:
  // Empty when the shapes are such as a prefix has, which every rule may assume.
  std::string Shrinks(ValueId l, ValueId s) const {
    if (l == kNoValue || s == kNoValue) return "";
    const Value& a = large_.values[l];
    const Value& b = small_.values[s];
    if (a.dtype == b.dtype && NowhereLarger(b.shape, a.shape)) return "";
    return StrCat("value ", Quote(a.name), " is ", ToString(a.shape), " and, for smaller inputs, ",
                  ToString(b.shape));
  }

  // Makes two results of a node, or two inputs, counterparts. `why`: empty if the one is a prefix
  // of the other, else the reason why it is not.
  void Pair(ValueId l, ValueId s, std::string why) {
    if (l == kNoValue || s == kNoValue) return;
    partner_[l] = s;
    if (why.empty()) return;
    cause_[l] = static_cast<int>(causes_.size());
    causes_.push_back(std::move(why));
  }

  // Empty when the operands are counterparts and the small one is a prefix, else why not.
  std::string Operand(ValueId l, ValueId s) const {
    const Value& a = large_.values[l];
    const Value& b = small_.values[s];
    if (a.is_constant() || b.is_constant()) {
      if (a.is_constant() && b.is_constant() && IsPrefix(b.constant, a.constant)) return "";
      return StrCat("constant ", Quote(a.name), " follows from the padded extent");
    }
    if (partner_[l] != s) return StrCat("value ", Quote(a.name), " has another source");
    return cause_[l] < 0 ? "" : causes_[cause_[l]];
  }

  // Empty, or why the graphs cannot be compared at all.
  std::string Visit(size_t n) {
    const Node& a = large_.nodes[n];
    if (n >= small_.nodes.size() || a.op != small_.nodes[n].op ||
        a.inputs.size() != small_.nodes[n].inputs.size() ||
        a.outputs.size() != small_.nodes[n].outputs.size()) {
      return StrCat("the graph's nodes change with its shapes, from ", NameOf(a), " on");
    }
    const Node& b = small_.nodes[n];
    const bool dead = std::ranges::all_of(a.outputs, [](ValueId v) { return v == kNoValue; });
    const std::string why = dead ? "" : Judge({large_, small_, a, b});
    for (size_t k = 0; k < a.outputs.size(); ++k) Pair(a.outputs[k], b.outputs[k], why);
    return "";
  }

  std::string Judge(const NodePair& pair) const {
    const PrefixRule* rule = FindPrefixRule(pair.large.op);
    const uint32_t parameters = rule != nullptr ? rule->parameters : 0;
    for (size_t i = 0; i < pair.inputs(); ++i) {
      const ValueId l = pair.large.inputs[i], s = pair.small.inputs[i];
      if (l == kNoValue && s == kNoValue) continue;
      if (l == kNoValue || s == kNoValue) return NameOf(pair.large) + ": operands differ";
      if (i < 32 && (parameters >> i & 1) != 0) continue;
      const std::string why = Operand(l, s);
      if (!why.empty()) return why;
    }
    if (rule == nullptr) return NameOf(pair.large) + ": nothing is proven of this op";
    if (!SameAttrs(pair.large.attrs, pair.small.attrs)) {
      return NameOf(pair.large) + ": its attributes follow from the padded extent";
    }
    for (size_t k = 0; k < pair.large.outputs.size(); ++k) {
      std::string shape = Shrinks(pair.large.outputs[k], pair.small.outputs[k]);
      if (!shape.empty()) return shape;
    }
    const std::string why = rule->check(pair);
    return why.empty() ? "" : StrCat(NameOf(pair.large), ": ", why);
  }

  const Graph& large_;
  const Graph& small_;
  std::vector<ValueId> partner_;  // by value of the large graph
  std::vector<int> cause_;        // into causes_; -1: a prefix
  std::vector<std::string> causes_;
};

}  // namespace

std::string CheckPrefix(const Graph& large, const Graph& small) {
  return Walker(large, small).Run();
}

}  // namespace aicf::ir
