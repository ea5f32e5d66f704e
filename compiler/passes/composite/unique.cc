// Unique: a stable sort brings equal elements (rows, with an axis) together; a running sum numbers
// their groups; scatters fill the outputs by group.
#include "compiler/ir/infer/infer.h"
#include "compiler/passes/composite/composites.h"
#include "compiler/passes/composite/counted.h"
#include "compiler/passes/composite/pieces.h"

namespace aicf {
namespace {

/// Most columns that rows may have: rows are sorted by one sort for each column.
constexpr int64_t kMostColumns = 256;

/// Rows in sorted order.
struct Sorted {
  ir::ValueId rows;   ///< [n, m]
  ir::ValueId order;  ///< i64 [n]: index of each row before sorting
};

ir::ValueId Column(Composer& c, ir::ValueId rows, int64_t column) {
  return c.Reshape(c.Window(rows, 1, column, 1), {c.Shape(rows)[0]});
}

// Sorting by the last column first leaves rows in lexicographic order, since each sort is stable.
Sorted Sort(Composer& c, ir::ValueId rows) {
  const int64_t n = c.Shape(rows)[0], m = c.Shape(rows)[1];
  const ir::ValueId all = c.Ints({n});
  ir::ValueId order = ir::kNoValue;
  for (int64_t k = m; k-- > 0 && c.ok();) {
    ir::ValueId key = Column(c, rows, k);
    if (order != ir::kNoValue) key = c.Op("Gather", {key, order});
    const std::vector<ir::ValueId> top =
        c.Ops("TopK", {key, all}, {{"axis", int64_t{0}}, {"largest", int64_t{0}}}, 2);
    if (!c.ok()) break;
    order = order == ir::kNoValue ? top[1] : c.Op("Gather", {order, top[1]});
  }
  return {c.Op("Gather", {rows, order}), order};
}

// bool [n]: whether a sorted row differs from the one before it, which begins a group. True for the
// first row.
ir::ValueId GroupStarts(Composer& c, ir::ValueId rows) {
  const int64_t n = c.Shape(rows)[0];
  const ir::ValueId same =
      c.Op("Equal", {c.Window(rows, 0, 1, n - 1), c.Window(rows, 0, 0, n - 1)});
  const ir::ValueId differs =
      Reduce(c, "ReduceMax", c.Cast(c.Op("Not", {same}), DType::kI64), {1}, false);
  return c.Cast(c.Concat({c.Ints({1}), differs}, 0), DType::kBool);
}

/// Groups of equal rows, by which the outputs are scattered. All are i64, and [n] over the sorted
/// rows unless stated.
struct Groups {
  ir::ValueId number;  ///< of each row's group, in the order of the output
  ir::ValueId target;  ///< that number for a group's first row, n for the others
  ir::ValueId count;   ///< [1]
};

ir::ValueId Scatter(Composer& c, ir::ValueId at, ir::ValueId updates, bool add = false) {
  const ir::ValueId zeros = c.Filled(0, DType::kI64, {c.Shape(at)[0]});
  return c.Op("ScatterElements", {zeros, at, updates},
              {{"axis", int64_t{0}}, {"reduction", std::string(add ? "add" : "none")}});
}

Groups Group(Composer& c, const Sorted& sorted, bool by_value) {
  const int64_t n = c.Shape(sorted.rows)[0];
  const ir::ValueId starts = GroupStarts(c, sorted.rows);
  const ir::ValueId ones = c.Cast(starts, DType::kI64);
  const ir::ValueId zero = Number(c, 0, DType::kI64),
                    none = Number(c, static_cast<double>(n), DType::kI64);
  const ir::ValueId sum = c.Op("CumSum", {ones, zero});
  ir::ValueId number = c.Sub(sum, Number(c, 1, DType::kI64));
  if (!by_value) {
    // The output keeps the order of first occurrence: the number of a group is the rank of its
    // first row among all first rows, in the order of the input.
    const ir::ValueId first = c.Op("Where", {starts, number, none});
    const ir::ValueId occurs = Scatter(c, sorted.order, ones);
    const ir::ValueId rank = c.Op("CumSum", {occurs, zero}, {{"exclusive", int64_t{1}}});
    const ir::ValueId where = Scatter(c, first, sorted.order);
    number = c.Op("Gather", {c.Op("Gather", {rank, where}), number});
  }
  return {number, c.Op("Where", {starts, number, none}), Reduce(c, "ReduceSum", ones, {0}, true)};
}

// Row-major [n, m] back to the input's shape, n at the axis.
ir::ValueId Restore(Composer& c, ir::ValueId rows, const Dims& shape, int axis) {
  Dims moved = shape;
  moved.erase(axis);
  moved.insert(0, shape[axis]);
  std::vector<int64_t> perm;
  for (int d = 1; d < shape.rank(); ++d) perm.push_back(d);
  perm.insert(perm.begin() + axis, 0);
  return c.Transpose(c.Reshape(rows, moved), perm);
}

ir::ValueId ToRows(Composer& c, ir::ValueId x, int axis) {
  std::vector<int64_t> perm{axis};
  for (int d = 0; d < c.Shape(x).rank(); ++d) {
    if (d != axis) perm.push_back(d);
  }
  const int64_t n = c.Shape(x)[axis];
  const int64_t all = ElementCount(c.Shape(x)).value_or(0);
  return c.Reshape(c.Transpose(x, perm), {n, n == 0 ? 0 : all / n});
}

}  // namespace

Status ExpandUnique(Composer& c) {
  const bool has_axis = c.node().Has("axis");
  ir::ValueId x = c.In(0);
  if (!has_axis) x = c.Reshape(x, {ElementCount(c.Shape(x)).value_or(0)});
  const Dims shape = c.Shape(x);
  AICF_ASSIGN_OR_RETURN(const int axis, ir::NormalizeAxis(c.node().Int("axis", 0), shape.rank()));
  const DType dtype = c.Type(x);
  // Booleans are sorted as numbers.
  const ir::ValueId rows = ToRows(c, dtype == DType::kBool ? c.Cast(x, DType::kU8) : x, axis);
  const int64_t n = c.Shape(rows)[0], m = c.Shape(rows)[1];
  if (n == 0 || m == 0) return Error(Code::kUnsupported, "an input without elements");
  if (n > kMaxTableElements) {
    return Error(Code::kUnsupported, n, " rows are sorted, the limit is ", kMaxTableElements);
  }
  if (m > kMostColumns) {
    return Error(Code::kUnsupported, "rows of ", m, " elements are compared, the limit is ",
                 kMostColumns);
  }
  const Sorted sorted = Sort(c, rows);
  const Groups groups = Group(c, sorted, c.node().Int("sorted", 1) != 0);
  const auto counted = [&](ir::ValueId v, int at) { return Counted(c, v, at, groups.count); };
  const ir::ValueId first = Scatter(c, groups.target, sorted.order);
  if (c.Wants(0))
    c.Output(0,
             counted(Restore(c, c.Op("Gather", {ToRows(c, x, axis), first}), shape, axis), axis));
  if (c.Wants(1)) c.Output(1, counted(first, 0));
  if (c.Wants(2)) c.Output(2, Scatter(c, sorted.order, groups.number));
  if (c.Wants(3)) {
    const ir::ValueId ones = c.Filled(1, DType::kI64, {n});
    c.Output(3, counted(Scatter(c, groups.number, ones, true), 0));
  }
  return c.status();
}

}  // namespace aicf
