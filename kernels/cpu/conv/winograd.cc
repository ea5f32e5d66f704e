#include "kernels/cpu/conv/winograd.h"

#include <atomic>

#include "kernels/cpu/conv/product.h"
#include "kernels/cpu/conv/winograd_layout.h"

namespace aicf::cpu {
namespace {

struct Slots {
  const Winograd* winograd;
  void (*run_block)(const Winograd&, int64_t, float*);
  float* workspace;
  int64_t slot_floats, blocks;
  std::atomic<int64_t> next{0};
};

// Each slot (a thread with its own part of the workspace) takes blocks until none is left. Which
// slot a block runs in does not affect its result.
void RunSlot(void* context, int64_t slot) {
  auto& s = *static_cast<Slots*>(context);
  for (int64_t block; (block = s.next.fetch_add(1, std::memory_order_relaxed)) < s.blocks;) {
    s.run_block(*s.winograd, block, s.workspace + slot * s.slot_floats);
  }
}

template <abi::CpuIsa kIsa>
auto BlockFunction() {
  if constexpr (kIsa == abi::CpuIsa::kAvx512) return &avx512::RunWinogradBlock;
  if constexpr (kIsa == abi::CpuIsa::kAvx2) return &avx2::RunWinogradBlock;
  return &baseline::RunWinogradBlock;
}

}  // namespace

template <abi::CpuIsa kIsa>
void ConvWinograd(const abi::ArgBlock& args) {
  const IgemmIsa& isa = IgemmIsaOf(kIsa);
  const abi::Problem& p = *args.problem;
  const ConvShape s = ConvShapeOf(p);
  const ConvSource source = WinogradSourceOf(p);
  const ConvInput in = PrepareConvInput(args, s, source, isa.widen);
  const ConvPhase phase = ConvPhaseOf(p, s, 0);
  Winograd w;
  w.shape = WinogradShapeOf(s, isa.lanes);
  FillConvProduct(args, s, phase, in, source, &w.igemm);
  w.igemm.columns = w.igemm.pieces.piece_columns = s.filters;
  w.igemm.packed = static_cast<const float*>(args.tensors[1].data);
  PlanIgemm(args, isa, &w.igemm);
  w.row_stride = in.spatial_strides[1];
  w.position_stride = in.spatial_strides[2];
  w.height = s.in[1];
  w.width = s.in[2];
  w.pad_h = s.pad[1];
  w.pad_w = s.pad[2];
  w.u_point = Panels(s.filters, isa.lanes).packed_floats(s.channels);

  auto* workspace = static_cast<float*>(args.workspace);
  if (source.copy) workspace += WinogradCopyFloats(p);
  Slots slots{&w, BlockFunction<kIsa>(), workspace, WinogradSlotFloats(w.shape),
              WinogradBlocks(w.shape)};
  const int64_t count = std::min<int64_t>(WinogradSlots(w.shape), std::max(1, args.threads));
  if (count <= 1 || args.parallel_for == nullptr) return RunSlot(&slots, 0);
  args.parallel_for(args.stream, count, RunSlot, &slots);
}

template void ConvWinograd<abi::CpuIsa::kBaseline>(const abi::ArgBlock&);
template void ConvWinograd<abi::CpuIsa::kAvx2>(const abi::ArgBlock&);
template void ConvWinograd<abi::CpuIsa::kAvx512>(const abi::ArgBlock&);

}  // namespace aicf::cpu
