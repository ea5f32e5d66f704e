// What steps and kernels demand of the dtypes of their operands, until nothing changes.
#include <algorithm>

#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "compiler/passes/storage/step_limits.h"
#include "compiler/passes/storage/storage_choice.h"

namespace aicf::storage {

// All three, whether or not an earlier one changed something.
bool StorageChoice::Settle(int s) {
  bool changed = SettleTied(s);
  changed |= SettleProduct(s);
  changed |= SettleKernel(s);
  return changed;
}

// If a product multiplies in f32, its operands are stored in f32.
bool StorageChoice::SettleProduct(int s) {
  const ir::LoweredStep& step = lowered_.steps[static_cast<size_t>(s)];
  const int product = product_of_[static_cast<size_t>(s)];
  if (product < 0 || MultipliesNarrow(s)) return false;
  const std::string why =
      StrCat("operand: ", NamesOf(step),
             " multiplies it in f32: ", products_[static_cast<size_t>(product)].wide);
  bool changed = false;
  for (int k = 0; k < MultipliedOperands(step.problem); ++k) {
    changed |= KeepWide(step.inputs[static_cast<size_t>(k)], why, true);
  }
  return changed;
}

// All values that a step moves without computing have one dtype: if one of them is f32, all are.
bool StorageChoice::SettleTied(int s) {
  const ir::LoweredStep& step = lowered_.steps[static_cast<size_t>(s)];
  const Tied tied = TiedValues(step.problem);
  std::vector<ir::BufferId> all;
  for (int k : tied.inputs) all.push_back(step.inputs[static_cast<size_t>(k)]);
  for (int r : tied.outputs) all.push_back(step.outputs[static_cast<size_t>(r)]);
  const auto wide =
      std::ranges::find_if(all, [&](ir::BufferId b) { return IsF32(b) && !IsNarrow(b); });
  if (wide == all.end()) return false;
  bool changed = false;
  for (ir::BufferId b : all) {
    changed |= KeepWide(b,
                        StrCat("operand: ", NamesOf(step), " moves it together with '",
                               lowered_.buffers[*wide].name, "', which is f32"),
                        true);
  }
  return changed;
}

// Keeps a step from losing the kernels that were written for it. First a product goes on
// multiplying f32; if that is not enough, everything that the step reads and writes stays f32.
bool StorageChoice::SettleKernel(int s) {
  const ir::LoweredStep& step = lowered_.steps[static_cast<size_t>(s)];
  const std::string lost = LosesKernel(step.problem, Retyped(s), context_.device);
  if (lost.empty()) return false;
  if (MultipliesNarrow(s)) {
    Product& product = products_[static_cast<size_t>(product_of_[static_cast<size_t>(s)])];
    product.wide = lost;
    product.refused = true;
    return true;
  }
  bool changed = false;
  for (ir::BufferId b : step.inputs) changed |= KeepWide(b, lost, true);
  for (ir::BufferId b : step.outputs) changed |= KeepWide(b, lost, true);
  return changed;
}

}  // namespace aicf::storage
