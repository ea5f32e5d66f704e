// Products of many rows with quantised blocks on a GPU. A kernel that decodes blocks on their way
// to the tensor cores decodes each of them once for every tile of rows, with threads that then do
// not feed the tensor cores. Beyond some rows it takes less time to decode the whole matrix once,
// into memory that the next product uses again, and to multiply plain values. Weights stay in the
// artifact as blocks, in the form that decode steps read as well.
#include <algorithm>

#include "compiler/ir/lowered_edit.h"
#include "compiler/passes/lowered/block_products.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

constexpr std::string_view kDecodeBlocks = "decode-blocks";
// Up to so many rows there are kernels that read blocks at the memory's speed.
constexpr int64_t kFewRows = 8;

// Whether products in this math mode multiply numbers of this dtype, so that the decoded values may
// be stored in it.
bool Multiplies(abi::MathMode math, DType dtype) {
  return (math == abi::MathMode::kBf16 && dtype == DType::kBF16) ||
         (math == abi::MathMode::kFp16 && dtype == DType::kF16);
}

struct Costs {
  double blocks_us = 0, decode_us = 0, product_us = 0;
};

class BlockDecoder {
 public:
  BlockDecoder(ir::Lowered& lowered, PassContext& context) : editor_(lowered), context_(context) {}

  void Run() {
    for (int s = 0; s < editor_.size(); ++s) {
      if (editor_.step(s).problem.family == abi::Family::kBlockGemm) DecodeProduct(s);
    }
    editor_.Finish();
  }

 private:
  // Fills in both problems and returns an empty string, or returns why the blocks stay.
  std::string Split(const ir::LoweredStep& step, abi::Problem* decode,
                    abi::Problem* product) const {
    const abi::Problem& p = step.problem;
    const DType dtype = p.inputs[0].dtype;
    const auto format = p.as<abi::BlockGemmAttrs>().format;
    if (InfoOf(format).elements == 1) return "blocks: they are single elements";
    const int64_t rows =
        abi::ElementsOf(p.inputs[0]) / std::max<int64_t>(1, p.inputs[0].shape.back());
    if (rows <= kFewRows)
      return StrCat("rows: ", rows, " are multiplied as fast as blocks are read");
    if (!editor_.buffer(step.inputs[1]).constant.has_data()) {
      return "constant: the weights are computed";
    }
    if (!Multiplies(p.math, dtype)) {
      return StrCat("dtype: ", abi::MathModeName(p.math), " does not multiply ", DTypeName(dtype));
    }
    const abi::View& blocks = p.inputs[1];
    const abi::View values = abi::DenseView(dtype, {blocks.shape[0], p.inputs[0].shape.back()});
    decode->family = abi::Family::kDequantize;
    decode->attrs = abi::DequantizeAttrs{format};
    decode->inputs = {blocks};
    decode->core_inputs = 1;
    decode->outputs = {values};
    return MatrixProduct(p, values, product);
  }

  std::string Compare(const ir::LoweredStep& step, const abi::Problem& decode,
                      const abi::Problem& product, Costs* costs) const {
    std::string refusal;
    const auto blocks_us = PredictedUs(step.problem, context_.device, &refusal);
    const auto decode_us = PredictedUs(decode, context_.device, &refusal);
    const auto product_us = PredictedUs(product, context_.device, &refusal);
    if (!blocks_us || !decode_us || !product_us) return refusal;
    *costs = {*blocks_us, *decode_us, *product_us};
    return *decode_us + *product_us < *blocks_us ? "" : "cost: decoding takes longer";
  }

  void DecodeProduct(int s) {
    const ir::LoweredStep& step = editor_.step(s);
    abi::Problem decode, product;
    Costs costs;
    std::string refusal = Split(step, &decode, &product);
    if (refusal.empty()) refusal = Compare(step, decode, product, &costs);
    Record(step, refusal, decode, costs);
    if (!refusal.empty()) return;
    const ir::BufferId values =
        editor_.AddBuffer({StrCat(editor_.buffer(step.inputs[1]).name, " decoded"),
                           decode.outputs[0].dtype,
                           decode.outputs[0].shape,
                           schema::Role::kTemp,
                           {}});
    ir::LoweredStep before = step, after = step;
    before.problem = std::move(decode);
    before.inputs = {step.inputs[1]};
    before.outputs = {values};
    after.problem = std::move(product);
    after.inputs[1] = values;
    editor_.ReplaceWithMany(s, {std::move(before), std::move(after)});
  }

  void Record(const ir::LoweredStep& step, const std::string& refusal, const abi::Problem& decode,
              const Costs& costs) {
    Decision d = context_.About(DecisionKind::kFold, SubjectOf(step), kDecodeBlocks);
    const std::string_view apart = "decoded, then multiplied", together = "product with blocks";
    d.choice = refusal.empty() ? apart : together;
    if (refusal.empty()) {
      d.cost_us = costs.decode_us + costs.product_us;
      d.Because(Reason::kPredicted,
                StrCat("decoding takes ", costs.decode_us, " us and ",
                       abi::ElementsOf(decode.outputs[0]) * DTypeBytes(decode.outputs[0].dtype),
                       " bytes of the arena, the product ", costs.product_us, " us"));
      d.alternatives = {{std::string(together), "", costs.blocks_us}};
    } else {
      d.Because(Reason::kRule, "its blocks stay as they are");
      d.alternatives = {{std::string(apart), refusal,
                         costs.blocks_us > 0 ? costs.decode_us + costs.product_us : -1}};
    }
    context_.Record(std::move(d));
  }

  ir::StepEditor editor_;
  PassContext& context_;
};

}  // namespace

Status DecodeBlocks(ir::Lowered& lowered, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  BlockDecoder(lowered, context).Run();
  return OkStatus();
}

}  // namespace aicf
