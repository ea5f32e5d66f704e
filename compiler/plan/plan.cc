// From lowered steps to a plan in which nothing is left to decide.
#include "compiler/plan/plan.h"

#include <algorithm>
#include <cstring>

#include "compiler/codegen/images.h"
#include "compiler/ir/lowered_loops.h"
#include "compiler/plan/contents.h"
#include "compiler/plan/images.h"
#include "compiler/plan/loop_states.h"
#include "compiler/plan/memory.h"
#include "compiler/plan/state_updates.h"
#include "compiler/plan/weights.h"
#include "compiler/select/choose.h"
#include "kernels/abi/packing.h"

namespace aicf {
namespace {

class PlanBuilder {
 public:
  PlanBuilder(ir::Lowered lowered, const PlanOptions& options, PassContext& context,
              PassRunner& runner)
      : lowered_(std::move(lowered)), options_(options), context_(context), runner_(runner) {}

  Result<schema::Contents> Build() {
    AICF_ASSIGN_OR_RETURN(chosen_, ChooseKernels(lowered_, options_, context_));
    program_.target = context_.device.name;
    program_.math = context_.math;
    program_.buffers.reserve(lowered_.buffers.size());
    program_.steps.reserve(lowered_.steps.size());
    for (const ir::LoweredBuffer& b : lowered_.buffers) AddBuffer(b);
    for (size_t s = 0; s < lowered_.steps.size(); ++s) AddStep(s);
    for (const ir::LoweredState& s : lowered_.states) states_.push_back({s.past, s.present});
    AICF_RETURN_IF_ERROR(AddEntryPoint());
    AICF_RETURN_IF_ERROR(DropStateCopies());
    DropUnusedConstants();
    PlaceStates();
    PlaceWeights();
    AICF_RETURN_IF_ERROR(AddImages());
    AICF_RETURN_IF_ERROR(runner_.Run(program_, context_));
    AICF_RETURN_IF_ERROR(DecideInPlace(program_, context_));
    AICF_RETURN_IF_ERROR(PlanMemory(program_, context_));
    return TakeContents(std::move(program_), weights_, std::move(images_));
  }

 private:
  void AddBuffer(const ir::LoweredBuffer& b) {
    schema::Buffer out;
    out.name = b.name;
    out.dtype = b.dtype;
    out.shape = b.shape;
    out.bytes = static_cast<uint64_t>(*ElementCount(b.shape) * DTypeBytes(b.dtype));
    out.role = b.role;
    if (b.role == schema::Role::kConstant) out.storage = schema::Storage::kWeights;
    program_.buffers.push_back(std::move(out));
    data_.push_back(b.constant);
  }

  // Moves the contents of lowered step `s` into the plan, so that they are in memory only once.
  void AddStep(size_t s) {
    ir::LoweredStep& from = lowered_.steps[s];
    const abi::KernelInfo& kernel = *chosen_[s].kernel;
    schema::Step step;
    step.sources = std::move(from.sources);
    step.kernel = kernel.key;
    step.problem = std::move(from.problem);
    step.inputs = std::move(from.inputs);
    step.outputs = std::move(from.outputs);
    step.guards = std::move(from.guards);
    schema::SetVariant(step, chosen_[s].variant);
    if (kernel.backend == abi::Backend::kLibrary) SetAlgorithm(step, chosen_[s].algorithm);
    PackInputs(kernel, step);
    program_.steps.push_back(std::move(step));
  }

  void PackInputs(const abi::KernelInfo& kernel, schema::Step& step) {
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      const auto layout = abi::LayoutOf(kernel, step.problem, step.parameters, k);
      if (!layout) continue;
      const ir::Tensor& constant = data_[step.inputs[k]];
      std::vector<std::byte> packed =
          abi::PackedInput(kernel, step.problem, step.parameters, k, constant.bytes().data());
      const Dims shape{static_cast<int64_t>(layout->bytes)};
      schema::Buffer buffer = program_.buffers[step.inputs[k]];
      buffer.origin = {std::string(layout->name), HashBytes(constant.bytes())};
      RecordPacking(step, buffer);
      buffer.name = StrCat(buffer.name, " packed for ", kernel.key, " #", program_.steps.size());
      buffer.dtype = DType::kU8;
      buffer.shape = shape;
      buffer.bytes = layout->bytes;
      step.inputs[k] = static_cast<uint32_t>(program_.buffers.size());
      step.packed_inputs |= 1u << k;
      program_.buffers.push_back(std::move(buffer));
      data_.push_back(ir::Tensor::Own(DType::kU8, shape, std::move(packed)));
    }
  }

