#include <algorithm>
#include <map>
#include <optional>

#include "compiler/ir/lowered_edit.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lower/quantize_expr.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/quantize/product_choice.h"

namespace aicf {
namespace {

using quantize::ProductAnswer;
using quantize::ProductChoice;
using quantize::ShortNumber;
using quantize::ValueCode;

constexpr std::string_view kQuantizeProducts = "quantize-products";

// Puts the steps that store codes, and the products that read them, into the program.
class CodesRewriter {
 public:
  CodesRewriter(const ProductChoice& choice, ir::Lowered& lowered, PassContext& context)
      : choice_(choice), lowered_(lowered), context_(context) {}

  void Run() {
    std::vector<ir::LoweredStep> steps;
    const std::vector<ir::LoweredStep> before = std::move(lowered_.steps);
    auto product = choice_.products().begin();
    for (size_t s = 0; s < before.size(); ++s) {
      const bool asked =
          product != choice_.products().end() && product->step == static_cast<int>(s);
      const ProductAnswer* here = asked ? &*product++ : nullptr;
      if (here == nullptr || !here->wide.empty()) {
        steps.push_back(before[s]);
        continue;
      }
      const ir::BufferId value = before[s].inputs[0];
      const auto [place, fresh] = codes_.try_emplace(value, 0);
      if (fresh) {
        place->second = AddCodes(value);
        steps.push_back(StoreCodes(before, s, value, place->second));
      }
      steps.push_back(Replaced(before[s], *here, place->second));
    }
    lowered_.steps = std::move(steps);
    ir::DropUnusedBuffers(lowered_);
  }

 private:
  ir::BufferId AddBuffer(ir::LoweredBuffer buffer) {
    lowered_.buffers.push_back(std::move(buffer));
    return static_cast<ir::BufferId>(lowered_.buffers.size() - 1);
  }

  ir::BufferId AddConstant(std::string name, ir::Tensor data) {
    return AddBuffer({std::move(name), data.dtype(), data.shape(), schema::Role::kConstant, data});
  }

  const ValueCode& CodeOf(ir::BufferId value) const { return choice_.ValueOf(value).code(); }

  ir::BufferId AddCodes(ir::BufferId value) {
    const ir::LoweredBuffer& b = lowered_.buffers[value];
    const DType dtype = CodeOf(value).dtype;
    return AddBuffer(
        {StrCat(b.name, " as ", DTypeName(dtype)), dtype, b.shape, schema::Role::kTemp, {}});
  }

  // The view through which the value is read to be stored as codes. Where one step writes the whole
  // value, it is the view of that step's result: read in the same order, the codes can become that
  // step's epilogue. For a value that is written in parts, and for an input, it is the dense
  // buffer. Sets *maker to the last step that writes the value, if there is one.
  abi::View WholeView(const std::vector<ir::LoweredStep>& steps, ir::BufferId value,
                      const ir::LoweredStep** maker) const {
    int writers = 0;
    abi::View view;
    for (const ir::LoweredStep& step : steps) {
      for (size_t r = 0; r < step.outputs.size(); ++r) {
        if (step.outputs[r] != value) continue;
        *maker = &step;
        view = step.problem.outputs[r];
        ++writers;
      }
    }
    const ir::LoweredBuffer& b = lowered_.buffers[value];
    const bool whole = writers == 1 && ir::CoversWhole(view, *ElementCount(b.shape));
    return whole ? view : abi::DenseView(b.dtype, b.shape);
  }

  static int ChannelAxisOf(const abi::View& v, const quantize::Channels& channels) {
    for (int d = 0; d < v.shape.rank(); ++d) {
      if (v.shape[d] == channels.extent && v.strides[d] == channels.stride) return d;
    }
    return -1;
  }

  // One element by channel, repeated over the other axes. REQUIRES: the view has the channels'
  // axis.
  static abi::View ChannelView(const abi::View& v, const quantize::Channels& channels) {
    abi::View view{DType::kF32, v.shape, Dims::Filled(v.shape.rank(), 0), 0};
    view.strides[ChannelAxisOf(v, channels)] = 1;
    return view;
  }

