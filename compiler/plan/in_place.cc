#include <algorithm>
#include <string>

#include "compiler/plan/memory.h"
#include "schema/loop_tree.h"
#include "schema/roots.h"
#include "schema/step_order.h"

namespace aicf {
namespace {

constexpr const char* kOwnBuffer = "own buffer";

struct Uses {
  std::vector<int64_t> readers;  // ascending
  int writers = 0;
  int first_use = -1, last_use = -1;
};

void Use(Uses& uses, size_t step) {
  uses.last_use = static_cast<int>(step);
  if (uses.first_use < 0) uses.first_use = uses.last_use;
}

std::vector<Uses> CountUses(const schema::Program& program) {
  std::vector<Uses> uses(program.buffers.size());
  for (size_t s = 0; s < program.steps.size(); ++s) {
    for (uint32_t b : program.steps[s].inputs) {
      Use(uses[b], s);
      uses[b].readers.push_back(static_cast<int64_t>(s));
    }
    for (const schema::Guard& g : program.steps[s].guards) Use(uses[g.buffer], s);
    for (uint32_t b : program.steps[s].outputs) {
      Use(uses[b], s);
      ++uses[b].writers;
    }
  }
  return uses;
}

// An earlier step that may still read the buffer, on another stream, when step `s` runs; -1: none.
int64_t ReaderBeside(const Uses& uses, const schema::StepOrder& order, size_t s) {
  if (order.serial()) return -1;
  for (int64_t r : uses.readers) {
    if (r >= static_cast<int64_t>(s)) break;
    if (!order.Before(r, static_cast<int64_t>(s))) return r;
  }
  return -1;
}

// The roots of buffers (schema/roots.h), kept up to date while outputs are put in place of
// operands.
class GrowingRoots {
 public:
  explicit GrowingRoots(const schema::Program& program) : roots_(schema::RootsOf(program)) {}

  /// Cost: on average constant, however long chains of steps in place become.
  uint32_t Of(uint32_t buffer) {
    while (roots_[buffer] != buffer) {
      roots_[buffer] = roots_[roots_[buffer]];
      buffer = roots_[buffer];
    }
    return buffer;
  }
  /// `buffer`, a root, lies in place of `other` from now on.
  void Alias(uint32_t buffer, uint32_t other) { roots_[buffer] = Of(other); }

 private:
  std::vector<uint32_t> roots_;
};

// Why outputs[0] of the step cannot take the bytes of input k; empty when it can.
std::string Refuse(const schema::Program& program, const std::vector<Uses>& uses,
                   const schema::LoopTree& loops, const schema::StepOrder& order,
                   GrowingRoots& roots, size_t s, size_t k) {
  const schema::Step& step = program.steps[s];
  const uint32_t in = step.inputs[k];
  const uint32_t out = step.outputs[0];
  const schema::Buffer& source = program.buffers[in];
  const abi::KernelInfo* kernel = abi::FindKernel(step.kernel);
  if (source.role != schema::Role::kTemp)
    return StrCat("role: it is ", RoleWithArticle(source.role));
  if (uses[in].last_use != static_cast<int>(s)) {
    return StrCat("read-later: it is read again by ",
                  schema::ToString(program.steps[uses[in].last_use].sources));
  }
  if (const int64_t reader = ReaderBeside(uses[in], order, s); reader >= 0) {
    const schema::Step& beside = program.steps[static_cast<size_t>(reader)];
    return StrCat("stream: it may still be read by ", schema::ToString(beside.sources),
                  " on stream ", beside.stream);
  }
  if (!loops.ContainsStep(loops.InnermostOf(static_cast<int64_t>(s)), uses[in].first_use)) {
    return "loop: it is read again by the next trip";
  }
  if (source.bytes != program.buffers[out].bytes)
    return "size: the output takes another number of bytes";
  if (uses[out].writers != 1) return "outputs: the output is written by several steps";
  if (std::count(step.outputs.begin(), step.outputs.end(), out) != 1)
    return "outputs: the step writes the output twice";
  if (step.problem.inputs[k] != step.problem.outputs[0])
    return "view: the step views it differently than the output";
  if (abi::OutputInPlaceOf(step.problem, static_cast<int>(k)) != 0) {
    return "outputs: the operand becomes another output of the step";
  }
  if (!kernel->in_place(step.problem, static_cast<int>(k))) {
    return StrCat("capability: kernel ", step.kernel, " does not allow operand ", k, " in place");
  }
  for (const schema::Guard& g : step.guards) {
    if (roots.Of(g.buffer) == roots.Of(in)) return "guard: it says whether the step runs";
  }
  for (size_t j = 0; j < step.inputs.size(); ++j) {
    if (j == k || roots.Of(step.inputs[j]) != roots.Of(in)) continue;
    return "operand: another operand reads the same bytes";
  }
  return "";
}

// The decision for an output that overwrites nothing. DecideInPlace changes it where an operand may
// be overwritten.
Decision OutputDecision(const PassContext& context, const schema::Program& program, size_t s,
                        uint32_t output) {
  Decision d =
      context.About(DecisionKind::kInPlace,
                    schema::Subject::StepOutput(static_cast<int>(s), program.steps[s].sources,
                                                program.buffers[output].name),
                    "decide-in-place");
  d.choice = kOwnBuffer;
  d.Because(Reason::kOnlyLegal);
  return d;
}

// Records that outputs of a step after its first one have buffers of their own: only the first may
// overwrite an operand here. States are left out, because UpdateStatesInPlace decides about them.
Status RecordFurtherOutputs(const schema::Program& program, size_t s, Occurrences& occurrences,
                            PassContext& context) {
  const schema::Step& step = program.steps[s];
  for (size_t o = 1; o < step.outputs.size(); ++o) {
    if (std::find(step.outputs.begin(), step.outputs.begin() + o, step.outputs[o]) !=
        step.outputs.begin() + o) {
      continue;
    }
    if (program.buffers[step.outputs[o]].role == schema::Role::kState) continue;
    Decision d = OutputDecision(context, program, s, step.outputs[o]);
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      const uint32_t in = step.inputs[k];
      if (program.buffers[in].role == schema::Role::kConstant) continue;
      const auto begin = step.inputs.begin(), end = begin + static_cast<int64_t>(k);
      if (std::find(begin, end, in) != end) continue;  // several operands are parts of it
      d.alternatives.push_back({StrCat("overwrites '", program.buffers[in].name, "'"),
                                "outputs: only a step's first output may overwrite an operand",
                                -1});
    }
    AICF_RETURN_IF_ERROR(CheckRefusals(context.wishes, d, occurrences.Next(IdentityOf(d))));
    context.Record(std::move(d));
  }
  return OkStatus();
}

}  // namespace

