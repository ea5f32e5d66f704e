#include "compiler/ir/prefix/conditions.h"

namespace aicf::ir {

std::string RequireSame(const NodePair& p, size_t i, int axis, std::string_view what) {
  if (p.L(i)[axis] == p.S(i)[axis]) return "";
  return StrCat("it ", what, " axis ", axis, " of its input ", i, ", which is padded");
}

std::string RequireSameShape(const NodePair& p, size_t i) {
  if (!p.has(i)) return "";
  for (int d = 0; d < p.L(i).rank(); ++d) {
    std::string why = RequireSame(p, i, d, "needs the whole of");
    if (!why.empty()) return why;
  }
  return "";
}

std::string RequireSameShapes(const NodePair& p, size_t first) {
  for (size_t i = first; i < p.inputs(); ++i) {
    std::string why = RequireSameShape(p, i);
    if (!why.empty()) return why;
  }
  return "";
}

std::string RequireSameBroadcast(const Dims& large, const Dims& small, const Dims& out_large,
                                 const Dims& out_small) {
  const int shift = out_large.rank() - large.rank();
  for (int d = 0; d < large.rank(); ++d) {
    const bool whole = large[d] == out_large[d + shift] && small[d] == out_small[d + shift];
    const bool repeated = large[d] == 1 && small[d] == 1;
    if (whole || repeated) continue;
    return StrCat("it broadcasts ", ToString(large), " to ", ToString(out_large),
                  " and, for smaller inputs, ", ToString(small), " to ", ToString(out_small));
  }
  return "";
}

namespace {

// Whether the first elements of the row-major block of axes [begin, end) are a box of it. They are
// only if the axis that shrinks is the outermost one of more than one element.
bool ShrinksOutermost(const Dims& large, const Dims& small, int begin, int end) {
  bool inside = false;  // an axis of several elements is further out
  for (int d = begin; d < end; ++d) {
    if (large[d] != small[d] && inside) return false;
    inside = inside || large[d] != 1;
  }
  return true;
}

// A group of axes while it grows, with the number of its elements in both graphs.
struct Group {
  int begin = 0, end = 0;
  int64_t large = 1, small = 1;
  void Take(const Dims& l, const Dims& s) {
    large *= l[end];
    small *= s[end];
    ++end;
  }
};

}  // namespace

std::string RequireReshape(const Dims& in_large, const Dims& in_small, const Dims& out_large,
                           const Dims& out_small) {
  Group in, out;
  const std::string mixed =
      StrCat("it rearranges ", ToString(in_large), " to ", ToString(out_large),
             ", which moves a padded axis inside another");
  if (ElementCount(in_large).value_or(0) == 0 || ElementCount(in_small).value_or(0) == 0) {
    return mixed;
  }
  while (in.end < in_large.rank() || out.end < out_large.rank()) {
    in = {in.end, in.end};
    out = {out.end, out.end};
    // The smallest group of axes with as many elements on both sides, in both graphs.
    do {
      const bool more_in = in.end < in_large.rank(), more_out = out.end < out_large.rank();
      if (!more_in && !more_out) return mixed;
      const bool behind = in.large < out.large || (in.large == out.large && in.small <= out.small);
      if (more_in && (behind || !more_out)) {
        in.Take(in_large, in_small);
      } else {
        out.Take(out_large, out_small);
      }
    } while (in.large != out.large || in.small != out.small);
    if (!ShrinksOutermost(in_large, in_small, in.begin, in.end) ||
        !ShrinksOutermost(out_large, out_small, out.begin, out.end)) {
      return mixed;
    }
  }
  return "";
}

int AxisOf(const NodePair& p, std::string_view attribute, int64_t fallback, size_t operand) {
  const int64_t axis = p.large.Int(attribute, fallback);
  return static_cast<int>(axis < 0 ? axis + p.L(operand).rank() : axis);
}

}  // namespace aicf::ir
