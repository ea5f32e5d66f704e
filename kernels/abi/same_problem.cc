#include "kernels/abi/same_problem.h"

#include <array>
#include <bit>
#include <type_traits>
#include <utility>

namespace aicf::abi {
namespace {

template <class T>
bool Same(const T& a, const T& b) {
  if constexpr (std::is_same_v<T, double>) {
    return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);  // so that -0 is not 0
  } else {
    return a == b;
  }
}

template <int64_t kBefore>
bool Same(AddedInt<kBefore> a, AddedInt<kBefore> b) {
  return a.value == b.value;
}
bool Same(AddedReal a, AddedReal b) { return Same(a.value, b.value); }

bool Same(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (size_t i = 0; i < a.size(); ++i) {
    if (!Same(a[i], b[i])) return false;
  }
  return true;
}

// Addresses of a struct's fields in the order of its Visit. They are collected because Visit walks
// one object at a time, and a comparison needs the fields of two.
struct Fields {
  std::array<const void*, 32> at;
  size_t count = 0;

  template <class T>
  void operator()(std::string_view, T& field) {
    if (count < at.size()) at[count] = &field;
    ++count;
  }
};

struct Comparison {
  const Fields& others;
  size_t next = 0;
  bool same = true;

  template <class T>
  void operator()(std::string_view, T& field) {
    const size_t i = next++;
    same = same && i < others.count && i < others.at.size() &&
           Same(field, *static_cast<const T*>(others.at[i]));
  }
};

// REQUIRES: `a` and `b` hold the same alternative.
bool SameFields(const Attrs& a, const Attrs& b) {
  return std::visit(
      [&](const auto& one) {
        using Struct = std::remove_cvref_t<decltype(one)>;
        Fields fields;
        const_cast<Struct&>(std::get<Struct>(b)).Visit(fields);
        Comparison comparison{fields};
        const_cast<Struct&>(one).Visit(comparison);
        return comparison.same;
      },
      a);
}

}  // namespace

bool SameProblem(const Problem& a, const Problem& b) {
  return a.family == b.family && a.math == b.math && a.core_inputs == b.core_inputs &&
         a.attrs.index() == b.attrs.index() && a.outputs == b.outputs && a.inputs == b.inputs &&
         SameFields(a.attrs, b.attrs) && a.prologue == b.prologue && a.epilogue == b.epilogue &&
         a.score == b.score;
}

}  // namespace aicf::abi
