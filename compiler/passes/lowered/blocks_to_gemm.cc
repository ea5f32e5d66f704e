// Weights that a language model's file has in bf16 or f16 are, for its importer, rows of blocks of
// one element each, so that one graph serves every format. Once values are stored in the same
// 16-bit dtype, a product with such rows is a plain matrix product, for which there are faster
// kernels with many rows of A, and weights lie in memory once, in the model's order, for prefill
// and decode. Rows of an embedding table are read from the same copy.
#include <map>
#include <optional>

#include "compiler/ir/lowered_edit.h"
#include "compiler/passes/lowered/block_products.h"
#include "compiler/passes/lowered/copy_pieces.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

constexpr std::string_view kBlocksToGemm = "blocks-to-gemm";

// The dtype whose values the blocks are, one after the other.
std::optional<DType> PlainDType(BlockFormat format) {
  if (format == BlockFormat::kF16) return DType::kF16;
  if (format == BlockFormat::kBF16) return DType::kBF16;
  return std::nullopt;
}

// Rows of bytes as rows of elements; nothing where some element is not on its boundary.
std::optional<abi::View> Elements(const abi::View& bytes, DType dtype) {
  const int64_t size = DTypeBytes(dtype);
  abi::View v = bytes;
  const int last = v.shape.rank() - 1;
  if (v.strides[last] != 1 || v.shape[last] % size != 0 || v.offset % size != 0) return {};
  for (int d = 0; d < last; ++d) {
    if (v.strides[d] % size != 0) return {};
    v.strides[d] /= size;
  }
  v.dtype = dtype;
  v.shape[last] /= size;
  v.offset /= size;
  return v;
}

class Opener {
 public:
  Opener(ir::Lowered& lowered, PassContext& context) : editor_(lowered), context_(context) {}

  Status Run() {
    for (int s = 0; s < editor_.size(); ++s) {
      const abi::Family family = editor_.step(s).problem.family;
      if (family == abi::Family::kBlockGemm) OpenProduct(s);
      if (family == abi::Family::kDequantize) AICF_RETURN_IF_ERROR(OpenRows(s));
    }
    editor_.Finish();
    return OkStatus();
  }

 private:
  bool IsConstant(ir::BufferId b) const {
    return editor_.buffer(b).constant.has_data() && editor_.buffer(b).shape.rank() == 2;
  }

  /// The constant as elements of `dtype` instead of bytes. The data are the same.
  ir::BufferId Opened(ir::BufferId b, DType dtype) {
    const auto [place, fresh] = opened_.try_emplace({b, dtype}, 0);
    if (!fresh) return place->second;
    ir::LoweredBuffer buffer = editor_.buffer(b);
    const ir::Tensor bytes = buffer.constant;
    buffer.dtype = dtype;
    buffer.shape[1] /= DTypeBytes(dtype);
    buffer.constant =
        ir::Tensor(dtype, buffer.shape, bytes.bytes(), std::make_shared<ir::Tensor>(bytes));
    place->second = editor_.AddBuffer(std::move(buffer));
    return place->second;
  }

  // A [m, k] times the transpose of rows [n, k].
  std::string OpenedProduct(const ir::LoweredStep& step, DType dtype, abi::Problem* product) const {
    const abi::Problem& p = step.problem;
    const auto rows = Elements(p.inputs[1], dtype);
    if (!IsConstant(step.inputs[1])) return "constant: the weights are computed";
    if (!rows) return "view: elements are not on their boundaries";
    const std::string refusal = MatrixProduct(p, *rows, product);
    if (!refusal.empty()) return refusal;
    return LosesKernel(p, *product, context_.device);
  }

  void OpenProduct(int s) {
    ir::LoweredStep step = editor_.step(s);
    const auto dtype = PlainDType(step.problem.as<abi::BlockGemmAttrs>().format);
    if (!dtype) return;
    abi::Problem product;
    const std::string refusal = OpenedProduct(step, *dtype, &product);
    Record(step, refusal, "matrix product", "product with blocks");
    if (!refusal.empty()) return;
    step.problem = std::move(product);
    step.inputs[1] = Opened(step.inputs[1], *dtype);
    editor_.Replace(s, std::move(step));
  }

