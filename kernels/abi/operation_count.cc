#include "kernels/abi/operation_count.h"

#include <algorithm>
#include <cmath>

#include "kernels/abi/attention.h"
#include "kernels/abi/excite.h"

namespace aicf::abi {
namespace {

double ElementsIn(const Dims& shape) {
  double count = 1;
  for (int64_t extent : shape) count *= static_cast<double>(extent);
  return count;
}

double AxisLength(const Dims& shape, int axis) { return static_cast<double>(shape[axis]); }

// Input elements that a window covers: its taps, but along no axis more than the input has.
double WindowElements(const Problem& p) {
  const Dims &kernel = p.as<PoolAttrs>().kernel, &x = p.inputs[0].shape;
  double count = 1;
  for (int d = 0; d < kernel.rank(); ++d) {
    count *= static_cast<double>(std::min(kernel[d], x[d + 2]));
  }
  return count;
}

double TapsOfMode(ResizeMode mode) {
  return mode == ResizeMode::kNearest ? 1 : mode == ResizeMode::kLinear ? 2 : 4;
}

double ResizeTapsPerResult(const Problem& p) {
  const Dims &x = p.inputs[0].shape, &y = p.outputs[0].shape;
  double count = 1;
  for (int d = 0; d < x.rank(); ++d) {
    const bool kept = x[d] == y[d] && p.as<ResizeAttrs>().scales[static_cast<size_t>(d)] == 1;
    if (!kept) count *= TapsOfMode(p.as<ResizeAttrs>().mode);
  }
  return count;
}

// Samples of a bin. Where their number depends on the box, the box is taken to be as large as the
// feature map.
double SamplesPerBin(const Problem& p) {
  const auto& a = p.as<RoiAttrs>();
  const Dims &x = p.inputs[0].shape, &y = p.outputs[0].shape;
  double samples = 4;
  for (int d = 2; d < 4; ++d) {
    if (a.kind == RoiKind::kPoolMax) {
      samples *= AxisLength(x, d);
    } else if (a.sampling_ratio > 0) {
      samples *= static_cast<double>(a.sampling_ratio);
    } else {
      samples *= AxisLength(x, d) / std::max(1.0, AxisLength(y, d)) + 1;
    }
  }
  return samples;
}

// Operations of the family itself, apart from the one per output element that every family has.
double CoreOperations(const Problem& p, double out) {
  const Dims& first = p.inputs.empty() ? p.outputs[0].shape : p.inputs[0].shape;
  switch (p.family) {
    case Family::kElementwise:
    case Family::kDequantize:
      return 0;
    case Family::kGemm:
    case Family::kBlockGemm:
      return out * SumInputs(p) * static_cast<double>(first.back());
    case Family::kConv: {
      const Dims& w = p.inputs[1].shape;
      const double grid = p.as<ConvAttrs>().transposed ? ElementsIn(first) : out;
      return grid * ElementsIn(w) / std::max(1.0, AxisLength(w, 0));
    }
    case Family::kPool:
      return out * WindowElements(p);
    case Family::kReduce:
    case Family::kNormalize:
      return ElementsIn(first) * (4 + static_cast<double>(p.prologue.nodes.size()));
    case Family::kResize:
      return out * ResizeTapsPerResult(p);
    case Family::kSample:
      return out * std::pow(TapsOfMode(p.as<SampleAttrs>().mode), first.rank() - 2);
    case Family::kRoi:
      return out * SamplesPerBin(p);
    case Family::kNms: {
      // Every box is compared with every other box of its class.
      const Dims& scores = p.inputs[1].shape;
      return ElementsIn(scores) * AxisLength(scores, 2);
    }
    case Family::kTopK:
      return ElementsIn(first) * 64;
    case Family::kRecurrent:
      return ElementsIn(first) * (AxisLength(p.inputs[1].shape, 2) + 16);
    case Family::kAttention: {
      const AttentionShape s = AttentionShapeOf(p);
      const double per_key = static_cast<double>(s.head + s.value_head) + 4 +
                             static_cast<double>(p.score.nodes.size());
      return AxisLength(first, 0) * static_cast<double>(s.query_heads) *
             static_cast<double>(s.rows) * static_cast<double>(s.keys) * per_key;
    }
    case Family::kExcite: {
      const ExciteShape s = ExciteShapeOf(p);
      const double hidden = static_cast<double>(s.hidden),
                   channels = static_cast<double>(s.channels);
      return static_cast<double>(s.images) *
             (2 * hidden * channels + hidden * static_cast<double>(p.prologue.nodes.size()) +
              channels * static_cast<double>(p.score.nodes.size()));
    }
    case Family::kCategorical:
      return ElementsIn(first) * 64;
    default:
      return ElementsIn(first);
  }
}

}  // namespace

double OperationCount(const Problem& p) {
  double out = 0, elements = 0;
  for (const View& v : p.outputs) out = std::max(out, ElementsIn(v.shape));
  for (const View& v : p.outputs) elements += ElementsIn(v.shape);
  // A scatter visits all of its updates, however small its output is.
  if (p.family == Family::kScatter) elements += ElementsIn(p.inputs[2].shape);
  return elements + CoreOperations(p, out) + out * static_cast<double>(p.epilogue.nodes.size());
}

}  // namespace aicf::abi