Status DecideInPlace(schema::Program& program, PassContext& context) {
  AICF_ASSIGN_OR_RETURN(const schema::LoopTree loops, schema::LoopTree::Build(program));
  const std::vector<Uses> uses = CountUses(program);
  const schema::StepOrder order(program, program.entry_points[0]);
  Occurrences occurrences;
  GrowingRoots roots(program);
  for (size_t s = 0; s < program.steps.size(); ++s) {
    const schema::Step& step = program.steps[s];
    schema::Buffer& out = program.buffers[step.outputs[0]];
    if (out.role == schema::Role::kState) {  // see UpdateStatesInPlace
      AICF_RETURN_IF_ERROR(RecordFurtherOutputs(program, s, occurrences, context));
      continue;
    }
    Decision d = OutputDecision(context, program, s, step.outputs[0]);
    const int occurrence = occurrences.Next(IdentityOf(d));
    const Wish* wish =
        context.wishes == nullptr ? nullptr : context.wishes->Find(IdentityOf(d), occurrence);
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      const schema::Buffer& in = program.buffers[step.inputs[k]];
      if (in.role == schema::Role::kConstant) continue;
      const std::string choice = StrCat("overwrites '", in.name, "'");
      const std::string refusal = Refuse(program, uses, loops, order, roots, s, k);
      const bool wanted = wish == nullptr || wish->decision.choice == choice;
      if (refusal.empty() && wanted && out.storage != schema::Storage::kAlias) {
        out.storage = schema::Storage::kAlias;
        out.alias_of = step.inputs[k];
        roots.Alias(step.outputs[0], step.inputs[k]);
        d.choice = choice;
        d.Because(Reason::kRule,
                  "the operand dies here and the kernel reads each element before writing it");
        continue;
      }
      d.alternatives.push_back({choice, refusal, -1});
    }
    if (d.choice != kOwnBuffer) d.alternatives.push_back({kOwnBuffer, "", -1});
    if (wish != nullptr && wish->decision.choice == d.choice) d.Because(Reason::kPolicy);
    AICF_RETURN_IF_ERROR(CheckRefusals(context.wishes, d, occurrence));
    context.Record(std::move(d));
    AICF_RETURN_IF_ERROR(RecordFurtherOutputs(program, s, occurrences, context));
  }
  return OkStatus();
}

}  // namespace aicf
