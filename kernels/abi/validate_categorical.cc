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

// The table that draws are stored in, and the last output, which is that table afterwards.
Status CheckStored(const Problem& p) {
  const int64_t stores = p.as<CategoricalAttrs>().stores;
  if (stores != 0 && stores != 1) return Bad(p, "stores is ", stores, ", expected 0 or 1");
  if (stores == 0) return OkStatus();
  const View &table = p.inputs[kDrawTable], &next = p.outputs.back();
  if (table.dtype != DType::kI32 || table.shape.rank() != 1) {
    return Bad(p, "the table is ", DTypeName(table.dtype), " ", ToString(table.shape),
               ", expected i32 of rank 1");
  }
  AICF_RETURN_IF_ERROR(CheckOperand(p, kDrawPlaces, DType::kI32, p.inputs[0].shape[0], "places"));
  if (next.dtype == DType::kI32) return CheckSameShape(p, next, table.shape, "the next table");
  return Bad(p, "the next table is ", DTypeName(next.dtype), ", expected i32");
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
  const size_t stored = StoresDraws(p) ? 1 : 0, operands = stored != 0 ? 9 : 7;
  if (p.inputs.size() != operands) {
    return Bad(p, p.inputs.size(), " operands, expected ", operands);
  }
  AICF_RETURN_IF_ERROR(CheckOperand(p, 1, DType::kF32, rows, "temperature"));
  AICF_RETURN_IF_ERROR(CheckOperand(p, 2, DType::kI32, rows, "top_k"));
  AICF_RETURN_IF_ERROR(CheckOperand(p, 3, DType::kF32, rows, "top_p"));
  AICF_RETURN_IF_ERROR(CheckOperand(p, 4, DType::kF32, rows, "min_p"));
  AICF_RETURN_IF_ERROR(CheckOperand(p, 5, DType::kI64, rows, "seeds"));
  const DType counters = p.inputs[6].dtype == DType::kI32 ? DType::kI32 : DType::kI64;
  AICF_RETURN_IF_ERROR(CheckOperand(p, 6, counters, rows, "counters"));
  const size_t per_row = p.outputs.size() - stored;
  if (per_row < 1 || per_row > 2) {
    return Bad(p, p.outputs.size(), " outputs, expected ", 1 + stored, " or ", 2 + stored);
  }
  for (size_t o = 0; o < per_row; ++o) {
    const DType expected = o == 0 ? DType::kI32 : DType::kBool;
    if (p.outputs[o].dtype != expected) {
      return Bad(p, "output ", o, " is ", DTypeName(p.outputs[o].dtype), ", expected ",
                 DTypeName(expected));
    }
    AICF_RETURN_IF_ERROR(CheckSameShape(p, p.outputs[o], {rows}, "an output"));
  }
  return CheckStored(p);
}

}  // namespace aicf::abi
