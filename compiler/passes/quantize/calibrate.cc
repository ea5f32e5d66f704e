#include "compiler/passes/quantize/calibrate.h"

#include <algorithm>
#include <map>
#include <set>

#include "compiler/passes/quantize/equalize.h"
#include "compiler/passes/quantize/observer.h"
#include "compiler/passes/quantize/output_error.h"
#include "compiler/passes/quantize/products.h"
#include "compiler/passes/quantize/step_runner.h"
#include "compiler/passes/storage/narrow_tensor.h"

namespace aicf {
namespace quantize {
namespace {

// The effect of a product alone is measured on at most kEffectSamples samples, and on fewer, but at
// least one, where these would take more than kEffectFlops operations. If no product has to become
// f32 again, effects decide nothing, and one sample is enough to show their size.
constexpr size_t kEffectSamples = 32;
constexpr double kEffectFlops = 2e12;
// Operations that may be spent on trying again those products that became f32 and perhaps need not
// have.
constexpr double kRetryFlops = 1e12;

using Outputs = std::vector<ir::Tensor>;

// Without the folders around it: records hold no paths.
std::string FileName(const std::string& path) { return path.substr(path.rfind('/') + 1); }

class Calibrator {
 public:
  Calibrator(const ir::Lowered& lowered, const CalibrationRequest& request,
             const abi::DeviceSpec& device, StepRunner runner)
      : lowered_(lowered),
        request_(request),
        device_(device),
        products_(lowered),
        runner_(std::move(runner)) {}

  Result<CalibratedEntry> Run(const std::string& entry, std::vector<FittedSample> samples) {
    samples_ = std::move(samples);
    out_.entry = entry;
    out_.samples = static_cast<int>(samples_.size());
    AICF_RETURN_IF_ERROR(Observe());
    Prepare();
    AICF_RETURN_IF_ERROR(MeasureAll());
    AICF_RETURN_IF_ERROR(MeasureEffects());
    if (IsTooLarge()) AICF_RETURN_IF_ERROR(GiveBack());
    return std::move(out_);
  }

 private:
  void Progress(std::string_view phase, size_t done, size_t total) const {
    if (request_.progress) {
      request_.progress(phase, static_cast<int>(done), static_cast<int>(total));
    }
  }

  Outputs TakeOutputs() {
    Outputs outputs;
    for (const ir::BufferId b : lowered_.outputs) {
      const ir::LoweredBuffer& buffer = lowered_.buffers[b];
      const std::byte* data = runner_.data(b);
      outputs.push_back(
          ir::Tensor::Own(buffer.dtype, buffer.shape, {data, data + ir::BytesOf(buffer)}));
    }
    return outputs;
  }

  // One run of a sample as the program is. look(buffer, elements) sees each value when the first
  // product reads it.
  template <class Look>
  Status RunWhole(const FittedSample& sample, const Look& look) {
    runner_.Load(sample.inputs);
    std::set<ir::BufferId> seen;
    return runner_.Run(0, [&](int step) {
      if (!IsCandidate(step)) return false;
      const ir::BufferId b = ValueOf(step);
      if (seen.insert(b).second) look(b, runner_.Floats(b));
      return false;
    });
  }

  // Codes that are whole numbers have steps of one width, which is too coarse for channels of small
  // values. The steps of float8 are in proportion to the value, so its channels need no factors.
  bool EqualizesChannels() const { return request_.precision == DType::kI8; }

  // Runs every sample twice: first for the magnitudes of channels, from which their factors follow
  // where there are enough of them, then for the ranges of values, which these factors change.
  Status Observe() {
    std::map<ir::BufferId, ChannelObserver> observers;
    for (const ir::BufferId b : products_.values) {
      CalibratedValue value;
      value.buffer = b;
      value.name = lowered_.buffers[b].name;
      out_.values.push_back(std::move(value));
      if (EqualizesChannels() && ChannelsOf(b).known()) observers.try_emplace(b, ChannelsOf(b));
    }
    for (size_t i = 0; i < samples_.size(); ++i) {
      Progress("calibrate: channels", i, samples_.size());
      AICF_RETURN_IF_ERROR(
          RunWhole(samples_[i], [&](ir::BufferId b, std::span<const float> elements) {
            const auto observer = observers.find(b);
            if (observer != observers.end()) observer->second.Add(i, elements);
          }));
      expected_.push_back(TakeOutputs());
    }
    for (CalibratedValue& v : out_.values) {
      const auto observer = observers.find(v.buffer);
      if (observer != observers.end()) SetChannels(observer->second, v);
    }
    return ObserveRanges();
  }

