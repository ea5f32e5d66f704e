#include "compiler/emit/merge_plans.h"

#include <algorithm>
#include <map>
#include <tuple>

#include "compiler/plan/contents.h"
#include "compiler/plan/memory.h"
#include "compiler/plan/weights.h"
#include "schema/verify.h"

namespace aicf {
namespace {

// Equal bytes may be packed in two layouts: of a filter with one tap, say.
std::string OriginText(const schema::Buffer& b) {
  return b.origin ? StrCat(b.origin->layout, " ", ToHex(b.origin->hash)) : "";
}

}  // namespace

/// Several plans so far.
class PlanMerger::Merged {
 public:
  Status Add(const NamedPlan& plan) {
    const schema::Program& from = plan.contents.program;
    if (program_.steps.empty()) weights_.Reserve(plan.contents.weights.size());
    if (program_.steps.size() + from.steps.size() > schema::kMaxSteps ||
        program_.buffers.size() + from.buffers.size() > schema::kMaxBuffers) {
      return Error(Code::kResource, "the entry points have too many steps or buffers together");
    }
    AICF_RETURN_IF_ERROR(AddBuffers(plan));
    AddImages(plan);
    AddEntryPoint(plan);
    const auto first_step = static_cast<uint32_t>(program_.steps.size());
    for (const schema::Step& step : from.steps) AddStep(step, first_step);
    program_.arena_bytes = std::max(program_.arena_bytes, from.arena_bytes);
    program_.arena_lower_bound = std::max(program_.arena_lower_bound, from.arena_lower_bound);
    if (from.guard_image >= 0) program_.guard_image = MapImage(from.guard_image);
    return OkStatus();
  }

  /// What the first plan says of the whole program.
  void Describe(const schema::Program& first) {
    program_.target = first.target;
    program_.math = first.math;
    program_.metadata = first.metadata;
  }

  Result<schema::Contents> Take() {
    AICF_RETURN_IF_ERROR(PlanStates(program_));
    return TakeContents(std::move(program_), weights_, std::move(images_));
  }

 private:
  // A constant that an earlier plan has too is one buffer; everything else is the plan's own.
  Status AddBuffers(const NamedPlan& plan) {
    const schema::Program& from = plan.contents.program;
    buffer_map_.assign(from.buffers.size(), 0);
    for (size_t b = 0; b < from.buffers.size(); ++b) {
      schema::Buffer buffer = from.buffers[b];
      const auto fresh = static_cast<uint32_t>(program_.buffers.size());
      if (schema::IsState(buffer)) {
        AICF_ASSIGN_OR_RETURN(buffer_map_[b], AddState(std::move(buffer)));
        continue;
      }
      if (buffer.role != schema::Role::kConstant) {
        buffer_map_[b] = fresh;
        program_.buffers.push_back(std::move(buffer));
        continue;
      }
      buffer.offset =
          weights_.Add(std::span(plan.contents.weights).subspan(buffer.offset, buffer.bytes));
      const auto [known, added] = constants_.try_emplace(
          {buffer.name, buffer.dtype, ToString(buffer.shape), buffer.offset, OriginText(buffer)},
          fresh);
      buffer_map_[b] = known->second;
      if (added) program_.buffers.push_back(std::move(buffer));
    }
    for (size_t b = 0; b < from.buffers.size(); ++b) {
      if (from.buffers[b].storage != schema::Storage::kAlias) continue;
      program_.buffers[buffer_map_[b]].alias_of = buffer_map_[from.buffers[b].alias_of];
    }
    return OkStatus();
  }

