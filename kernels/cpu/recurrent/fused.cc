/// cpu.recurrent.packed_* and panels_*: time steps in order, each a product over packed panels
/// whose results pass through the gates before they leave the registers.
///
/// Rows of the batch are independent, so different threads run ranges of rows through the whole
/// sequence. Where there are too few rows for that and a step is large, the threads share the
/// hidden units of a step instead and wait for each other after every step. Which of the two is
/// done follows from the problem alone.
#include "kernels/cpu/recurrent/fused.h"

#include <algorithm>

#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/recurrent/recurrent.h"
#include "kernels/cpu/recurrent/step.h"

namespace aicf::cpu {
namespace {

constexpr int64_t kRowsPerRange = 24;
// Least number of products that are worth a thread, and least number of products of a time step for
// which it pays that the threads wait for each other after every step.
constexpr int64_t kProductsPerThread = 128 * 1024;
constexpr int64_t kProductsPerStep = 512 * 1024;

RunCellStepFn StepOf(abi::CpuIsa isa) {
  if (isa == abi::CpuIsa::kAvx512) return avx512::RunCellStep;
  return isa == abi::CpuIsa::kAvx2 ? avx2::RunCellStep : baseline::RunCellStep;
}

const float* FloatsAt(const abi::TensorArg& t, int64_t offset) {
  return static_cast<const float*>(t.data) + t.offset + offset;
}

class FusedRun {
 public:
  FusedRun(const abi::ArgBlock& args, abi::CpuIsa isa, const float* packed, void* workspace)
      : args_(args),
        a_(args.problem->as<abi::RecurrentAttrs>()),
        s_(abi::RecurrentShapeOf(*args.problem)),
        layout_(*args.problem, LanesOf(isa)),
        run_(StepOf(isa)),
        packed_(packed),
        states_(static_cast<float*>(workspace)),
        active_(reinterpret_cast<bool*>(states_ + s_.directions * FusedStateFloats(s_, layout_))) {}

  void Run() {
    const int64_t per_row = s_.gates * s_.hidden * s_.hidden;
    const int64_t ranges = (s_.batch + kRowsPerRange - 1) / kRowsPerRange;
    if (s_.directions * ranges < 4 && s_.directions * s_.batch * per_row >= kProductsPerStep) {
      return RunSharingUnits();
    }
    const int64_t work =
        std::max<int64_t>(1, s_.steps * std::min(s_.batch, kRowsPerRange) * per_row);
    const int64_t grain = kProductsPerThread / work + 1;
    ParallelRanges(args_, s_.directions * ranges, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % ranges * kRowsPerRange;
        RunRows(i / ranges, first, std::min(s_.batch, first + kRowsPerRange));
      }
    });
  }

 private:
  void RunRows(int64_t d, int64_t begin, int64_t end) {
    Begin(d, begin, end);
    for (int64_t i = 0; i < s_.steps; ++i) {
      for (int pass = 0; pass < layout_.passes; ++pass) {
        const CellStep step = StepAt(d, i, pass, begin, end);
        run_(step, begin, end, 0, layout_.blocks());
      }
    }
    Finish(d, begin, end);
  }

  void RunSharingUnits() {
    for (int64_t d = 0; d < s_.directions; ++d) Begin(d, 0, s_.batch);
    for (int64_t i = 0; i < s_.steps; ++i) {
      for (int pass = 0; pass < layout_.passes; ++pass) ShareStep(i, pass);
    }
    for (int64_t d = 0; d < s_.directions; ++d) Finish(d, 0, s_.batch);
  }

  void ShareStep(int64_t i, int pass) {
    CellStep steps[2];
    for (int64_t d = 0; d < s_.directions; ++d) steps[d] = StepAt(d, i, pass, 0, s_.batch);
    const int64_t per_block = std::max<int64_t>(1, s_.batch * layout_.block_floats(pass));
    const int64_t grain = kProductsPerThread / per_block + 1;
    const int64_t pieces = (layout_.blocks() + grain - 1) / grain;
    ParallelRanges(args_, s_.directions * pieces, 1, [&](int64_t begin, int64_t end) {
      for (int64_t p = begin; p < end; ++p) {
        const int64_t first = p % pieces * grain;
        run_(steps[p / pieces], 0, s_.batch, first, std::min(layout_.blocks(), first + grain));
      }
    });
  }

  float* State(int64_t d, int64_t number, int64_t row) const {
    return states_ + d * FusedStateFloats(s_, layout_) +
           (number * s_.batch + row) * layout_.padded();
  }

  void Begin(int64_t d, int64_t begin, int64_t end) {
    for (int number = 0; number < kFusedStates; ++number) {
      std::fill(State(d, number, begin), State(d, number, end), 0.0f);
    }
    for (int64_t b = begin; b < end; ++b) {
      CopyIn(Input(args_, s_.h0), d, b, State(d, 0, b));
      if (s_.c0 >= 0) CopyIn(Input(args_, s_.c0), d, b, State(d, 2, b));
    }
  }

  void CopyIn(const abi::TensorArg& t, int64_t d, int64_t b, float* to) const {
    const float* from = FloatsAt(t, d * t.strides[0] + b * t.strides[1]);
    for (int64_t j = 0; j < s_.hidden; ++j) to[j] = from[j * t.strides[2]];
  }

