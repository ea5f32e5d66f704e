#include <algorithm>
#include <optional>

#include "compiler/ir/lowered_edit.h"
#include "compiler/ir/views.h"
#include "compiler/passes/lowered/copy_pieces.h"
#include "compiler/passes/lowered/fuse.h"
#include "compiler/passes/lowered/passes.h"
#include "compiler/passes/lowered/whole_results.h"

namespace aicf {
namespace {

// Along an axis of fewer elements, neighbours are read together whatever the order of the axes.
constexpr int64_t kFewNeighbours = 8;

// The axis whose neighbours are closest in memory, among the axes along which the view moves in
// memory at all; -1 where there is none.
int InnerAxis(const abi::View& v) {
  int inner = -1;
  for (int d = 0; d < v.shape.rank(); ++d) {
    if (v.shape[d] == 1 || v.strides[d] == 0) continue;
    if (inner < 0 || std::abs(v.strides[d]) < std::abs(v.strides[inner])) inner = d;
  }
  return inner;
}

// Whether neighbouring results need elements that lie far apart in the operand.
bool ReadsAcross(const abi::View& operand, const abi::View& result) {
  if (operand.shape != result.shape) return false;
  if (ir::DistinctElements(operand) != abi::ElementsOf(result)) return false;
  const int from = InnerAxis(operand), to = InnerAxis(result);
  return from >= 0 && to >= 0 && from != to && operand.shape[from] >= kFewNeighbours &&
         operand.shape[to] >= kFewNeighbours;
}

// Operands that a kernel does not fetch in blocks of its own: those of the epilogue, and what is
// normalised.
bool TakesElements(const ir::LoweredStep& step, size_t k) {
  if (k >= static_cast<size_t>(step.problem.core_inputs)) return true;
  return step.problem.family == abi::Family::kNormalize;
}

struct Read {
  size_t step, operand;
};

// A row-major value that is read across (ReadsAcross), viewed as it is (`from`) and as its copy
// with channels innermost (`to`), and the reads that are to use the copy.
struct Turned {
  ir::BufferId buffer = 0;
  abi::View from, to;
  std::vector<Read> reads;
};

// The steps that use a buffer, found in one walk over the steps. Adding a copy of one buffer does
// not change the uses of the buffers that are looked at after it.
struct BufferUses {
  std::vector<Read> reads;
  int writes = 0;
  bool in_order = true;  // no step that names it repeats or may be skipped
};

std::vector<BufferUses> UsesOf(const ir::Lowered& lowered) {
  std::vector<BufferUses> uses(lowered.buffers.size());
  for (size_t s = 0; s < lowered.steps.size(); ++s) {
    const ir::LoweredStep& step = lowered.steps[s];
    const bool in_order = step.loop == ir::kNoLoop && step.guards.empty();
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      uses[step.inputs[k]].reads.push_back({s, k});
      uses[step.inputs[k]].in_order &= in_order;
    }
    for (ir::BufferId b : step.outputs) {
      ++uses[b].writes;
      uses[b].in_order &= in_order;
    }
  }
  return uses;
}

// The reads of the buffer that are across now and would not be if they read the copy.
std::vector<Read> AcrossReads(const ir::Lowered& lowered, const BufferUses& uses, const Turned& t) {
  std::vector<Read> reads;
  for (const auto& [s, k] : uses.reads) {
    const ir::LoweredStep& step = lowered.steps[s];
    if (!TakesElements(step, k)) continue;
    const abi::View& out = step.problem.outputs[0];
    if (!ReadsAcross(step.problem.inputs[k], out)) continue;
    const std::optional<abi::View> moved = ir::Remap(step.problem.inputs[k], t.from, t.to);
    if (moved && !ReadsAcross(*moved, out)) reads.push_back({s, k});
  }
  return reads;
}

// Inputs, and values that one step makes before all of those that read them.
bool HasOneValue(const ir::LoweredBuffer& buffer, const BufferUses& uses) {
  const schema::Role role = buffer.role;
  if (role != schema::Role::kInput && role != schema::Role::kTemp) return false;
  return uses.in_order && uses.writes == (role == schema::Role::kTemp ? 1 : 0);
}

std::optional<Turned> TurnedOf(const ir::Lowered& lowered, const BufferUses& uses, ir::BufferId b) {
  const ir::LoweredBuffer& buffer = lowered.buffers[b];
  const int rank = buffer.shape.rank();
  if (rank < 3 || rank > 5 || !IsFloat(buffer.dtype) || !HasOneValue(buffer, uses)) {
    return std::nullopt;
  }
  const Dims order = ir::ChannelsLastOrder(rank);
  Turned t{b,
           abi::DenseView(buffer.dtype, buffer.shape),
           {buffer.dtype, buffer.shape, ir::StridesInOrder(buffer.shape, order), 0},
           {}};
  t.reads = AcrossReads(lowered, uses, t);
  if (t.reads.empty()) return std::nullopt;
  return t;
}

// A step that copies the buffer's elements into the other order. It has to stand in front of the
// first step of `t.reads`.
ir::LoweredStep CopyOf(ir::Lowered& lowered, const Turned& t) {
  const ir::LoweredBuffer& row_major = lowered.buffers[t.buffer];
  ir::LoweredBuffer buffer = InWholePixels(row_major, row_major.shape);
  ir::LoweredStep copy;
  copy.sources = lowered.steps[t.reads[0].step].sources;
  copy.problem = CopyProblemOf(t.from, t.to);
  copy.inputs = {t.buffer};
  copy.outputs = {static_cast<ir::BufferId>(lowered.buffers.size())};
  lowered.buffers.push_back(std::move(buffer));
  return copy;
}

void RecordTurned(PassContext& context, const ir::Lowered& lowered, const Turned& t) {
  const ir::LoweredStep& first = lowered.steps[t.reads[0].step];
  const std::string& name = lowered.buffers[t.buffer].name;
  Decision d = context.About(DecisionKind::kLayout,
                             schema::Subject::ValueOf(SubjectForm::kValue, name, first.sources),
                             "store-pixels");
  d.choice = "a copy in whole pixels";
  d.Because(Reason::kRule, StrCat("channels are next to each other in what ", t.reads.size(),
                                  " of its readers write"))
      .alternatives = {{"row-major", "cost: they would read each channel far apart", -1}};
  context.Record(std::move(d));
}

// Makes the copy and lets all of `t.reads` read it.
ir::LoweredStep Store(ir::Lowered& lowered, const Turned& t) {
  ir::LoweredStep copy = CopyOf(lowered, t);
  for (const Read& read : t.reads) {
    ir::LoweredStep& step = lowered.steps[read.step];
    abi::View& view = step.problem.inputs[read.operand];
    view = *ir::Remap(view, t.from, t.to);
    step.inputs[read.operand] = copy.outputs[0];
  }
  return copy;
}

struct PlacedCopy {
  size_t before;  // this step
  ir::LoweredStep step;
};

// Several copies in front of the same step keep the order in which they were made.
void InsertCopies(std::vector<PlacedCopy> copies, ir::Lowered& lowered) {
  std::ranges::stable_sort(copies, {}, &PlacedCopy::before);
  std::vector<ir::LoweredStep> steps;
  steps.reserve(lowered.steps.size() + copies.size());
  auto next = copies.begin();
  for (size_t s = 0; s < lowered.steps.size(); ++s) {
    for (; next != copies.end() && next->before == s; ++next)
      steps.push_back(std::move(next->step));
    steps.push_back(std::move(lowered.steps[s]));
  }
  lowered.steps = std::move(steps);
}

}  // namespace

// A graph's inputs are row-major, and a convolution's results whole pixels: what meets both in one
// expression would read one of them element by element.
Status StorePixels(ir::Lowered& lowered, PassContext& context) {
  if (context.device.backend != abi::Backend::kCuda) return OkStatus();
  StoreWholeResults(lowered, context);
  const std::vector<BufferUses> uses = UsesOf(lowered);
  std::vector<PlacedCopy> copies;
  for (ir::BufferId b = 0; b < uses.size(); ++b) {
    const std::optional<Turned> turned = TurnedOf(lowered, uses[b], b);
    if (!turned) continue;
    RecordTurned(context, lowered, *turned);
    copies.push_back({turned->reads[0].step, Store(lowered, *turned)});
  }
  if (!copies.empty()) InsertCopies(std::move(copies), lowered);
  return OkStatus();
}

}  // namespace aicf
