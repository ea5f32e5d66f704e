#include "kernels/cpu/pool/window.h"

#include <algorithm>

#include "base/checked.h"
#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {

PoolGeometry::PoolGeometry(const abi::ArgBlock& args) {
  const auto& a = args.problem->as<abi::PoolAttrs>();
  const abi::TensorArg& x = Input(args, 0);
  const abi::TensorArg& y = Output(args, 0);
  batch = x.shape[0];
  channels = x.shape[1];
  batch_stride = x.strides[0];
  channel_stride = x.strides[1];
  const int missing = 3 - a.kernel.rank();
  first_axis = 2 - missing;
  for (int i = 0; i < 3; ++i) {
    const int s = i - missing;
    const bool there = s >= 0;
    in[i] = there ? x.shape[s + 2] : 1;
    out[i] = there ? y.shape[s + 2] : 1;
    in_stride[i] = there ? x.strides[s + 2] : 0;
    kernel[i] = there ? a.kernel[s] : 1;
    stride[i] = there ? a.strides[s] : 1;
    dilation[i] = there ? a.dilations[s] : 1;
    pad[i] = there ? a.pads_begin[s] : 0;
    pad_end[i] = there ? a.pads_end[s] : 0;
  }
}

Window PoolGeometry::WindowAt(int axis, int64_t o) const {
  const int64_t start = o * stride[axis] - pad[axis];
  const int64_t step = dilation[axis];
  if (start >= 0 && start + (kernel[axis] - 1) * step < in[axis]) {
    return {start, kernel[axis], kernel[axis]};
  }
  const int64_t skipped = start < 0 ? CeilDiv(-start, step) : 0;
  const auto taps_before = [&](int64_t end) {
    return std::min(kernel[axis], end > start ? CeilDiv(end - start, step) : 0);
  };
  Window w;
  w.first = start + skipped * step;
  w.count = std::max<int64_t>(0, taps_before(in[axis]) - skipped);
  w.padded = taps_before(in[axis] + pad_end[axis]);
  return w;
}

}  // namespace aicf::cpu
