#include "compiler/passes/storage/narrow_operands.h"

#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/copy_pieces.h"
#include "compiler/passes/storage/narrow_tensor.h"

namespace aicf::storage {
namespace {

// Convolutions read their input fastest with the channels innermost.
Dims StoredOrder(const ir::LoweredStep& step, size_t k) {
  const abi::View& v = step.problem.inputs[k];
  const bool image = step.problem.family == abi::Family::kConv && k == 0;
  return image ? ir::ChannelsLastOrder(v.shape.rank()) : ir::AxisOrder(v);
}

Dims InOrder(const Dims& shape, const Dims& order) {
  Dims out;
  for (int64_t axis : order) out.push_back(shape[static_cast<int>(axis)]);
  return out;
}

// The elements of a view, each once: axes that repeat them have one element.
abi::View WithoutRepeats(abi::View v) {
  for (int i = 0; i < v.shape.rank(); ++i) {
    if (v.strides[i] == 0) v.shape[i] = 1;
  }
  return v;
}

std::string KeyOf(const abi::View& v, const Dims& order) {
  return StrCat(ToString(v.shape), ToString(v.strides), "+", v.offset, ToString(order));
}

// Whether a step under the guards `one` runs wherever one under `other` does: outer guards come
// first.
bool RunsWherever(const std::vector<schema::Guard>& one, const std::vector<schema::Guard>& other) {
  return one.size() <= other.size() && std::equal(one.begin(), one.end(), other.begin());
}

}  // namespace

void NarrowOperands::Give(ir::LoweredStep& step, size_t k, std::vector<ir::LoweredStep>& before) {
  if (lowered_.buffers[step.inputs[k]].role == schema::Role::kConstant) {
    GiveConstant(step, k);
  } else {
    GiveComputed(step, k, before);
  }
}

ir::BufferId NarrowOperands::AddBuffer(ir::LoweredBuffer buffer) {
  lowered_.buffers.push_back(std::move(buffer));
  return static_cast<ir::BufferId>(lowered_.buffers.size() - 1);
}

void NarrowOperands::Record(const ir::LoweredStep& step, SubjectForm form, const std::string& name,
                            std::string why) {
  Decision d = context_.About(DecisionKind::kStorage,
                              schema::Subject::ValueOf(form, name, step.sources), "choose-storage");
  d.choice = DTypeName(context_.storage);
  d.Because(Reason::kRule, std::move(why));
  context_.Record(std::move(d));
}

void NarrowOperands::GiveConstant(ir::LoweredStep& step, size_t k) {
  const ir::BufferId from = step.inputs[k];
  const auto [place, fresh] = constants_.try_emplace(from, 0);
  if (fresh) {
    ir::LoweredBuffer b = lowered_.buffers[from];
    Record(step, SubjectForm::kWeights, b.name, "products multiply operands of one dtype");
    b.name += StrCat(" as ", DTypeName(context_.storage));
    b.dtype = context_.storage;
    b.constant = Narrowed(b.constant, context_.storage);
    place->second = AddBuffer(std::move(b));
  }
  step.inputs[k] = place->second;
  step.problem.inputs[k].dtype = context_.storage;
}

ir::LoweredStep NarrowOperands::CopyOf(const ir::LoweredStep& step, size_t k, abi::View* narrow) {
  const abi::View from = WithoutRepeats(step.problem.inputs[k]);
  // Windows that overlap share elements, which a copy of the view would store several times.
  if (!ir::IsInjective(from)) return CopyOfWhole(step, k, narrow);
  const Dims order = StoredOrder(step, k);
  *narrow = {context_.storage, from.shape, ir::StridesInOrder(from.shape, order), 0};
  return CopyStep(step, k, from, *narrow, InOrder(from.shape, order));
}

ir::LoweredStep NarrowOperands::CopyOfWhole(const ir::LoweredStep& step, size_t k,
                                            abi::View* narrow) {
  const Dims shape = lowered_.buffers[step.inputs[k]].shape;
  *narrow = WithoutRepeats(step.problem.inputs[k]);
  narrow->dtype = context_.storage;
  return CopyStep(step, k, abi::DenseView(DType::kF32, shape),
                  abi::DenseView(context_.storage, shape), shape);
}

ir::LoweredStep NarrowOperands::CopyStep(const ir::LoweredStep& step, size_t k,
                                         const abi::View& from, const abi::View& to, Dims shape) {
  const std::string name =
      StrCat(lowered_.buffers[step.inputs[k]].name, " as ", DTypeName(context_.storage), " for ",
             step.sources.empty() ? "" : step.sources[0]);
  ir::LoweredStep copy;
  copy.sources = step.sources;
  copy.problem = CopyProblemOf(from, to);
  copy.inputs = {step.inputs[k]};
  copy.outputs = {AddBuffer({name, context_.storage, shape, schema::Role::kTemp, {}})};
  copy.loop = step.loop;
  copy.guards = step.guards;
  Record(step, SubjectForm::kWritten, name,
         "the value itself stays f32, and products multiply operands of one dtype");
  return copy;
}

void NarrowOperands::GiveComputed(ir::LoweredStep& step, size_t k,
                                  std::vector<ir::LoweredStep>& before) {
  abi::View& view = step.problem.inputs[k];
  const auto key = std::pair(step.inputs[k], KeyOf(view, StoredOrder(step, k)));
  // Inside a loop a value changes from trip to trip, so there every product has its own copy. A
  // copy that is skipped where this product runs is of no use to it.
  const auto known = step.loop == ir::kNoLoop ? copies_.find(key) : copies_.end();
  Copy copy;
  if (known != copies_.end() && RunsWherever(known->second.guards, step.guards)) {
    copy = known->second;
  } else {
    before.push_back(CopyOf(step, k, &copy.view));
    copy.buffer = before.back().outputs[0];
    copy.guards = step.guards;
    if (step.loop == ir::kNoLoop) copies_.insert_or_assign(key, copy);
  }
  step.inputs[k] = copy.buffer;
  const Dims shape = view.shape;
  view = copy.view;
  for (int i = 0; i < shape.rank(); ++i) {
    if (view.shape[i] != shape[i]) view.strides[i] = 0;
  }
  view.shape = shape;
}

}  // namespace aicf::storage