  // codes = round(value / scale) + zero point, saturated
  ir::LoweredStep StoreCodes(const std::vector<ir::LoweredStep>& before, size_t reader,
                             ir::BufferId value, ir::BufferId codes) {
    const ValueCode code = CodeOf(value);
    const ir::LoweredStep* maker = nullptr;
    abi::View from = WholeView(before, value, &maker);
    if (!code.factors.empty() && ChannelAxisOf(from, code.channels) < 0) {
      from = before[reader].problem.inputs[0];
    }
    ir::LoweredStep step;
    step.sources = maker != nullptr ? maker->sources : before[reader].sources;
    if (maker != nullptr) step.guards = maker->guards;
    step.problem.attrs = abi::ElementwiseAttrs{};
    step.problem.inputs = {from};
    step.problem.outputs = {from};
    step.problem.outputs[0].dtype = code.dtype;
    step.inputs = {value};
    abi::ExprBuilder b;
    const std::vector<float> inverses = quantize::Inverses(code);
    std::optional<uint16_t> by;
    if (inverses.size() == 1) {
      if (inverses[0] != 1) by = b.Const(static_cast<double>(inverses[0]), DType::kF32);
    } else {
      by = b.Input(1, DType::kF32);
      step.problem.inputs.push_back(ChannelView(from, code.channels));
      step.inputs.push_back(
          AddConstant(StrCat(lowered_.buffers[codes].name, " factors"),
                      ir::Tensor::FromValues<float>(
                          DType::kF32, {static_cast<int64_t>(inverses.size())}, inverses)));
    }
    step.problem.core_inputs = static_cast<int>(step.inputs.size());
    uint16_t scaled = b.Input(0, DType::kF32);
    if (by) scaled = b.Binary(abi::ExprOp::kMul, scaled, *by);
    std::optional<uint16_t> zero;
    if (code.zero != 0) zero = b.ConstInt(code.zero, abi::ComputeDType(code.dtype));
    step.problem.epilogue = b.Finish({Quantized(b, scaled, zero, code.dtype)});
    step.outputs = {codes};
    return step;
  }

  ir::LoweredStep Replaced(const ir::LoweredStep& before, const ProductAnswer& p,
                           ir::BufferId codes) {
    ir::LoweredStep step = before;
    step.problem = p.after;
    const ir::BufferId weights = before.inputs[1];
    step.inputs[0] = codes;
    step.inputs[1] = Weights(weights, step, p);
    for (const ir::Tensor& extra : p.extras) {
      const std::string what = IsFloat(extra.dtype()) ? " factors" : " zero point's part";
      step.inputs.push_back(AddConstant(StrCat(lowered_.buffers[weights].name, what, " for ",
                                               lowered_.buffers[before.outputs[0]].name),
                                        extra));
    }
    return step;
  }

  // Products that read a constant alike share its codes.
  ir::BufferId Weights(ir::BufferId from, const ir::LoweredStep& step, const ProductAnswer& p) {
    const abi::View& w = step.problem.inputs[1];
    const std::string read = StrCat(abi::FamilyName(step.problem.family), ToString(w.shape),
                                    ToString(w.strides), "+", w.offset);
    const auto [place, fresh] = weights_.try_emplace({from, read}, 0);
    if (!fresh) return place->second;
    const std::string name = lowered_.buffers[from].name;
    Decision d = context_.About(DecisionKind::kStorage,
                                schema::Subject::ValueOf(SubjectForm::kWeights, name, step.sources),
                                kQuantizeProducts);
    const auto [least, most] = std::ranges::minmax(p.weights.scales);
    d.choice = StrCat(DTypeName(p.weights.codes.dtype()), ", ",
                      p.weights.per_channel ? "scales by channel" : "one scale", ": ",
                      ShortNumber(static_cast<double>(least)), " to ",
                      ShortNumber(static_cast<double>(most)));
    d.Because(Reason::kPolicy, "the largest magnitude has the largest code");
    context_.Record(std::move(d));
    place->second =
        AddConstant(StrCat(name, " as ", DTypeName(p.weights.codes.dtype())), p.weights.codes);
    return place->second;
  }

  const ProductChoice& choice_;
  ir::Lowered& lowered_;
  PassContext& context_;
  std::map<ir::BufferId, ir::BufferId> codes_;
  std::map<std::pair<ir::BufferId, std::string>, ir::BufferId> weights_;
};

}  // namespace

// Decides by the record of the samples alone, so that the same program follows from an artifact.
Status QuantizeProducts(ir::Lowered& lowered, PassContext& context) {
  if (context.calibration == nullptr) return OkStatus();
  const CalibratedEntry* record = context.calibration->Find(context.entry);
  if (record == nullptr) {
    return Error(Code::kBadArtifact, "the recorded calibration says nothing of entry point '",
                 context.entry, "'");
  }
  AICF_RETURN_IF_ERROR(record->CheckFits(lowered));
  const ir::Lowered before = lowered;
  ProductChoice choice(before, context, *record);
  AICF_RETURN_IF_ERROR(choice.Record());
  CodesRewriter(choice, lowered, context).Run();
  return OkStatus();
}

}  // namespace aicf
