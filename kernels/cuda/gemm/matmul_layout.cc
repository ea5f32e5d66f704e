#include "kernels/cuda/gemm/matmul_layout.h"

namespace aicf::cuda {
namespace {

using abi::ExprNode;
using abi::ExprOp;
using abi::View;

Status Refuse(std::string_view operand, std::string_view why) {
  return Error(Code::kUnsupported, "cannot take ", operand, ": ", why);
}

/// The one stride that walks all batch axes of the view in order.
Status DescribeBatch(std::string_view name, const View& view, MatrixLayout* out) {
  int64_t expected = -1;  // stride with which an axis continues those inside it; -1: any
  for (int axis = view.shape.rank() - 3; axis >= 0; --axis) {
    if (view.shape[axis] == 1) continue;
    const int64_t stride = view.strides[axis];
    if (expected < 0) out->batch_stride = stride;
    if (expected >= 0 && stride != expected) {
      return Refuse(name, "its batch axes are not walked by one stride");
    }
    expected = stride * view.shape[axis];
    if (stride < 0) return Refuse(name, "its batch stride is negative");
  }
  return OkStatus();
}

/// The last two axes as a column-major matrix, whose columns are the view's rows.
Result<MatrixLayout> DescribeMatrix(std::string_view name, const View& view) {
  const int slow = view.shape.rank() - 2;
  const int fast = view.shape.rank() - 1;
  const auto extent = [&](int axis) { return view.shape[axis]; };
  MatrixLayout out;
  out.dtype = view.dtype;
  out.offset = view.offset;
  const auto fits = [&](int inner, int outer) {
    if (extent(inner) != 1 && view.strides[inner] != 1) return false;
    out.rows = extent(inner);
    out.cols = extent(outer);
    out.ld = out.cols == 1 ? out.rows : view.strides[outer];
    return out.ld >= out.rows;
  };
  if (!fits(fast, slow)) {
    out.transposed = true;
    if (!fits(slow, fast)) return Refuse(name, "neither of its matrix axes is contiguous");
  }
  AICF_RETURN_IF_ERROR(DescribeBatch(name, view, &out));
  return out;
}

bool IsBias(const View& view) {
  const int rank = view.shape.rank();
  for (int axis = 0; axis < rank - 1; ++axis) {
    if (view.shape[axis] != 1 && view.strides[axis] != 0) return false;
  }
  return view.shape[rank - 1] == 1 || view.strides[rank - 1] == 1;
}

bool IsFloatConst(const ExprNode& node, double value) {
  return node.op == ExprOp::kConst && abi::BitsToFloat(node.imm) == value;
}

/// Reads activation(alpha * acc + extras) from its outermost operator inwards.
class EpilogueReader {
 public:
  EpilogueReader(const abi::Problem& problem, MatmulLayout* out) : problem_(problem), out_(out) {}

  Status Read() {
    const abi::Expr& e = problem_.epilogue;
    if (e.empty()) return OkStatus();
    if (e.results.size() != 1) return Refuse("the epilogue", "it has several results");
    uint16_t at = e.results[0];
    if (Node(at).op == ExprOp::kMax && IsFloatConst(Node(Node(at).args[1]), 0)) {
      out_->activation = MatmulActivation::kRelu;
      at = Node(at).args[0];
    }
    while (Node(at).op == ExprOp::kAdd) {
      uint16_t extra = Node(at).args[1];
      at = Node(at).args[0];
      if (IsExtra(Node(at))) std::swap(at, extra);
      AICF_RETURN_IF_ERROR(ReadExtra(Node(extra)));
    }
    if (Node(at).op == ExprOp::kMul && Node(Node(at).args[1]).op == ExprOp::kConst) {
      out_->alpha = abi::BitsToFloat(Node(Node(at).args[1]).imm);
      at = Node(at).args[0];
    }
    if (Node(at).op == ExprOp::kInput && Node(at).imm == 0) return OkStatus();
    return Refuse("the epilogue",
                  "it is not relu(alpha * product + bias + residual) or a part of it");
  }