  void SetChannels(const ChannelObserver& observer, CalibratedValue& v) const {
    const std::vector<double> weights = WeightsOf(v.buffer);
    if (observer.TellsRanges(weights)) {
      v.channels = ChannelExponents(observer.Largest(), weights);
    } else {
      v.few = observer.count();
    }
  }

  Status ObserveRanges() {
    std::map<ir::BufferId, Observer> observers;
    for (size_t i = 0; i < samples_.size(); ++i) {
      Progress("calibrate: ranges", i, samples_.size());
      AICF_RETURN_IF_ERROR(
          RunWhole(samples_[i], [&](ir::BufferId b, std::span<const float> elements) {
            Observer& observer = observers[b];
            CalibratedValue& value = *std::ranges::find(out_.values, b, &CalibratedValue::buffer);
            observer.Add(Equalized(value, elements));
            if (!observer.finite() && value.infinite.empty()) {
              value.infinite = FileName(samples_[i].name);
            }
          }));
    }
    for (CalibratedValue& v : out_.values) {
      const Observer& observer = observers[v.buffer];
      v.low = observer.low();
      v.high = observer.high();
      const int levels = products_.RulesOf(v.buffer, request_.precision).never_negative ? 256 : 128;
      for (int m = 0; m < kRangeMethods; ++m) {
        v.limits[static_cast<size_t>(m)] = observer.Limit(static_cast<RangeMethod>(m), levels);
      }
    }
    return OkStatus();
  }

  Channels ChannelsOf(ir::BufferId b) const {
    return products_.RulesOf(b, request_.precision).channels;
  }

  // By channel of a value: the largest magnitude of the weights that its products multiply it by.
  // Empty where all of them are depthwise.
  std::vector<double> WeightsOf(ir::BufferId b) const {
    std::vector<double> largest;
    if (products_.IsDepthwise(b)) return largest;
    largest.resize(static_cast<size_t>(ChannelsOf(b).extent), 0);
    for (const int s : products_.steps) {
      const ir::LoweredStep& step = lowered_.steps[static_cast<size_t>(s)];
      if (step.inputs[0] != b) continue;
      const std::vector<double> one =
          LargestByInput(step.problem, lowered_.buffers[step.inputs[1]].constant);
      for (size_t c = 0; c < one.size(); ++c) largest[c] = std::max(largest[c], one[c]);
    }
    return largest;
  }

  std::vector<float> Equalized(const CalibratedValue& value,
                               std::span<const float> elements) const {
    std::vector<float> out(elements.begin(), elements.end());
    if (value.channels.empty()) return out;
    const std::vector<float> factors = ChannelFactors(value.channels);
    const auto stride = static_cast<size_t>(ChannelsOf(value.buffer).stride);
    for (size_t i = 0; i < out.size(); ++i) out[i] /= factors[i / stride % factors.size()];
    return out;
  }

  bool IsCandidate(int step) const { return std::ranges::binary_search(products_.steps, step); }
  ir::BufferId ValueOf(int step) const {
    return lowered_.steps[static_cast<size_t>(step)].inputs[0];
  }