  void Finish(int64_t d, int64_t begin, int64_t end) const {
    for (int64_t b = begin; b < end; ++b) {
      const bool ran = Length(b) > 0;
      CopyOut(ran ? State(d, s_.steps % 2, b) : nullptr, d, b, Output(args_, 1));
      if (s_.c0 >= 0) CopyOut(ran ? State(d, 2, b) : nullptr, d, b, Output(args_, 2));
    }
  }

  void CopyOut(const float* from, int64_t d, int64_t b, const abi::TensorArg& t) const {
    float* to = static_cast<float*>(t.data) + t.offset + d * t.strides[0] + b * t.strides[1];
    for (int64_t j = 0; j < s_.hidden; ++j) to[j * t.strides[2]] = from == nullptr ? 0 : from[j];
  }

  int64_t Length(int64_t b) const {
    if (s_.lengths < 0) return s_.steps;
    const abi::TensorArg& t = Input(args_, s_.lengths);
    const int64_t length = static_cast<const int32_t*>(t.data)[t.offset + b * t.strides[0]];
    return std::clamp<int64_t>(length, 0, s_.steps);
  }

  CellStep StepAt(int64_t d, int64_t i, int pass, int64_t begin, int64_t end) const {
    const int64_t t = abi::IsReversed(*args_.problem, d) ? s_.steps - 1 - i : i;
    CellStep step;
    step.cell = a_.cell;
    step.resets_first = layout_.passes == 2;
    step.input_forget = a_.input_forget;
    step.pass = pass;
    step.clip = static_cast<float>(a_.clip);
    for (int k = 0; k < abi::ActivationsOf(a_.cell); ++k) {
      const CellFunction f = CellFunctionOf(a_, d, k);
      step.f[k] = {f.kind, static_cast<float>(f.alpha), static_cast<float>(f.beta)};
    }
    step.hidden = s_.hidden;
    step.state_row = layout_.padded();
    step.packed = packed_ + layout_.pass_offset(d, pass);
    step.block_floats = layout_.block_floats(pass);
    const abi::TensorArg &gates = Input(args_, 0), &y = Output(args_, 0);
    step.gates = FloatsAt(gates, t * gates.strides[0] + d * gates.strides[1]);
    step.gates_row = gates.strides[2];
    step.peepholes = PerDirection(s_.peepholes, d);
    step.bias = PerDirection(s_.bias, d);
    step.h_in = State(d, i % 2, 0);
    step.h_out = State(d, (i + 1) % 2, 0);
    step.c = State(d, 2, 0);
    step.update = State(d, 3, 0);
    step.reset = State(d, 4, 0);
    step.y = static_cast<float*>(y.data) + y.offset + t * y.strides[0] + d * y.strides[1];
    step.y_row = y.strides[2];
    if (s_.lengths >= 0) step.active = MarkActive(d, t, begin, end);
    return step;
  }

  const float* PerDirection(int operand, int64_t d) const {
    if (operand < 0) return nullptr;
    const abi::TensorArg& t = Input(args_, operand);
    return FloatsAt(t, d * t.strides[0]);
  }

  const bool* MarkActive(int64_t d, int64_t t, int64_t begin, int64_t end) const {
    bool* rows = active_ + d * s_.batch;
    for (int64_t b = begin; b < end; ++b) rows[b] = t < Length(b);
    return rows;
  }

  const abi::ArgBlock& args_;
  const abi::RecurrentAttrs& a_;
  const abi::RecurrentShape s_;
  const RecurrentPacking layout_;
  const RunCellStepFn run_;
  const float* packed_;
  float* states_;
  bool* active_;
};

}  // namespace

template <abi::CpuIsa kIsa>
void RecurrentPacked(const abi::ArgBlock& args) {
  FusedRun(args, kIsa, static_cast<const float*>(args.tensors[1].data), args.workspace).Run();
}

template <abi::CpuIsa kIsa>
void RecurrentPanels(const abi::ArgBlock& args) {
  const abi::Problem& p = *args.problem;
  const RecurrentPacking layout(p, LanesOf(kIsa));
  auto* packed = static_cast<float*>(args.workspace);
  const auto* from = static_cast<const float*>(args.tensors[1].data);
  const int64_t per_direction = layout.passes * layout.blocks();
  const int64_t grain = kProductsPerThread / std::max<int64_t>(1, layout.block_floats(0)) + 1;
  ParallelRanges(args, layout.directions * per_direction, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t rest = i % per_direction;
      PackRecurrentBlock(p, layout, i / per_direction, static_cast<int>(rest / layout.blocks()),
                         rest % layout.blocks(), from, packed);
    }
  });
  FusedRun(args, kIsa, packed, packed + layout.bytes() / sizeof(float)).Run();
}

#define AICF_RECURRENT_OF(isa)                                           \
  template void RecurrentPacked<abi::CpuIsa::isa>(const abi::ArgBlock&); \
  template void RecurrentPanels<abi::CpuIsa::isa>(const abi::ArgBlock&);
AICF_RECURRENT_OF(kBaseline)
AICF_RECURRENT_OF(kAvx2)
AICF_RECURRENT_OF(kAvx512)
#undef AICF_RECURRENT_OF

}  // namespace aicf::cpu
