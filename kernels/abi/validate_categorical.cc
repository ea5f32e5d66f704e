// Rules of the categorical family.
#include "kernels/abi/validate_rules.h"

namespace aicf::abi {
namespace {

Status CheckOperand(const Problem& p, size_t k, DType dtype, int64_t rows, std::string_view name) {
  const View& v = p.inputs[k];
  if (v.dtype != dtype) {
    return Bad(p, name, " is ", DTypeName(v.dtype), ", expected ", DTypeName(dtype));
  }
  return CheckSameShape(p, v, {rows}, name);
}

}  // namespace

template <>
Status CheckRules<Family::kCategorical>(const Problem& p) {
  const View& x = p.inputs[0];
  if (!IsData(x.dtype)) {
    return Bad(p, "the logits are ", DTypeName(x.dtype), ", expected f32, f16 or bf16");
  }
  if (x.shape.rank() != 2) return Bad(p, "the logits have rank ", x.shape.rank(), ", expected 2");
  const int64_t rows = x.shape[0];
  if (x.shape[1] < 1 || x.shape[1] >= int64_t{1} << 31) {
    return Bad(p, x.shape[1], " categories, expected 1 to 2^31 - 1");
  }
  if (p.inputs.size() != 7) return Bad(p, p.inputs.size(), " operands, expected 7");
  AICF_RETURN_IF_ERROR(CheckOperand(p, 1, DType::kF32, rows, "temperature"));
  AICF_RETURN_IF_ERROR(CheckOperand(p, 2, DType::kI32, rows, "top_k"));
  AICF_RETURN_IF_ERROR(CheckOperand(p, 3, DType::kF32, rows, "top_p"));
  AICF_RETURN_IF_ERROR(CheckOperand(p, 4, DType::kF32, rows, "min_p"));
  AICF_RETURN_IF_ERROR(CheckOperand(p, 5, DType::kI64, rows, "seeds"));
  const DType counters = p.inputs[6].dtype == DType::kI32 ? DType::kI32 : DType::kI64;
  AICF_RETURN_IF_ERROR(CheckOperand(p, 6, counters, rows, "counters"));
  if (p.outputs.size() > 2) return Bad(p, p.outputs.size(), " outputs, expected 1 or 2");
  for (size_t o = 0; o < p.outputs.size(); ++o) {
    const DType expected = o == 0 ? DType::kI32 : DType::kBool;
    if (p.outputs[o].dtype != expected) {
      return Bad(p, "output ", o, " is ", DTypeName(p.outputs[o].dtype), ", expected ",
                 DTypeName(expected));
    }
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.outputs[o], {rows}, "an output"));
  }
  return OkStatus();
}

}  // namespace aicf::abi