  // A state belongs to all entry points: the first one's buffer is everybody's, and each has its
  // own updates in place of it.
  Result<uint32_t> AddState(schema::Buffer state) {
    const auto fresh = static_cast<uint32_t>(program_.buffers.size());
    const auto [known, added] = states_.try_emplace(state.name, fresh);
    if (added) {
      program_.buffers.push_back(std::move(state));
      return fresh;
    }
    const schema::Buffer& first = program_.buffers[known->second];
    if (first.dtype == state.dtype && first.shape == state.shape) return known->second;
    return Error(Code::kInvalidArgument, "state '", state.name, "' is ", DTypeName(state.dtype),
                 " ", ToString(state.shape), ", in an earlier entry point ", DTypeName(first.dtype),
                 " ", ToString(first.shape));
  }

  void AddImages(const NamedPlan& plan) {
    image_map_.clear();
    for (const schema::Image& image : plan.contents.program.images) {
      const auto [known, added] = known_images_.try_emplace(
          {image.hash.high, image.hash.low}, static_cast<int32_t>(program_.images.size()));
      image_map_.push_back(known->second);
      if (!added) continue;
      schema::Image own = image;
      own.offset = images_.size();
      const auto bytes = std::span(plan.contents.images).subspan(image.offset, image.bytes);
      images_.insert(images_.end(), bytes.begin(), bytes.end());
      images_.resize((images_.size() + 63) & ~size_t{63});
      program_.images.push_back(std::move(own));
    }
  }

  int32_t MapImage(int32_t image) const {
    return image < 0 ? image : image_map_[static_cast<size_t>(image)];
  }
  void MapBuffers(std::vector<uint32_t>& buffers) const {
    for (uint32_t& b : buffers) b = buffer_map_[b];
  }

  void AddStep(schema::Step step, uint32_t first_step) {
    MapBuffers(step.inputs);
    MapBuffers(step.outputs);
    for (schema::Guard& g : step.guards) g.buffer = buffer_map_[g.buffer];
    for (uint32_t& earlier : step.waits) earlier += first_step;
    step.image = MapImage(step.image);
    program_.steps.push_back(std::move(step));
  }

  void AddEntryPoint(const NamedPlan& plan) {
    schema::EntryPoint entry = plan.contents.program.entry_points.front();
    entry.name = plan.name;
    entry.first_step = static_cast<uint32_t>(program_.steps.size());
    MapBuffers(entry.inputs);
    MapBuffers(entry.outputs);
    MapBuffers(entry.metas);
    for (schema::Loop& loop : entry.loops) {
      loop.first_step += entry.first_step;
      loop.condition = buffer_map_[loop.condition];
    }
    program_.entry_points.push_back(std::move(entry));
  }

  schema::Program program_;
  std::vector<std::byte> images_;
  WeightsBuilder weights_;
  std::map<std::tuple<std::string, DType, std::string, uint64_t, std::string>, uint32_t> constants_;
  std::map<std::string, uint32_t> states_;
  std::map<std::pair<uint64_t, uint64_t>, int32_t> known_images_;
  std::vector<uint32_t> buffer_map_;  // of the plan that is being added
  std::vector<int32_t> image_map_;
};

PlanMerger::PlanMerger() = default;
PlanMerger::~PlanMerger() = default;

Status PlanMerger::Add(NamedPlan plan) {
  if (merged_ == nullptr && !only_) {
    only_ = std::move(plan);
    return OkStatus();
  }
  const auto add = [&](const NamedPlan& one) {
    return merged_->Add(one).WithContext(StrCat("entry point '", one.name, "'"));
  };
  if (merged_ == nullptr) {
    merged_ = std::make_unique<Merged>();
    merged_->Describe(only_->contents.program);
    AICF_RETURN_IF_ERROR(add(*only_));
    only_.reset();
  }
  return add(plan);
}

Result<schema::Contents> PlanMerger::Take() {
  if (merged_ != nullptr) return merged_->Take();
  only_->contents.program.entry_points[0].name = only_->name;
  return std::move(only_->contents);
}

Result<schema::Contents> MergePlans(std::vector<NamedPlan> plans) {
  PlanMerger merger;
  for (NamedPlan& plan : plans) AICF_RETURN_IF_ERROR(merger.Add(std::move(plan)));
  return merger.Take();
}

}  // namespace aicf
