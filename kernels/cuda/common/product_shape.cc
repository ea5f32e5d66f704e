#include "kernels/cuda/common/tiles.h"

namespace aicf::cuda {

ProductShape ProductOf(const abi::Problem& p) {
  ProductShape s;
  const Dims& out = p.outputs[0].shape;
  if (p.family == abi::Family::kGemm) {
    const int rank = out.rank();
    s = {out[rank - 2], p.inputs[1].shape.back(), p.inputs[0].shape.back(), 1, SumInputs(p)};
    for (int d = 0; d < rank - 2; ++d) s.batch *= out[d];
    return s;
  }
  if (p.family == abi::Family::kBlockGemm) {
    const int columns = out.rank() - 1;
    s = {1, p.inputs[1].shape[0], p.inputs[0].shape.back(), 1, SumInputs(p)};
    for (int d = 0; d < columns; ++d) s.rows *= out[d];
    return s;
  }
  // A transposed convolution is one product per phase (kernels/cuda/conv/phase.cuh).
  const auto& a = p.as<abi::ConvAttrs>();
  const Dims& w = p.inputs[1].shape;
  s.columns = out[1] / a.group;
  s.rows = out[0];
  s.length = p.inputs[0].shape[1] / a.group;
  s.batch = a.group;
  for (int d = 0; d < a.strides.rank(); ++d) {
    const int64_t phases = a.transposed ? a.strides[d] : 1;
    s.rows *= CeilDiv(out[d + 2], phases);
    s.length *= CeilDiv(w[d + 2], phases);
    s.batch *= phases;
  }
  return s;
}

}  // namespace aicf::cuda
