#include "kernels/cpu/conv/source.h"

#include "kernels/cpu/gemm/copy_dense.h"

namespace aicf::cpu {
ConvInput PrepareConvInput(const abi::ArgBlock& args, const ConvShape& s, ConvSource source,
                           WidenRunFn widen) {
  const abi::TensorArg& x = args.tensors[0];
  ConvInput in;
  if (!source.copy) {
    in.data = static_cast<const float*>(x.data) + x.offset;
    in.image_stride = x.strides[0];
    in.channel_stride = x.strides[1];
    for (int a = s.first_axis; a < 3; ++a) in.spatial_strides[a] = x.strides[a - s.first_axis + 2];
    return in;
  }
  // Image, channel, positions; or image, positions, channel.
  int order[kMaxRank] = {0, 1, 2, 3, 4};
  if (!source.planes) {
    for (int i = 1; i + 1 < x.rank; ++i) order[i] = i + 1;
    order[x.rank - 1] = 1;
  }
  auto* copy = static_cast<float*>(args.workspace);
  CopyDense(args, x, order, widen, copy);
  in.data = copy;
  in.channel_stride = 1;
  int64_t stride = source.planes ? 1 : x.shape[1];
  for (int a = 2; a >= s.first_axis; stride *= s.in[a--]) in.spatial_strides[a] = stride;
  if (source.planes) {
    in.channel_stride = stride;
    stride *= x.shape[1];
  }
  in.image_stride = stride;
  return in;
}

}  // namespace aicf::cpu
