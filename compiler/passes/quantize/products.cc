#include "compiler/passes/quantize/products.h"

#include <algorithm>
#include <cmath>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/quantize/never_negative.h"
#include "kernels/abi/raw_dtype.h"

namespace aicf::quantize {
namespace {

using abi::ExprOp;
using abi::Family;

// Sums of so many products of codes stay within i32: each is at most 255 * 127.
constexpr int64_t kMostProducts = 66000;
// What QuantizedProblem adds to an epilogue.
constexpr int kMoreInputs = 2, kMoreNodes = 8;

int64_t ProductsInSum(const abi::Problem& p) {
  const Dims& w = p.inputs[1].shape;
  if (p.family == Family::kGemm) return w[w.rank() - 2];
  const int64_t outputs = OutputChannels(p);
  return outputs == 0 ? 0 : *ElementCount(w) * p.as<abi::ConvAttrs>().group / outputs;
}

bool IsFinite(const ir::Tensor& t) {
  for (int64_t i = 0; i < t.count(); ++i) {
    if (!std::isfinite(t.FloatAt(i))) return false;
  }
  return true;
}

std::string RefuseForm(const abi::Problem& p) {
  if (abi::RawInputs(p) != 1 || abi::NormalizesRows(p)) {
    return "pattern: it is more than a product of two operands";
  }
  if (abi::ElementsOf(p.outputs[0]) == 0) return "size: it has no results";
  if (ProductsInSum(p) > kMostProducts) {
    return StrCat("range: sums of ", ProductsInSum(p), " products could leave i32");
  }
  if (p.extra_inputs() + 1 + kMoreInputs > abi::kMaxExprInputs ||
      static_cast<int>(p.epilogue.nodes.size()) + kMoreNodes > abi::kMaxExprNodes) {
    return "limits: its epilogue has no room for scales";
  }
  return "";
}

// The steps that write a buffer, ascending. last() is -1 where there is none.
struct Writers {
  std::vector<int> steps;
  int last() const { return steps.empty() ? -1 : steps.back(); }
};

Writers WritersOf(const ir::Lowered& lowered, ir::BufferId b) {
  Writers writers;
  for (size_t s = 0; s < lowered.steps.size(); ++s) {
    if (std::ranges::count(lowered.steps[s].outputs, b) > 0) {
      writers.steps.push_back(static_cast<int>(s));
    }
  }
  return writers;
}

// Why no step can store the codes of the value that product `s` reads; empty if one can. That step
// has to run once, after the value is complete, and whenever the value is made.
std::string RefuseMaker(const ir::Lowered& lowered, int s, ir::BufferId value) {
  const Writers writers = WritersOf(lowered, value);
  if (writers.last() > s) return "whole: it reads a part of a value that is written in parts";
  for (const int w : writers.steps) {
    const ir::LoweredStep& writer = lowered.steps[static_cast<size_t>(w)];
    if (writer.loop != ir::kNoLoop) return "loop: a loop makes its operand";
    if (writer.guards != lowered.steps[static_cast<size_t>(writers.steps[0])].guards) {
      return "guard: parts of its operand are made under different conditions";
    }
  }
  return "";
}

}  // namespace

bool IsFloatProduct(const ir::LoweredStep& step) {
  const abi::Problem& p = step.problem;
  const auto is_float = [&](size_t k) {
    const DType dtype = p.inputs[k].dtype;
    return dtype == DType::kF32 || dtype == DType::kF16 || dtype == DType::kBF16;
  };
  return (p.family == Family::kGemm || p.family == Family::kConv) && is_float(0) && is_float(1);
}

std::string RefuseProduct(const ir::Lowered& lowered, int s) {
  const ir::LoweredStep& step = lowered.steps[static_cast<size_t>(s)];
  const ir::LoweredBuffer &x = lowered.buffers[step.inputs[0]],
                          &w = lowered.buffers[step.inputs[1]];
  if (!w.constant.has_data()) return "weights: both of its operands are computed";
  if (x.constant.has_data()) return "weights: both of its operands are constants";
  if (x.dtype != step.problem.inputs[0].dtype || w.dtype != step.problem.inputs[1].dtype)
    return "view: it reads bits of another dtype";
  if (step.loop != ir::kNoLoop) return "loop: a loop repeats it";
  if (std::string refusal = RefuseForm(step.problem); !refusal.empty()) return refusal;
  if (!IsFinite(w.constant)) return "range: not all of its weights are finite";
  return RefuseMaker(lowered, s, step.inputs[0]);
}

bool TakesZeroPoint(const abi::Problem& p) {
  if (p.family == Family::kGemm) return HasOneMatrix(p);
  const auto& a = p.as<abi::ConvAttrs>();
  const auto none = [](int64_t pad) { return pad == 0; };
  return !a.transposed && std::ranges::all_of(a.pads_begin, none) &&
         std::ranges::all_of(a.pads_end, none);
}

Products::Products(const ir::Lowered& lowered)
    : refusals(lowered.steps.size()),
      never_negative_(NeverNegative(lowered)),
      takes_zero_(lowered.buffers.size(), true),
      depthwise_(lowered.buffers.size(), true),
      channels_(lowered.buffers.size()) {
  for (int s = 0; s < static_cast<int>(lowered.steps.size()); ++s) {
    const ir::LoweredStep& step = lowered.steps[static_cast<size_t>(s)];
    if (!IsFloatProduct(step)) continue;
    std::string& refusal = refusals[static_cast<size_t>(s)];
    refusal = RefuseProduct(lowered, s);
    if (!refusal.empty()) continue;
    const ir::BufferId value = step.inputs[0];
    steps.push_back(s);
    if (std::ranges::count(values, value) == 0) values.push_back(value);
    AddReader(step.problem, value, *ElementCount(lowered.buffers[value].shape));
  }
}

namespace {

// Where the channels that the product sums over lie in the buffer of operand 0; extent 0 where no
// single stride expresses that.
Channels ChannelsOf(const abi::Problem& p, int64_t elements) {
  const abi::View& x = p.inputs[0];
  const int axis = p.family == Family::kGemm ? x.shape.rank() - 1 : 1;
  const bool whole = x.offset == 0 && ir::CoversWhole(x, elements);
  if (!whole || x.strides[axis] <= 0 || !HasOwnChannels(p)) return {};
  return {x.strides[axis], x.shape[axis]};
}

bool IsDepthwiseConv(const abi::Problem& p) {
  if (p.family != Family::kConv) return false;
  const auto& a = p.as<abi::ConvAttrs>();
  return !a.transposed && a.group > 1 && a.group == p.inputs[0].shape[1];
}

}  // namespace

void Products::AddReader(const abi::Problem& p, ir::BufferId value, int64_t elements) {
  takes_zero_[value] = takes_zero_[value] && TakesZeroPoint(p);
  depthwise_[value] = depthwise_[value] && IsDepthwiseConv(p);
  const Channels channels = ChannelsOf(p, elements);
  if (!channels_[value]) channels_[value] = channels;
  if (*channels_[value] != channels) channels_[value] = Channels();
}

CodeRules Products::RulesOf(ir::BufferId value, DType precision) const {
  return {precision, never_negative_[value], takes_zero_[value],
          channels_[value].value_or(Channels())};
}

namespace {

// An epilogue operand with one element per output channel.
abi::View PerChannelView(const abi::Problem& p, DType dtype) {
  abi::View view{dtype, p.outputs[0].shape, Dims::Filled(p.outputs[0].shape.rank(), 0), 0};
  view.strides[ChannelAxis(p)] = 1;
  return view;
}

template <class T>
ir::Tensor VectorOf(DType dtype, const std::vector<T>& values) {
  return ir::Tensor::FromValues<T>(dtype, {static_cast<int64_t>(values.size())},
                                   std::span<const T>(values));
}

class EpilogueBuilder {
 public:
  EpilogueBuilder(abi::Problem& problem, std::vector<ir::Tensor>& extras)
      : problem_(problem), extras_(extras), sums_(b_.Input(0, abi::RawDType(problem))) {}

