#include "tools/verify/overflow.h"

#include <algorithm>
#include <cmath>

#include "tools/common/compare.h"
#include "tools/verify/judge.h"

namespace aicf::tools {
namespace {

bool HasInfinity(const abi::Expr& expr) {
  return std::ranges::any_of(expr.nodes, [](const abi::ExprNode& n) {
    return n.op == abi::ExprOp::kConst && IsFloat(n.dtype) && std::isinf(abi::BitsToFloat(n.imm));
  });
}

}  // namespace

int64_t Infinities(DType dtype, std::span<const std::byte> elements) {
  if (dtype != DType::kF16 && dtype != DType::kBF16) return 0;
  const TensorView view{dtype, elements};
  const auto count = static_cast<int64_t>(elements.size()) / DTypeBytes(dtype);
  int64_t found = 0;
  for (int64_t i = 0; i < count; ++i) found += std::isinf(ElementAt(view, i)) ? 1 : 0;
  return found;
}

bool AllFinite(const abi::View& view, std::span<const std::byte> buffer) {
  if (!IsFloat(view.dtype)) return true;
  const std::vector<std::byte> elements = Gather(view, buffer);
  const TensorView dense{view.dtype, elements};
  const auto count = static_cast<int64_t>(elements.size()) / DTypeBytes(view.dtype);
  for (int64_t i = 0; i < count; ++i) {
    if (!std::isfinite(ElementAt(dense, i))) return false;
  }
  return true;
}

bool NamesInfinity(const abi::Problem& p) {
  return HasInfinity(p.prologue) || HasInfinity(p.epilogue) || HasInfinity(p.score);
}

}  // namespace aicf::tools
