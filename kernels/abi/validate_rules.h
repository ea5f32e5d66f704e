/// Rules of single families, shared by the files that make up ValidateProblem. Every function
/// returns kBadArtifact with the family and the rule that is broken.
#pragma once

#include <iterator>
#include <span>
#include <string_view>

#include "base/real_text.h"
#include "kernels/abi/problem.h"
#include "kernels/abi/ranges.h"

namespace aicf::abi {

template <class... Pieces>
Status Bad(const Problem& p, const Pieces&... pieces) {
  return Error(Code::kBadArtifact, FamilyName(p.family), " step: ", pieces...);
}

/// Whether the dtype is f32, f16 or bf16. Most float kernels take these, widened to f32.
inline bool IsData(DType dtype) {
  return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
}

inline Status CheckSameShape(const Problem& p, const View& v, const Dims& shape,
                             std::string_view what) {
  if (v.shape == shape) return OkStatus();
  return Bad(p, what, " has shape ", ToString(v.shape), ", expected ", ToString(shape));
}

/// An output that is an operand's next value: it has the operand's dtype and shape.
inline Status CheckNext(const Problem& p, size_t output, size_t input, std::string_view name) {
  const View &next = p.outputs[output], &past = p.inputs[input];
  if (next.dtype != past.dtype) {
    return Bad(p, name, " are ", DTypeName(next.dtype), " after and ", DTypeName(past.dtype),
               " before");
  }
  return CheckSameShape(p, next, past.shape, name);
}

inline Status CheckReal(const Problem& p, std::string_view name, double value, RealRange range) {
  if (range.Holds(value)) return OkStatus();
  return Bad(p, name, " ", RealText(value), ", expected ", RealText(range.low), " to ",
             RealText(range.high));
}

inline constexpr int kMaxInputs = 56;    ///< of a step
inline constexpr int kMaxRawInputs = 4;  ///< RawInputs: two sums and two moments

/// The dtypes of an expression's inputs: of raw results, then of operands. More than there may be
/// are left out.
class InputDTypes {
 public:
  void Add(DType dtype) {
    if (count_ < std::size(dtypes_)) dtypes_[count_++] = dtype;
  }
  void Add(std::span<const View> views) {
    for (const View& v : views) Add(v.dtype);
  }
  DType operator[](size_t i) const { return dtypes_[i]; }
  std::span<const DType> all() const { return {dtypes_, count_}; }

 private:
  DType dtypes_[kMaxInputs + kMaxRawInputs] = {};
  size_t count_ = 0;
};

/// The rules of a product's halves, and of the norm of its rows where it has one (GemmAttrs).
Status CheckHalves(const Problem& p, int64_t halves);
Status CheckRowNorm(const Problem& p);

/// The rules of one family, which ValidateProblem checks in addition to those of every step. Each
/// row of family.def has a specialisation in one of the files validate_*.cc.
template <Family F>
Status CheckRules(const Problem& p);
#define AICF_FAMILY(id, text, attrs, core, slots) \
  template <>                                     \
  Status CheckRules<Family::id>(const Problem& p);
#include "kernels/abi/family.def"
#undef AICF_FAMILY

}  // namespace aicf::abi
