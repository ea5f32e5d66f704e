#include "kernels/cpu/conv/ref.h"

#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/gemm/dot.h"

namespace aicf::cpu {
namespace {

// Position in x that tap `tap` of output position `out` reads along spatial axis d; false: none.
bool SourceOf(const abi::ConvAttrs& attrs, int d, int64_t out, int64_t tap, int64_t extent,
              int64_t* source) {
  if (!attrs.transposed) {
    *source = out * attrs.strides[d] + tap * attrs.dilations[d] - attrs.pads_begin[d];
  } else {
    const int64_t scaled = out + attrs.pads_begin[d] - tap * attrs.dilations[d];
    if (scaled < 0 || scaled % attrs.strides[d] != 0) return false;
    *source = scaled / attrs.strides[d];
  }
  return *source >= 0 && *source < extent;
}

// Sum over the group's input channels and all taps at one output position.
RefSum SumAt(const abi::ArgBlock& args, const int64_t* coords) {
  const abi::TensorArg &x = Input(args, 0), &w = Input(args, 1), &out = Output(args, 0);
  const auto& attrs = args.problem->as<abi::ConvAttrs>();
  const int64_t channels = x.shape[1] / attrs.group;  // per group
  const int64_t group = coords[1] / (out.shape[1] / attrs.group);
  const int64_t local = coords[1] % (out.shape[1] / attrs.group);
  RefSum sum;
  if (channels == 0) return sum;
  int64_t taps[kMaxRank] = {};
  int64_t from[kMaxRank] = {coords[0], group * channels};
  Dims kernel;
  for (int axis = 2; axis < w.rank; ++axis) kernel.push_back(w.shape[axis]);
  ForEachIndex(kernel, [&](const int64_t* tap) {
    for (int d = 0; d < kernel.rank(); ++d) {
      if (!SourceOf(attrs, d, coords[d + 2], tap[d], x.shape[d + 2], &from[d + 2])) return;
      taps[d + 2] = tap[d];
    }
    taps[0] = attrs.transposed ? group * channels : coords[1];
    taps[1] = attrs.transposed ? local : 0;
    AddProducts({x.dtype, ElementAt(x, from), x.strides[1]},
                {w.dtype, ElementAt(w, taps), w.strides[attrs.transposed ? 0 : 1]}, channels, &sum);
  });
  return sum;
}

// One image and channel: all its output positions.
void ConvPlane(void* context, int64_t plane) {
  const auto& args = *static_cast<const abi::ArgBlock*>(context);
  const abi::TensorArg& out = Output(args, 0);
  const DType raw = RawDType(*args.problem);
  int64_t coords[kMaxRank] = {plane / out.shape[1], plane % out.shape[1]};
  Dims spatial;
  for (int axis = 2; axis < out.rank; ++axis) spatial.push_back(out.shape[axis]);
  ForEachIndex(spatial, [&](const int64_t* position) {
    for (int d = 0; d < spatial.rank(); ++d) coords[d + 2] = position[d];
    StoreEpilogue(args, coords, RawScalar(SumAt(args, coords), raw));
  });
}

}  // namespace

void ConvRef(const abi::ArgBlock& args) {
  const abi::TensorArg& out = Output(args, 0);
  args.parallel_for(args.stream, out.shape[0] * out.shape[1], ConvPlane,
                    const_cast<abi::ArgBlock*>(&args));
}

}  // namespace aicf::cpu