  // Prepares the rounded weights of every product and the code of its value, and finds the products
  // that are quantised at first: all whose value is finite and that the device's kernels take as
  // codes.
  void Prepare() {
    for (const int s : products_.steps) {
      const ir::LoweredStep& step = lowered_.steps[static_cast<size_t>(s)];
      const CalibratedValue& value = *out_.Find(step.inputs[0]);
      const ValueCode code =
          CodeOf(value, request_.method, products_.RulesOf(step.inputs[0], request_.precision));
      const QuantizedWeights weights =
          QuantizeWeights(step.problem, lowered_.buffers[step.inputs[1]].constant,
                          request_.precision, code.factors);
      const ir::Tensor rounded =
          AsStored(RoundedWeights(step.problem, weights), lowered_.buffers[step.inputs[1]].dtype);
      rounded_.emplace(s, Rounded{code, runner_.Pack(s, rounded)});
      CalibratedProduct product;
      product.step = s;
      product.name = lowered_.buffers[step.outputs[0]].name;
      if (value.infinite.empty() && IsTaken(step, code, weights)) quantised_.insert(s);
      out_.products.push_back(std::move(product));
    }
  }

  bool IsTaken(const ir::LoweredStep& step, const ValueCode& code,
               const QuantizedWeights& weights) const {
    std::vector<ir::Tensor> extras;
    const abi::Problem after = QuantizedProblem(step.problem, code, weights, &extras);
    return RefuseOnDevice(step.problem, after, device_).empty();
  }

  // Runs the product on what the codes of its operands stand for, in the dtype that it has them in.
  bool RunRounded(int s) {
    Rounded& rounded = rounded_.at(s);
    const ir::LoweredBuffer& buffer = lowered_.buffers[ValueOf(s)];
    const std::vector<float> from = runner_.Floats(ValueOf(s));
    std::vector<float> to(from.size());
    RoundToCodes(rounded.code, from, to);
    const ir::Tensor stored =
        AsStored(ir::Tensor::FromValues<float>(DType::kF32, buffer.shape, to), buffer.dtype);
    AlignedBytes value(stored.bytes().size());
    std::ranges::copy(stored.bytes(), value.data());
    runner_.RunStep(s, value.data(), rounded.weights.data());
    return true;
  }

  static ir::Tensor AsStored(const ir::Tensor& floats, DType dtype) {
    return dtype == DType::kF32 ? floats : storage::Narrowed(floats, dtype);
  }

  bool IsTooLarge() const { return out_.error > request_.max_error; }

  // Operations that it takes to measure each product's effect on one sample: those of the steps
  // from the product on, or, in a program with loops, of all steps.
  double FlopsOfEffects() const {
    std::vector<double> from(lowered_.steps.size() + 1, 0);
    for (size_t s = lowered_.steps.size(); s-- > 0;) {
      from[s] = from[s + 1] + abi::FlopCount(lowered_.steps[s].problem);
    }
    double flops = 0;
    for (const int s : products_.steps) {
      flops += from[lowered_.loops.empty() ? static_cast<size_t>(s) : 0];
    }
    return flops;
  }

  size_t EffectSamples() const {
    const double affordable = IsTooLarge() ? kEffectFlops / std::max(FlopsOfEffects(), 1.0) : 1;
    const double most = static_cast<double>(std::min(kEffectSamples, samples_.size()));
    return static_cast<size_t>(std::clamp(affordable, 1.0, most));
  }

  // Goes from the last product to the first. Without loops, each run starts at its product and
  // overwrites only what comes after, so that the values before the next product to be measured are
  // still those of the f32 program. With loops, every run starts from the sample again.
  Status MeasureEffects() {
    if (out_.products.empty()) return OkStatus();
    const size_t count = EffectSamples();
    std::vector<OutputError> errors(out_.products.size());
    for (size_t i = 0; i < count; ++i) {
      const size_t at = i * samples_.size() / count;
      runner_.Load(samples_[at].inputs);
      AICF_RETURN_IF_ERROR(runner_.Run(0, nullptr));
      for (size_t k = out_.products.size(); k-- > 0;) {
        Progress("calibrate: effects", (i + 1) * out_.products.size() - k,
                 count * out_.products.size());
        const int s = out_.products[k].step;
        if (!lowered_.loops.empty()) runner_.Load(samples_[at].inputs);
        AICF_RETURN_IF_ERROR(runner_.Run(lowered_.loops.empty() ? s : 0,
                                         [&](int step) { return step == s && RunRounded(s); }));
        errors[k].Add(expected_[at], TakeOutputs());
      }
    }
    for (size_t k = 0; k < errors.size(); ++k) out_.products[k].effect = errors[k].Relative();
    return OkStatus();
  }

