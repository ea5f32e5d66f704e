#include "kernels/cpu/conv/ref.h"

#include <algorithm>
#include <cstddef>
#include <vector>

#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/gemm/dot.h"

namespace aicf::cpu {
namespace {

// Position in x that tap `tap` of output position `out` reads along spatial axis d; false if it
// reads none.
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

// A copy of the weights of one output channel in which the weights of all input channels of a tap
// are contiguous. The copy pays because every output position reads all of them, and because plans
// for CUDA store output channels innermost, so that they are far apart in the operand.
class ChannelWeights {
 public:
  // `coords`: coordinates of any element of the output channel.
  ChannelWeights(const abi::ArgBlock& args, const int64_t* coords)
      : attrs_(args.problem->as<abi::ConvAttrs>()),
        w_(Input(args, 1)),
        bytes_(DTypeBytes(w_.dtype)) {
    const int64_t out_channels = Output(args, 0).shape[1] / attrs_.group;  // per group
    channels_ = Input(args, 0).shape[1] / attrs_.group;
    group_ = coords[1] / out_channels;
    for (int axis = 2; axis < w_.rank; ++axis) kernel_.push_back(w_.shape[axis]);
    int64_t from[kMaxRank] = {};
    from[0] = attrs_.transposed ? group_ * channels_ : coords[1];
    from[1] = attrs_.transposed ? coords[1] % out_channels : 0;
    ForEachIndex(kernel_, [&](const int64_t* tap) {
      std::copy_n(tap, kernel_.rank(), from + 2);
      if (channels_ > 0) AddLine(ElementAt(w_, from), w_.strides[attrs_.transposed ? 0 : 1]);
    });
  }

  const abi::ConvAttrs& attrs() const { return attrs_; }
  const Dims& kernel() const { return kernel_; }
  int64_t channels() const { return channels_; }
  int64_t first_input() const { return group_ * channels_; }
  // The weights of tap number `tap` of the kernel, counted in row-major order.
  RefLine Line(int64_t tap) const {
    return {w_.dtype, dense_.data() + tap * channels_ * bytes_, 1};
  }

 private:
  void AddLine(const void* first, int64_t stride) {
    const auto* from = static_cast<const std::byte*>(first);
    for (int64_t c = 0; c < channels_; ++c, from += stride * bytes_) {
      dense_.insert(dense_.end(), from, from + bytes_);
    }
  }

  const abi::ConvAttrs& attrs_;
  const abi::TensorArg& w_;
  const int64_t bytes_;
  int64_t channels_ = 0, group_ = 0;
  Dims kernel_;
  std::vector<std::byte> dense_;
};

// Sum over the group's input channels and all taps at one output position.
RefSum SumAt(const abi::TensorArg& x, const ChannelWeights& weights, const int64_t* coords) {
  RefSum sum;
  if (weights.channels() == 0) return sum;
  int64_t from[kMaxRank] = {coords[0], weights.first_input()};
  int64_t next = 0;
  ForEachIndex(weights.kernel(), [&](const int64_t* tap) {
    const int64_t at = next++;
    for (int d = 0; d < weights.kernel().rank(); ++d) {
      if (!SourceOf(weights.attrs(), d, coords[d + 2], tap[d], x.shape[d + 2], &from[d + 2]))
        return;
    }
    AddProducts({x.dtype, ElementAt(x, from), x.strides[1]}, weights.Line(at), weights.channels(),
                &sum);
  });
  return sum;
}

// Computes all output positions of one image and channel.
void ConvPlane(void* context, int64_t plane) {
  const auto& args = *static_cast<const abi::ArgBlock*>(context);
  const abi::TensorArg& out = Output(args, 0);
  const DType raw = RawDType(*args.problem);
  int64_t coords[kMaxRank] = {plane / out.shape[1], plane % out.shape[1]};
  const ChannelWeights weights(args, coords);
  Dims spatial;
  for (int axis = 2; axis < out.rank; ++axis) spatial.push_back(out.shape[axis]);
  ForEachIndex(spatial, [&](const int64_t* position) {
    for (int d = 0; d < spatial.rank(); ++d) coords[d + 2] = position[d];
    StoreEpilogue(args, coords, RawScalar(SumAt(Input(args, 0), weights, coords), raw));
  });
}

}  // namespace

void ConvRef(const abi::ArgBlock& args) {
  const abi::TensorArg& out = Output(args, 0);
  args.parallel_for(args.stream, out.shape[0] * out.shape[1], ConvPlane,
                    const_cast<abi::ArgBlock*>(&args));
}

}  // namespace aicf::cpu
