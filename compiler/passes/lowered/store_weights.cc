#include <algorithm>
#include <map>
#include <vector>

#include "compiler/ir/lowered_edit.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/lowered/weight_order.h"

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

bool HasStoredWeights(const ir::Lowered& lowered, const ir::LoweredStep& step) {
  const abi::Family family = step.problem.family;
  if (family != abi::Family::kConv && family != abi::Family::kGemm) return false;
  const ir::LoweredBuffer& b = lowered.buffers[step.inputs[1]];
  const abi::View& view = step.problem.inputs[1];
  return b.constant.has_data() && view == abi::DenseView(b.dtype, b.shape);
}

// For each buffer how many steps have it as stored weights.
std::vector<int> ReadersOfWeights(const ir::Lowered& lowered) {
  std::vector<int> readers(lowered.buffers.size());
  for (const ir::LoweredStep& step : lowered.steps) {
    if (HasStoredWeights(lowered, step)) ++readers[step.inputs[1]];
  }
  return readers;
}

void Record(PassContext& context, const ir::LoweredStep& step, const std::string& name,
            const WeightOrder& order) {
  Decision d = context.About(DecisionKind::kLayout,
                             schema::Subject::ValueOf(SubjectForm::kWeights, name, step.sources),
                             "store-weights");
  d.choice = order.name;
  d.cost_us = order.cost_us;
  d.Because(order.reason, order.why).alternatives = order.alternatives;
  context.Record(std::move(d));
}

}  // namespace

// For GPUs alone: CPU kernels pack their weights themselves.
Status StoreWeights(ir::Lowered& lowered, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  std::map<std::pair<ir::BufferId, std::vector<int64_t>>, ir::BufferId>
      stored;  // by weights and order
  const std::vector<int> readers = ReadersOfWeights(lowered);
  for (ir::LoweredStep& step : lowered.steps) {
    if (!HasStoredWeights(lowered, step)) continue;
    const ir::BufferId from = step.inputs[1];
    const bool alone = context.entry.empty() && readers[from] == 1;
    const std::optional<WeightOrder> order =
        ChooseWeightOrder(AsStored(step.problem, context.storage), context.device, alone);
    if (!order) continue;
    const auto [place, fresh] =
        stored.try_emplace({from, {order->axes.begin(), order->axes.end()}},
                           static_cast<ir::BufferId>(lowered.buffers.size()));
    Record(context, step, lowered.buffers[from].name, *order);
    if (fresh) {
      ir::LoweredBuffer b = lowered.buffers[from];
      b.name += order->suffix;
      b.constant = Permuted(b.constant, order->axes);
      b.shape = b.constant.shape();
      lowered.buffers.push_back(std::move(b));
    }
    abi::View& view = step.problem.inputs[1];
    view.strides = ir::StridesInOrder(view.shape, order->axes);
    step.inputs[1] = place->second;
  }
  ir::DropUnusedBuffers(lowered);
  return OkStatus();
}

}  // namespace aicf
