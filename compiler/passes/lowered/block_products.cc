#include "compiler/passes/lowered/block_products.h"

#include <utility>

#include "base/status.h"
#include "compiler/passes/lowered/fuse.h"

namespace aicf {

std::string MatrixProduct(const abi::Problem& p, const abi::View& rows, abi::Problem* product) {
  const abi::View& a = p.inputs[0];
  if (a.shape.rank() != 2) return "view: its operands are no two matrices";
  if (a.dtype != rows.dtype) {
    return StrCat("dtype: it multiplies ", DTypeName(a.dtype), " and ", DTypeName(rows.dtype));
  }
  if (ReadsCoordinates(p.epilogue)) return "domain: the epilogue uses coordinates";
  *product = p;
  product->family = abi::Family::kGemm;
  const auto& blocks = p.as<abi::BlockGemmAttrs>();
  product->attrs = abi::GemmAttrs{blocks.halves, blocks.rms_epsilon};
  abi::View& b = product->inputs[1];
  b = rows;
  std::swap(b.shape[0], b.shape[1]);
  std::swap(b.strides[0], b.strides[1]);
  return {};
}

}  // namespace aicf
