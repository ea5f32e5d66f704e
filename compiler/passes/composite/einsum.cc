// Einsum: operands are brought to unique labels (diagonals), then contracted from left to right,
// each pair as one batched matrix product.
#include <algorithm>
#include <map>
#include <optional>

#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/einsum_equation.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

// A value and the labels of its axes, each different.
struct Labelled {
  ir::ValueId value;
  Labels labels;
};

bool Holds(const Labels& labels, int label) {
  return std::ranges::find(labels, label) != labels.end();
}

int AxisOf(const Labels& labels, int label) {
  return static_cast<int>(std::ranges::find(labels, label) - labels.begin());
}

class Einsum {
 public:
  explicit Einsum(Composer& c) : c_(c) {}

  Status Run() {
    std::vector<int> ranks;
    for (size_t i = 0; i < c_.node().inputs.size(); ++i) {
      ranks.push_back(c_.Shape(c_.In(i)).rank());
    }
    AICF_ASSIGN_OR_RETURN(equation_, ParseEinsum(c_.node().Str("equation", ""), ranks));
    AICF_RETURN_IF_ERROR(CheckExtents());
    Labelled total = Operand(0);
    for (size_t i = 1; i < ranks.size(); ++i) {
      next_ = i + 1;
      total = Contract(total, Operand(i));
    }
    next_ = ranks.size();
    total = SumOut(total, {});
    c_.Output(0, c_.Cast(Arrange(total, equation_.result), c_.Type(c_.In(0))));
    return c_.status();
  }

 private:
  // Checks that a label has the same extent wherever it occurs; an extent of 1 broadcasts.
  Status CheckExtents() {
    for (size_t i = 0; i < equation_.operands.size(); ++i) {
      for (size_t axis = 0; axis < equation_.operands[i].size(); ++axis) {
        const int label = equation_.operands[i][axis];
        const int64_t found = c_.Shape(c_.In(i))[static_cast<int>(axis)];
        int64_t& extent = extents_.emplace(label, 1).first->second;
        if (extent == 1) extent = found;
        if (found == extent || found == 1) continue;
        return Error(Code::kBadModel, "axis ", axis, " of input ", i, " has extent ", found,
                     ", but its label has ", extent, " elsewhere");
      }
    }
    return OkStatus();
  }

  bool Kept(int label) const {
    if (Holds(equation_.result, label)) return true;
    for (size_t i = next_; i < equation_.operands.size(); ++i) {
      if (Holds(equation_.operands[i], label)) return true;
    }
    return false;
  }

  // Widens narrow integers to i32, for which there are matrix products. Casting the result back
  // wraps as sums of narrow integers would.
  ir::ValueId WideOperand(ir::ValueId v) {
    const DType dtype = c_.Type(v);
    return IsInteger(dtype) && DTypeBytes(dtype) < 4 ? c_.Cast(v, DType::kI32) : Wide(c_, v);
  }

  // Operand i with each label only once, and without axes that only broadcast.
  Labelled Operand(size_t i) {
    Labelled v{WideOperand(c_.In(i)), equation_.operands[i]};
    for (size_t a = 0; a < v.labels.size(); ++a) {
      const int label = v.labels[a];
      if (c_.Shape(v.value)[static_cast<int>(a)] == 1 && extents_[label] != 1) v = Drop(v, a--);
    }
    while (const auto pair = RepeatedLabel(v.labels)) v = Diagonal(v, pair->first, pair->second);
    return v;
  }

  static std::optional<std::pair<size_t, size_t>> RepeatedLabel(const Labels& labels) {
    for (size_t a = 0; a < labels.size(); ++a) {
      for (size_t b = a + 1; b < labels.size(); ++b) {
        if (labels[a] == labels[b]) return std::pair(a, b);
      }
    }
    return std::nullopt;
  }

  Labelled Drop(const Labelled& v, size_t axis) {
    Dims shape = c_.Shape(v.value);
    if (v.value != ir::kNoValue) shape.erase(static_cast<int>(axis));  // a failed value has no axes
    Labels labels = v.labels;
    labels.erase(labels.begin() + static_cast<std::ptrdiff_t>(axis));
    return {c_.Reshape(v.value, shape), std::move(labels)};
  }