  void RecordPacking(const schema::Step& step, const schema::Buffer& constant) {
    const auto index = static_cast<int>(program_.steps.size());
    Decision d = context_.About(DecisionKind::kPacking, schema::Subject::Step(index, step.sources),
                                "choose-kernels");
    d.choice = constant.origin->layout;
    d.Because(Reason::kRule, StrCat(step.kernel, " with its parameters reads '", constant.name,
                                    "' (", DTypeName(constant.dtype), " ", ToString(constant.shape),
                                    ", hash ", ToHex(constant.origin->hash), ") so"));
    context_.Record(std::move(d));
  }

  Status AddEntryPoint() {
    schema::EntryPoint main;
    main.name = "main";
    for (ir::BufferId b : lowered_.inputs) {
      const bool meta = lowered_.buffers[b].role == schema::Role::kMeta;
      (meta ? main.metas : main.inputs).push_back(b);
    }
    main.outputs.assign(lowered_.outputs.begin(), lowered_.outputs.end());
    main.extents = lowered_.extents;
    AICF_ASSIGN_OR_RETURN(main.loops, ir::LoopRanges(lowered_));
    main.step_count = static_cast<uint32_t>(program_.steps.size());
    program_.entry_points.push_back(std::move(main));
    return OkStatus();
  }

  Status DropStateCopies() {
    AICF_ASSIGN_OR_RETURN(const std::vector<bool> carried, ChangeStatesInPlace(program_, context_));
    AICF_RETURN_IF_ERROR(Drop(carried));
    AICF_ASSIGN_OR_RETURN(const std::vector<bool> kept,
                          UpdateStatesInPlace(states_, program_, context_));
    return Drop(kept);
  }

  Status Drop(const std::vector<bool>& gone) {
    RemoveSteps(program_, gone);
    context_.decisions->RemoveSteps(gone);
    AICF_RETURN_IF_ERROR(ExplainNeighbours(program_, gone, context_));
    size_t s = 0;
    std::erase_if(chosen_, [&](const KernelChoice&) { return gone[s++]; });
    return OkStatus();
  }

  // Packing leaves unpacked constants behind that no step names any more. Buffers that nothing
  // names are dropped, so that they take no place in the artifact.
  void DropUnusedConstants() {
    std::vector<bool> used(program_.buffers.size(), false);
    for (const schema::Step& step : program_.steps) {
      for (uint32_t b : step.inputs) used[b] = true;
      for (uint32_t b : step.outputs) used[b] = true;
      for (const schema::Guard& g : step.guards) used[g.buffer] = true;
    }
    for (uint32_t b : program_.entry_points[0].inputs) used[b] = true;
    for (uint32_t b : program_.entry_points[0].metas) used[b] = true;
    for (const PlannedState& s : states_) used[s.past] = used[s.present] = true;
    for (uint32_t b : program_.entry_points[0].outputs) used[b] = true;
    for (const schema::Loop& l : program_.entry_points[0].loops) used[l.condition] = true;
    std::vector<uint32_t> map(program_.buffers.size(), 0);
    std::vector<schema::Buffer> buffers;
    std::vector<ir::Tensor> data;
    for (size_t b = 0; b < used.size(); ++b) {
      if (!used[b]) continue;
      map[b] = static_cast<uint32_t>(buffers.size());
      buffers.push_back(std::move(program_.buffers[b]));
      data.push_back(data_[b]);
    }
    program_.buffers = std::move(buffers);
    data_ = std::move(data);
    auto renumber = [&](std::vector<uint32_t>& ids) {
      for (uint32_t& id : ids) id = map[id];
    };
    for (schema::Step& step : program_.steps) {
      renumber(step.inputs);
      renumber(step.outputs);
      for (schema::Guard& g : step.guards) g.buffer = map[g.buffer];
    }
    for (PlannedState& s : states_) s = {map[s.past], map[s.present]};
    renumber(program_.entry_points[0].inputs);
    renumber(program_.entry_points[0].metas);
    renumber(program_.entry_points[0].outputs);
    for (schema::Loop& l : program_.entry_points[0].loops) l.condition = map[l.condition];
  }

