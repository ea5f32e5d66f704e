#include <algorithm>
#include <map>

#include "compiler/ir/lowered_edit.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"

namespace aicf {
namespace {

// The bytes of a dense tensor in another order of its axes.
ir::Tensor Permuted(const ir::Tensor& t, const Dims& order) {
  Dims shape;
  for (int64_t axis : order) shape.push_back(t.shape()[static_cast<int>(axis)]);
  const abi::View source = ir::Permute(abi::DenseView(t.dtype(), t.shape()), order);
  const size_t item = static_cast<size_t>(DTypeBytes(t.dtype()));
  std::vector<std::byte> bytes(t.bytes().size());
  Dims at = Dims::Filled(shape.rank(), 0);
  for (size_t done = 0; done < bytes.size(); done += item) {
    int64_t from = 0;
    for (int i = 0; i < shape.rank(); ++i) from += at[i] * source.strides[i];
    std::copy_n(t.bytes().data() + from * static_cast<int64_t>(item), item, bytes.data() + done);
    for (int i = shape.rank() - 1; i >= 0 && ++at[i] == shape[i]; --i) at[i] = 0;
  }
  return ir::Tensor::Own(t.dtype(), shape, std::move(bytes));
}

// A convolution's weights [out, in, taps..], or transposed [in, out, taps..], with the output
// channels innermost.
Dims OutputsLast(const abi::Problem& p) {
  const bool transposed = p.as<abi::ConvAttrs>().transposed;
  Dims order;
  for (int i = 2; i < p.inputs[1].shape.rank(); ++i) order.push_back(i);
  order.push_back(transposed ? 0 : 1);
  order.push_back(transposed ? 1 : 0);
  return order;
}

bool HasStoredWeights(const ir::Lowered& lowered, const ir::LoweredStep& step) {
  if (step.problem.family != abi::Family::kConv) return false;
  const ir::LoweredBuffer& b = lowered.buffers[step.inputs[1]];
  const abi::View& view = step.problem.inputs[1];
  return b.constant.has_data() && view == abi::DenseView(b.dtype, b.shape);
}

void Record(PassContext& context, const ir::LoweredStep& step, const std::string& name) {
  Decision d = context.About(DecisionKind::kLayout,
                             schema::Subject::ValueOf(SubjectForm::kWeights, name, step.sources),
                             "store-weights");
  d.choice = "output channels innermost";
  d.Because(Reason::kRule, "neighbouring threads compute neighbouring output channels")
      .alternatives = {{"model order", "cost: neighbouring threads would read far apart", -1}};
  context.Record(std::move(d));
}

}  // namespace

// CUDA kernels read neighbouring output channels together. CPU kernels pack weights themselves.
Status StoreWeights(ir::Lowered& lowered, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  std::map<std::pair<ir::BufferId, bool>, ir::BufferId> stored;  // by weights and `transposed`
  for (ir::LoweredStep& step : lowered.steps) {
    if (!HasStoredWeights(lowered, step)) continue;
    const ir::BufferId from = step.inputs[1];
    const Dims order = OutputsLast(step.problem);
    const auto [place, fresh] =
        stored.try_emplace({from, step.problem.as<abi::ConvAttrs>().transposed},
                           static_cast<ir::BufferId>(lowered.buffers.size()));
    Record(context, step, lowered.buffers[from].name);
    if (fresh) {
      ir::LoweredBuffer b = lowered.buffers[from];
      b.name += " outputs last";
      b.constant = Permuted(b.constant, order);
      b.shape = b.constant.shape();
      lowered.buffers.push_back(std::move(b));
    }
    abi::View& view = step.problem.inputs[1];
    view.strides = ir::StridesInOrder(view.shape, order);
    step.inputs[1] = place->second;
  }
  ir::DropUnusedBuffers(lowered);
  return OkStatus();
}

}  // namespace aicf