  // sum (x - z) w = sum x w - z sum w
  void TakeOff(int zero, const std::vector<int32_t>& sums) {
    if (zero == 0) return;
    std::vector<int32_t> products;
    for (const int32_t sum : sums) {
      products.push_back(
          static_cast<int32_t>(static_cast<uint32_t>(sum) * static_cast<uint32_t>(zero)));
    }
    sums_ = b_.Binary(ExprOp::kSub, sums_, Load(VectorOf(DType::kI32, products)));
  }

  void Scale(const std::vector<float>& factors) {
    const uint16_t value = b_.Cast(sums_, DType::kF32);
    const bool one = std::ranges::all_of(factors, [&](float f) { return f == factors[0]; });
    const uint16_t by = one ? b_.Const(static_cast<double>(factors[0]), DType::kF32)
                            : Load(VectorOf(DType::kF32, factors));
    sums_ = b_.Binary(ExprOp::kMul, value, by);
  }

  void Finish(const abi::Expr& rest, int extras) {
    std::vector<uint16_t> results = {sums_};
    if (!rest.empty()) {
      std::vector<uint16_t> inputs = {sums_};
      for (int k = 1; k <= extras; ++k) {
        const DType dtype =
            problem_.inputs[static_cast<size_t>(problem_.core_inputs + k - 1)].dtype;
        inputs.push_back(b_.Input(k, abi::ComputeDType(dtype)));
      }
      results = b_.Inline(rest, inputs);
    }
    problem_.epilogue = b_.Finish(results);
  }

 private:
  uint16_t Load(ir::Tensor vector) {
    problem_.inputs.push_back(PerChannelView(problem_, vector.dtype()));
    extras_.push_back(std::move(vector));
    return b_.Input(problem_.extra_inputs(), extras_.back().dtype());
  }

  abi::Problem& problem_;
  std::vector<ir::Tensor>& extras_;
  abi::ExprBuilder b_;
  uint16_t sums_;
};

}  // namespace

abi::Problem QuantizedProblem(const abi::Problem& problem, const ValueCode& code,
                              const QuantizedWeights& weights, std::vector<ir::Tensor>* extras) {
  abi::Problem p = problem;
  p.inputs[0].dtype = code.dtype;
  p.inputs[1].dtype = weights.codes.dtype();
  EpilogueBuilder builder(p, *extras);
  builder.TakeOff(code.zero, weights.sums);
  std::vector<float> factors;
  for (const float scale : weights.scales) factors.push_back(scale * code.scale);
  builder.Scale(factors);
  builder.Finish(problem.epilogue, problem.extra_inputs());
  return p;
}

std::string RefuseOnDevice(const abi::Problem& before, const abi::Problem& after,
                           const abi::DeviceSpec& device) {
  const bool reference =
      device.backend == abi::Backend::kCpu && IsStorageOnly(after.inputs[0].dtype);
  return reference ? "" : LosesKernel(before, after, device);
}

}  // namespace aicf::quantize