  // Step `s` decodes rows. Looks for the step that gathers them from a constant table for step `s`
  // alone. Sets *gather to that step and *rows to its problem on plain elements and returns an
  // empty string, or returns why there is none.
  std::string OpenedRows(int s, DType dtype, int* gather, abi::Problem* rows) const {
    const ir::LoweredStep& decode = editor_.step(s);
    const ir::BufferId b = decode.inputs[0];
    *gather = editor_.OnlyWriter(b);
    if (*gather < 0 || editor_.OnlyReader(b) != s ||
        editor_.buffer(b).role != schema::Role::kTemp) {
      return "single use: no step gathers these rows for it alone";
    }
    const ir::LoweredStep& from = editor_.step(*gather);
    const abi::Problem& p = from.problem;
    if (p.family != abi::Family::kGather || !IsConstant(from.inputs[0]) || !p.epilogue.empty() ||
        p.as<abi::GatherAttrs>().kind != abi::GatherKind::kTake ||
        p.as<abi::GatherAttrs>().axis != 0) {
      return "rows: they are no rows of a constant table";
    }
    const auto table = Elements(p.inputs[0], dtype), taken = Elements(p.outputs[0], dtype);
    if (!table || !taken || !Elements(decode.problem.inputs[0], dtype)) {
      return "view: elements are not on their boundaries";
    }
    *rows = p;
    rows->inputs[0] = *table;
    rows->outputs[0] = *taken;
    return LosesKernel(p, *rows, context_.device);
  }

  Status OpenRows(int s) {
    ir::LoweredStep decode = editor_.step(s);
    const auto dtype = PlainDType(decode.problem.as<abi::DequantizeAttrs>().format);
    if (!dtype) return OkStatus();
    int gather = -1;
    abi::Problem rows;
    const std::string refusal = OpenedRows(s, *dtype, &gather, &rows);
    Record(decode, refusal, "values", "blocks");
    if (!refusal.empty()) return OkStatus();
    ir::LoweredStep take = editor_.step(gather);
    const ir::BufferId between = take.outputs[0];
    take.problem = std::move(rows);
    take.inputs[0] = Opened(take.inputs[0], *dtype);
    ir::LoweredBuffer& taken = editor_.lowered().buffers[between];
    taken.dtype = *dtype;
    taken.shape[taken.shape.rank() - 1] /= DTypeBytes(*dtype);
    editor_.Replace(gather, std::move(take));
    abi::Problem& p = decode.problem;
    p.inputs[0] = *Elements(p.inputs[0], *dtype);
    p.family = abi::Family::kElementwise;
    p.attrs = abi::ElementwiseAttrs{};
    p.core_inputs = static_cast<int>(p.inputs.size());
    if (p.epilogue.empty()) {
      abi::ExprBuilder builder;
      p.epilogue = builder.Finish({builder.Input(0, DType::kF32)});
    }
    editor_.Replace(s, std::move(decode));
    // Where the rows are stored in the table's own dtype, step `s` now only copies what the gather
    // took.
    return ForwardCopy(editor_, context_, s, kBlocksToGemm);
  }

  void Record(const ir::LoweredStep& step, const std::string& refusal, const char* opened,
              const char* closed) {
    Decision d = context_.About(DecisionKind::kFold, SubjectOf(step), kBlocksToGemm);
    d.choice = refusal.empty() ? opened : closed;
    d.Because(Reason::kRule, refusal.empty() ? "its blocks are plain elements of one dtype"
                                             : "its blocks stay as they are");
    d.alternatives = {refusal.empty()
                          ? schema::Alternative{closed, "cost: its weights are a copy", -1}
                          : schema::Alternative{opened, refusal, -1}};
    context_.Record(std::move(d));
  }

  ir::StepEditor editor_;
  PassContext& context_;
  std::map<std::pair<ir::BufferId, DType>, ir::BufferId> opened_;
};

}  // namespace

Status BlocksToGemm(ir::Lowered& lowered, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  return Opener(lowered, context).Run();
}

}  // namespace aicf