  // The diagonal of axes a and b, both of extent n: joined, they have n * n elements, of which the
  // slice takes every (n + 1)-th.
  Labelled Diagonal(const Labelled& v, size_t a, size_t b) {
    Labels order = v.labels;
    std::vector<int64_t> perm = AxesFrom(0, static_cast<int>(order.size()));
    for (size_t axis : {b, a}) {
      order.erase(order.begin() + static_cast<std::ptrdiff_t>(axis));
      perm.erase(perm.begin() + static_cast<std::ptrdiff_t>(axis));
    }
    perm.push_back(static_cast<int64_t>(a));
    perm.push_back(static_cast<int64_t>(b));
    const int64_t n = extents_[v.labels[a]];
    Dims shape;
    for (int label : order) shape.push_back(extents_[label]);
    shape.push_back(n * n);
    const ir::ValueId pairs = c_.Reshape(c_.Transpose(v.value, perm), shape);
    order.push_back(v.labels[a]);
    return {c_.Slice(pairs, shape.rank() - 1, 0, n * n, n + 1), std::move(order)};
  }

  // Sums over labels that neither the result, nor a later operand, nor `other` has.
  Labelled SumOut(const Labelled& v, const Labels& other) {
    Labelled out{v.value, {}};
    std::vector<int64_t> axes;
    for (size_t a = 0; a < v.labels.size(); ++a) {
      if (Kept(v.labels[a]) || Holds(other, v.labels[a])) {
        out.labels.push_back(v.labels[a]);
      } else {
        axes.push_back(static_cast<int64_t>(a));
      }
    }
    out.value = Reduce(c_, "ReduceSum", v.value, axes, false);
    return out;
  }

  int64_t Size(const Labels& labels) const {
    int64_t size = 1;
    for (int label : labels) size *= extents_.at(label);
    return size;
  }

  // v with its axes in the order of `labels`; labels that it lacks become axes of extent 1.
  ir::ValueId Arrange(const Labelled& v, const Labels& labels) {
    std::vector<int64_t> perm;
    Dims shape;
    for (int label : labels) {
      if (shape.rank() == kMaxRank) return TooManyAxes();
      const bool has = Holds(v.labels, label);
      if (has) perm.push_back(AxisOf(v.labels, label));
      shape.push_back(has ? extents_[label] : 1);
    }
    const bool ordered = std::ranges::is_sorted(perm);
    return c_.Reshape(ordered ? v.value : c_.Transpose(v.value, perm), shape);
  }

  ir::ValueId TooManyAxes() {
    c_.Fail(Error(Code::kUnsupported, "a product of more than ", kMaxRank, " axes"));
    return ir::kNoValue;
  }

  Labelled Contract(const Labelled& left, const Labelled& right) {
    const Labelled a = SumOut(left, right.labels), b = SumOut(right, left.labels);
    Labels batch, sum, rows, columns;
    for (int label : a.labels) {
      (!Holds(b.labels, label) ? rows : Kept(label) ? batch : sum).push_back(label);
    }
    for (int label : b.labels) {
      if (!Holds(a.labels, label)) columns.push_back(label);
    }
    Labels all = batch;
    all.insert(all.end(), rows.begin(), rows.end());
    all.insert(all.end(), columns.begin(), columns.end());
    if (all.size() > kMaxRank) return {TooManyAxes(), all};
    if (sum.empty()) return {c_.Mul(Arrange(a, all), Arrange(b, all)), all};
    const auto matrix = [&](const Labelled& v, const Labels& first, const Labels& second) {
      Labels order = batch;
      order.insert(order.end(), first.begin(), first.end());
      order.insert(order.end(), second.begin(), second.end());
      return c_.Reshape(Arrange(v, order), {Size(batch), Size(first), Size(second)});
    };
    const ir::ValueId product = c_.MatMul(matrix(a, rows, sum), matrix(b, sum, columns));
    Dims shape;
    for (int label : all) shape.push_back(extents_[label]);
    return {c_.Reshape(product, shape), all};
  }

  Composer& c_;
  EinsumEquation equation_;
  std::map<int, int64_t> extents_;
  size_t next_ = 1;  // first operand that is not contracted yet
};

}  // namespace

Status ExpandEinsum(Composer& c) { return Einsum(c).Run(); }

}  // namespace aicf