  void PlaceStates() {
    for (const PlannedState& s : states_) {
      program_.buffers[s.past].storage = schema::Storage::kState;
      program_.buffers[s.present].storage = schema::Storage::kAlias;
      program_.buffers[s.present].alias_of = s.past;
    }
  }

  void PlaceWeights() {
    size_t all = 0;
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      if (program_.buffers[b].role != schema::Role::kConstant) continue;
      all += data_[b].bytes().size() + schema::kBufferAlignment;
    }
    weights_.Reserve(all);
    for (size_t b = 0; b < program_.buffers.size(); ++b) {
      if (program_.buffers[b].role != schema::Role::kConstant) continue;
      program_.buffers[b].offset = weights_.Add(data_[b].bytes());
    }
  }

  static void NameSymbol(schema::Step& step) {
    if (step.kernel.starts_with("cuda.")) {
      step.symbol = abi::InstanceSymbol(step.kernel, step.problem, schema::VariantOf(step));
    }
  }

  Status AddImages() {
    if (context_.device.backend != abi::Backend::kCuda) return OkStatus();
    if (!options_.images) {
      for (schema::Step& step : program_.steps) NameSymbol(step);
      return OkStatus();
    }
    std::vector<ImageRequest> requests;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      if (chosen_[s].kernel->backend != abi::Backend::kCuda) continue;
      requests.push_back({chosen_[s].kernel, &program_.steps[s].problem, chosen_[s].variant});
    }
    ImageOptions image_options;
    image_options.cache_dir = options_.kernel_cache_dir;
    image_options.progress = options_.progress;
    AICF_ASSIGN_OR_RETURN(CompiledImages compiled,
                          CompileImages(requests, context_.device, image_options));
    for (const CompiledImage& image : compiled.images) AppendImage(image, program_, images_);
    const auto guarded = [](const schema::Step& s) { return !s.guards.empty(); };
    if (std::ranges::any_of(program_.steps, guarded) || !program_.entry_points[0].loops.empty()) {
      AICF_ASSIGN_OR_RETURN(const CompiledImage image,
                            CompileGuardImage(context_.device, image_options));
      program_.guard_image = AppendImage(image, program_, images_);
    }
    size_t r = 0;
    for (size_t s = 0; s < program_.steps.size(); ++s) {
      if (chosen_[s].kernel->backend != abi::Backend::kCuda) continue;
      schema::Step& step = program_.steps[s];
      step.image = static_cast<int32_t>(compiled.image_of[r++]);
      NameSymbol(step);
    }
    return OkStatus();
  }

  ir::Lowered lowered_;
  const PlanOptions& options_;
  PassContext& context_;
  PassRunner& runner_;
  std::vector<KernelChoice> chosen_;  // parallel to program_.steps
  std::vector<PlannedState> states_;
  schema::Program program_;
  std::vector<ir::Tensor> data_;  // parallel to program_.buffers
  WeightsBuilder weights_;
  std::vector<std::byte> images_;
};

}  // namespace

Result<schema::Contents> MakePlan(ir::Lowered lowered, const PlanOptions& options,
                                  PassContext& context, PassRunner& runner) {
  return PlanBuilder(std::move(lowered), options, context, runner).Build();
}

Result<schema::Contents> MakePlan(ir::Lowered lowered, const PlanOptions& options,
                                  PassContext& context) {
  PassRunner runner(options.passes);
  return MakePlan(std::move(lowered), options, context, runner);
}

}  // namespace aicf
