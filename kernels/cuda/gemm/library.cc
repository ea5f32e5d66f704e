#include "kernels/cuda/gemm/library.h"

#include "kernels/cuda/common/host.h"

namespace aicf::cuda {
namespace {

using abi::Expr;
using abi::ExprNode;
using abi::ExprOp;
using abi::Problem;
using abi::View;

std::string RefuseTypes(const Problem& p) {
  const DType in = p.inputs[0].dtype, out = p.outputs[0].dtype;
  if (in != DType::kF32 && in != DType::kF16 && in != DType::kBF16) {
    return "the library multiplies f32, f16 and bf16 only";
  }
  if (out != in && out != DType::kF32) return "the output's dtype is neither the operands' nor f32";
  if (p.math == abi::MathMode::kFp8) return "fp8 products need per-tensor scales";
  for (const View* v : {&p.inputs[0], &p.inputs[1]}) {
    if (abi::ElementsOf(*v) == 0) return "an extent is 0";
  }
  return {};
}

// A matrix with one contiguous axis, its batch axes walked by one stride.
std::string RefuseMatrix(std::string_view name, const View& v, bool row_major) {
  const int fast = v.shape.rank() - 1, slow = fast - 1;
  auto contiguous = [&](int inner, int outer) {
    return (v.shape[inner] == 1 || v.strides[inner] == 1) &&
           (v.shape[outer] == 1 || v.strides[outer] >= v.shape[inner]);
  };
  if (!contiguous(fast, slow) && (row_major || !contiguous(slow, fast))) {
    return StrCat(name, row_major ? " is not row-major" : " has no contiguous matrix axis");
  }
  int64_t expected = -1;
  for (int d = slow - 1; d >= 0; --d) {
    if (v.shape[d] == 1) continue;
    if (v.strides[d] < 0 || (expected >= 0 && v.strides[d] != expected)) {
      return StrCat("the batch axes of ", name, " are not walked by one stride");
    }
    expected = v.strides[d] * v.shape[d];
  }
  return {};
}

// Reads relu(alpha * product + bias + residual), any part of which may be missing.
class EpilogueForm {
 public:
  explicit EpilogueForm(const Problem& p) : p_(p), e_(p.epilogue) {}

  std::string Refusal() {
    if (e_.empty()) return {};
    if (e_.results.size() != 1) return "the library stores one result";
    uint16_t at = e_.results[0];
    if (At(at).op == ExprOp::kMax && IsZero(At(At(at).args[1]))) at = At(at).args[0];
    while (At(at).op == ExprOp::kAdd) {
      uint16_t extra = At(at).args[1];
      at = At(at).args[0];
      if (IsExtra(At(at))) std::swap(at, extra);
      std::string refusal = ReadExtra(At(extra));
      if (!refusal.empty()) return refusal;
    }
    if (At(at).op == ExprOp::kMul && At(At(at).args[1]).op == ExprOp::kConst) at = At(at).args[0];
    if (At(at).op == ExprOp::kInput && At(at).imm == 0) return {};
    return "the epilogue is not relu(alpha * product + bias + residual) or a part of it";
  }

 private:
  const ExprNode& At(uint16_t i) const { return e_.nodes[i]; }
  static bool IsExtra(const ExprNode& n) { return n.op == ExprOp::kInput && n.imm > 0; }
  static bool IsZero(const ExprNode& n) {
    return n.op == ExprOp::kConst && abi::BitsToFloat(n.imm) == 0;
  }
  static bool IsBias(const View& v) {
    const int last = v.shape.rank() - 1;
    for (int d = 0; d < last; ++d) {
      if (v.shape[d] != 1 && v.strides[d] != 0) return false;
    }
    return v.shape[last] == 1 || v.strides[last] == 1;
  }

  std::string ReadExtra(const ExprNode& n) {
    if (!IsExtra(n)) return "the epilogue adds something that is no operand";
    const View& v = p_.inputs[static_cast<size_t>(p_.core_inputs) + n.imm - 1];
    if (v.dtype != p_.outputs[0].dtype) return "an epilogue operand's dtype is not the output's";
    if (!bias_ && IsBias(v)) {
      bias_ = true;
      return {};
    }
    if (residual_) return "the epilogue adds two residuals";
    residual_ = true;
    return RefuseMatrix("the residual", v, true);
  }

  const Problem& p_;
  const Expr& e_;
  bool bias_ = false;
  bool residual_ = false;
};

std::string Supports(const Problem& p, const abi::DeviceSpec& d) {
  std::string refusal = RefuseDevice(d);
  if (refusal.empty()) refusal = RefuseTypes(p);
  if (refusal.empty()) refusal = RefuseMatrix("A", p.inputs[0], false);
  if (refusal.empty()) refusal = RefuseMatrix("B", p.inputs[1], false);
  if (refusal.empty()) refusal = RefuseMatrix("the output", p.outputs[0], true);
  if (refusal.empty()) refusal = EpilogueForm(p).Refusal();
  return refusal;
}

double CostUs(const Problem& p, const abi::DeviceSpec& d) {
  const bool tensor = p.math != abi::MathMode::kFp32 && p.math != abi::MathMode::kFp8;
  const double tf32 = p.math == abi::MathMode::kTf32 ? 0.5 : 1.0;
  return PredictUs({.bytes = abi::ByteCount(p),
                    .flops = abi::FlopCount(p),
                    .flops_per_us = tensor ? d.tensor_flops_per_us * tf32 : d.fp32_flops_per_us,
                    .blocks = static_cast<double>(d.sm_count),
                    .latency_us = 2.0},
                   d);
}

}  // namespace

abi::KernelInfo LibraryRow() {
  abi::KernelInfo row{};
  row.key = "cublaslt.matmul";
  row.family = abi::Family::kGemm;
  row.backend = abi::Backend::kLibrary;
  row.deterministic = true;
  row.supports = &Supports;
  row.workspace_bytes = [](const Problem&, const abi::DeviceSpec&) {
    return kLibraryWorkspaceBytes;
  };
  // The residual is read by the same call that writes the result; the library forbids no overlap of
  // equal layouts there (C == D).
  row.in_place = [](const Problem& p, int input) {
    return input >= p.core_inputs && SameElements(p, input);
  };
  row.cost_us = &CostUs;
  return row;
}

}  // namespace aicf::cuda