  Status MeasureAll() {
    OutputError error;
    for (size_t i = 0; i < samples_.size(); ++i) {
      Progress("calibrate: error", i, samples_.size());
      runner_.Load(samples_[i].inputs);
      AICF_RETURN_IF_ERROR(
          runner_.Run(0, [&](int step) { return quantised_.contains(step) && RunRounded(step); }));
      error.Add(expected_[i], TakeOutputs());
    }
    out_.error = error.Relative();
    return OkStatus();
  }

  double FlopsOf(const CalibratedProduct& p) const {
    return abi::FlopCount(lowered_.steps[static_cast<size_t>(p.step)].problem);
  }

  // Lets products become f32 until the error is small enough. The first are those with the largest
  // squared effect (squares of errors add up) for each operation that 8 bits save. How many have to
  // is found by bisection: with all of them in f32 there is no error.
  Status GiveBack() {
    std::vector<CalibratedProduct*> order;
    for (CalibratedProduct& p : out_.products) {
      if (quantised_.contains(p.step)) order.push_back(&p);
    }
    std::ranges::stable_sort(order, std::ranges::greater(), [&](const CalibratedProduct* p) {
      return p->effect * p->effect / std::max(FlopsOf(*p), 1.0);
    });
    const auto keep_wide = [&](size_t count) {
      for (size_t k = 0; k < order.size(); ++k) SetWide(*order[k], k < count);
      return MeasureAll();
    };
    size_t few = 0, enough = order.size();
    while (enough - few > 1) {
      const size_t count = (few + enough) / 2;
      AICF_RETURN_IF_ERROR(keep_wide(count));
      (IsTooLarge() ? few : enough) = count;
    }
    AICF_RETURN_IF_ERROR(keep_wide(enough));
    order.resize(enough);
    return Retry(std::move(order));
  }

  void SetWide(CalibratedProduct& p, bool wide) {
    p.wide = wide;
    if (wide) quantised_.erase(p.step);
    if (!wide) quantised_.insert(p.step);
  }

  // The errors of single products do not tell what the error of several together is. So each
  // product that became f32 is tried in 8 bits once more, beside all others, those with the most
  // operations first.
  Status Retry(std::vector<CalibratedProduct*> wide) {
    double all = 0;
    for (const ir::LoweredStep& step : lowered_.steps) all += abi::FlopCount(step.problem);
    all *= static_cast<double>(samples_.size());
    const auto affordable = static_cast<size_t>(kRetryFlops / std::max(all, 1.0));
    std::ranges::stable_sort(wide, std::ranges::greater(),
                             [&](const CalibratedProduct* p) { return FlopsOf(*p); });
    wide.resize(std::min(wide.size(), affordable));
    for (CalibratedProduct* p : wide) {
      const double before = out_.error;
      SetWide(*p, false);
      AICF_RETURN_IF_ERROR(MeasureAll());
      if (!IsTooLarge()) continue;
      SetWide(*p, true);
      out_.error = before;
    }
    return OkStatus();
  }

  struct Rounded {
    ValueCode code;
    AlignedBytes weights;
  };

  const ir::Lowered& lowered_;
  const CalibrationRequest& request_;
  const abi::DeviceSpec& device_;
  const Products products_;
  StepRunner runner_;
  std::vector<FittedSample> samples_;
  std::vector<Outputs> expected_;  ///< by sample
  std::map<int, Rounded> rounded_;
  std::set<int> quantised_;
  CalibratedEntry out_;
};

}  // namespace
}  // namespace quantize

Result<CalibratedEntry> Calibrate(const ir::Lowered& lowered, const std::string& entry,
                                  std::vector<quantize::FittedSample> samples,
                                  const CalibrationRequest& request,
                                  const abi::DeviceSpec& device) {
  AICF_ASSIGN_OR_RETURN(quantize::StepRunner runner, quantize::StepRunner::Create(lowered));
  quantize::Calibrator calibrator(lowered, request, device, std::move(runner));
  return calibrator.Run(entry, std::move(samples));
}

}  // namespace aicf
