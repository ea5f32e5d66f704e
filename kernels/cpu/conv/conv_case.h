/// Random convolutions for the tests of the convolution variants.
#pragma once

#include <vector>

#include "kernels/cpu/gemm/kernel_case.h"

namespace aicf::cpu::testing {

/// A convolution to make.
struct Spec {
  int spatial = 2;
  int64_t images = 1, group = 1, channels = 4, filters = 4;  // channels and filters per group
  bool transposed = false;
  Dims in, kernel, strides, dilations, pads_begin, pads_end;
  DType dtype = DType::kF32;
  int64_t output_padding = 0;
};

inline std::vector<int> ChannelsLast(int rank) {
  std::vector<int> order = {0};
  for (int axis = 2; axis < rank; ++axis) order.push_back(axis);
  order.push_back(1);
  return order;
}

inline abi::View LayoutView(Rng& rng, DType dtype, const Dims& shape) {
  std::vector<int> plain(static_cast<size_t>(shape.rank()));
  for (int axis = 0; axis < shape.rank(); ++axis) plain[axis] = axis;
  switch (Uniform(rng, 0, 4)) {
    case 0:
      return RandomView(rng, dtype, shape);
    case 1:
      return RandomView(rng, dtype, shape, plain);
    default:
      return RandomView(rng, dtype, shape, ChannelsLast(shape.rank()));
  }
}

/// Makes views and attributes of *c. False when the windows do not fit.
inline bool MakeConv(Rng& rng, const Spec& s, KernelCase* c) {
  abi::ConvAttrs attrs{s.strides, s.dilations, s.pads_begin, s.pads_end, s.group, s.transposed};
  const int64_t first = s.transposed ? s.group * s.channels : s.group * s.filters;
  Dims x{s.images, s.group * s.channels}, w{first, s.transposed ? s.filters : s.channels};
  Dims y{s.images, s.group * s.filters};
  for (int d = 0; d < s.spatial; ++d) {
    const int64_t span = (s.kernel[d] - 1) * s.dilations[d] + 1;
    const int64_t pads = s.pads_begin[d] + s.pads_end[d];
    const int64_t out = s.transposed ? (s.in[d] - 1) * s.strides[d] + span - pads + s.output_padding
                                     : (s.in[d] + pads - span) / s.strides[d] + 1;
    if (out < 1 || (!s.transposed && s.in[d] + pads < span)) return false;
    x.push_back(s.in[d]);
    w.push_back(s.kernel[d]);
    y.push_back(out);
  }
  c->problem.family = abi::Family::kConv;
  c->problem.attrs = attrs;
  c->problem.core_inputs = 2;
  c->problem.inputs = {LayoutView(rng, s.dtype, x), RandomView(rng, s.dtype, w)};
  c->problem.outputs = {LayoutView(rng, s.dtype, y)};
  return true;
}

inline Spec RandomSpec(Rng& rng) {
  static constexpr DType kDTypes[] = {DType::kF32, DType::kF32, DType::kF32, DType::kF16,
                                      DType::kBF16};
  Spec s;
  s.spatial = static_cast<int>(Uniform(rng, 0, 5) == 0 ? Uniform(rng, 1, 3) : 2);
  s.images = Uniform(rng, 1, 2);
  s.transposed = Uniform(rng, 0, 3) == 0;
  s.dtype = kDTypes[Uniform(rng, 0, 4)];
  s.channels = Uniform(rng, 1, Uniform(rng, 0, 1) ? 5 : 40);
  s.filters = Uniform(rng, 1, Uniform(rng, 0, 1) ? 10 : 70);
  switch (Uniform(rng, 0, 3)) {
    case 0:  // depthwise
      s.group = Uniform(rng, 2, 40);
      s.channels = s.filters = 1;
      break;
    case 1:
      s.group = Uniform(rng, 1, 4);
      break;
    default:
      break;
  }
  if (s.transposed) s.output_padding = Uniform(rng, 0, 4) == 0;
  for (int d = 0; d < s.spatial; ++d) {
    const int64_t kernel = s.spatial == 1 ? Uniform(rng, 1, 20) : Uniform(rng, 1, 5);
    s.kernel.push_back(kernel);
    s.in.push_back(s.spatial == 3 ? Uniform(rng, 1, 7) : Uniform(rng, 1, 24));
    s.strides.push_back(Uniform(rng, 1, 3));
    s.dilations.push_back(Uniform(rng, 0, 3) == 0 ? Uniform(rng, 1, 3) : 1);
    s.pads_begin.push_back(Uniform(rng, 0, kernel / 2 + 1));
    s.pads_end.push_back(Uniform(rng, 0, kernel / 2 + 1));
    // Output padding needs a stride above it to be a shape that models have.
    if (s.output_padding >= s.strides[d]) s.output_padding = 0;
  }
  if (s.transposed && Uniform(rng, 0, 2) == 0) {  // windows that tile the output
    s.strides = s.kernel;
    s.dilations = Dims::Filled(s.spatial, 1);
    s.pads_begin = s.pads_end = Dims::Filled(s.spatial, 0);
    s.output_padding = 0;
  }
  return s;
}

}  // namespace aicf::cpu::testing