 private:
  const ExprNode& Node(uint16_t index) const { return problem_.epilogue.nodes[index]; }
  static bool IsExtra(const ExprNode& node) { return node.op == ExprOp::kInput && node.imm > 0; }

  Status ReadExtra(const ExprNode& node) {
    if (!IsExtra(node)) return Refuse("the epilogue", "it adds something that is no operand");
    const int input = problem_.core_inputs + static_cast<int>(node.imm) - 1;
    const View& view = problem_.inputs[input];
    if (view.dtype != problem_.outputs[0].dtype) {
      return Refuse("the epilogue", "an operand's dtype differs from the output's");
    }
    if (out_->bias_input < 0 && IsBias(view)) {
      out_->bias_input = input;
      out_->bias_offset = view.offset;
      return OkStatus();
    }
    if (out_->residual_input >= 0) return Refuse("the epilogue", "it adds two residuals");
    out_->residual_input = input;
    AICF_ASSIGN_OR_RETURN(out_->c, DescribeMatrix("the residual", view));
    if (out_->c.transposed) return Refuse("the residual", "it is not row-major");
    return OkStatus();
  }

  const abi::Problem& problem_;
  MatmulLayout* out_;
};

Status CheckTypes(const abi::Problem& problem) {
  const DType in = problem.inputs[0].dtype;
  const DType out = problem.outputs[0].dtype;
  if (problem.inputs[1].dtype != in) return Refuse("the operands", "A and B differ in dtype");
  if (problem.math == abi::MathMode::kFp8) {
    return Refuse("the operands", "fp8 products need per-tensor scales");
  }
  if (in != DType::kF32 && in != DType::kF16 && in != DType::kBF16) {
    return Refuse("the operands", "only f32, f16 and bf16 are supported");
  }
  if (out != in && out != DType::kF32)
    return Refuse("the output", "its dtype is not A's and not f32");
  for (const View* view : {&problem.inputs[0], &problem.inputs[1]}) {
    for (int64_t extent : view->shape) {
      if (extent == 0) return Refuse("the operands", "an extent is 0");
    }
  }
  return OkStatus();
}

}  // namespace

Result<MatmulLayout> DescribeMatmul(const abi::Problem& problem) {
  if (problem.family != abi::Family::kGemm) return Refuse("the step", "it is no gemm");
  if (abi::SumInputs(problem) > 1) return Refuse("the step", "its product has two halves");
  if (abi::NormalizesRows(problem)) return Refuse("the step", "its product normalises rows");
  if (abi::SeesMoments(problem)) return Refuse("the step", "its epilogue sees moments of rows");
  if (abi::StoresParts(problem)) return Refuse("the step", "it stores moments of its results");
  if (abi::HasBlockScales(problem)) return Refuse("the step", "its operands have scales of blocks");
  AICF_RETURN_IF_ERROR(CheckTypes(problem));
  MatmulLayout out;
  out.math = problem.math;
  AICF_ASSIGN_OR_RETURN(out.a, DescribeMatrix("B", problem.inputs[1]));
  AICF_ASSIGN_OR_RETURN(out.b, DescribeMatrix("A", problem.inputs[0]));
  AICF_ASSIGN_OR_RETURN(out.d, DescribeMatrix("the output", problem.outputs[0]));
  if (out.d.transposed) return Refuse("the output", "it is not row-major");
  const Dims& shape = problem.outputs[0].shape;
  for (int axis = 0; axis < shape.rank() - 2; ++axis) out.batch_count *= shape[axis];
  if (out.batch_count > INT32_MAX) return Refuse("the output", "its batch is above 2^31 - 1");
  out.c = out.d;
  AICF_RETURN_IF_ERROR(EpilogueReader(problem, &out).Read());
  return out;
}

}  // namespace aicf::cuda
