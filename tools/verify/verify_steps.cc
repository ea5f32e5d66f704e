#include "tools/verify/verify_steps.h"

#include <algorithm>
#include <utility>

#include "kernels/abi/kernel.h"
#include "schema/roots.h"
#include "tools/verify/overflow.h"
#include "tools/verify/product_bounds.h"
#include "tools/verify/unpacked.h"

namespace aicf::tools {
namespace {

class Comparer {
 public:
  Comparer(const schema::Program& program, size_t entry, const Executors& executors,
           const VerifyOptions& options)
      : program_(program),
        entry_(program.entry_points[entry]),
        index_(entry),
        device_(executors.device),
        reference_(executors.reference),
        drift_(executors.drift),
        unpacked_(executors.unpacked),
        options_(options),
        known_(program.buffers.size(), false) {
    for (uint32_t s = 0; s < entry_.step_count; ++s) {
      StepCheck check;
      check.step = entry_.first_step + s;
      const schema::Step& step = program.steps[check.step];
      check.same_kernel = step.kernel == abi::ReferenceKey(step.problem.family);
      report_.steps.push_back(std::move(check));
    }
  }

  Result<StepsReport> Run(const std::vector<Bytes>& inputs) {
    for (size_t i = 0; i < entry_.inputs.size(); ++i) {
      AICF_RETURN_IF_ERROR(Begin(entry_.inputs[i], inputs[i]));
    }
    for (const auto& [buffer, bytes] : options_.start) AICF_RETURN_IF_ERROR(Begin(buffer, bytes));
    report_.device = device_.device_name();
    AICF_RETURN_IF_ERROR(WalkSteps(
        device_, program_, index_, [this](const StepVisit& visit) { return Visit(visit); },
        options_.max_operations));
    for (uint32_t output : entry_.outputs) AICF_RETURN_IF_ERROR(AddDrift(output));
    for (uint32_t b = 0; b < program_.buffers.size(); ++b) {
      if (schema::IsState(program_.buffers[b])) AICF_RETURN_IF_ERROR(AddDrift(b));
    }
    return std::move(report_);
  }

 private:
  uint32_t RootOf(uint32_t buffer) const { return roots_[buffer]; }

  // All executors begin with the same bytes.
  Status Begin(uint32_t buffer, const Bytes& bytes) {
    for (StepByStep* steps : {&device_, &reference_, &drift_}) {
      AICF_RETURN_IF_ERROR(steps->Write(buffer, bytes.data()));
    }
    known_[RootOf(buffer)] = true;
    return OkStatus();
  }

  Result<Bytes> Read(StepByStep& steps, uint32_t buffer) const {
    Bytes bytes(program_.buffers[buffer].bytes);
    AICF_RETURN_IF_ERROR(steps.Read(buffer, bytes.data()));
    return bytes;
  }

  Status Visit(const StepVisit& visit) {
    const schema::Step& step = program_.steps[visit.step];
    StepCheck& check = report_.steps[visit.step - entry_.first_step];
    if (!visit.runs) {
      // The step is skipped, so the device's memory holds remains of other buffers in its outputs,
      // and these need not equal the reference's copy.
      for (uint32_t b : step.outputs) known_[RootOf(b)] = false;
      return OkStatus();
    }
    ++check.runs;
    AICF_RETURN_IF_ERROR(HandOver(step, check));
    AICF_RETURN_IF_ERROR(reference_.RunStep(visit.step));
    AICF_RETURN_IF_ERROR(drift_.RunStep(visit.step));
    const Status ran = device_.RunStep(visit.step);
    if (!ran.ok()) {  // a kernel that faults is wrong, too, so the message names its node
      return step.sources.empty() ? ran : ran.WithContext(step.sources.front());
    }
    check.drift_l2 = 0;
    for (size_t r = 0; r < step.outputs.size(); ++r) {
      AICF_RETURN_IF_ERROR(CompareOutput(visit, r, check));
    }
    // The device's results are adopted only after all comparisons, since two outputs may be parts
    // of one buffer.
    for (uint32_t b : step.outputs) AICF_RETURN_IF_ERROR(Adopt(b));
    if (!check.pass && !report_.first_failed) report_.first_failed = visit.step - entry_.first_step;
    report_.pass = report_.pass && check.pass;
    if (options_.progress) {  // the count goes back when another trip of a loop starts
      options_.progress(static_cast<int>(visit.step - entry_.first_step) + 1,
                        static_cast<int>(entry_.step_count));
    }
    return OkStatus();
  }

  /// Copies the step's operands from the device to the reference. The reference's copies are what
  /// each operand's writer left, so where they differ, a step in between has changed the operand.
  Status HandOver(const schema::Step& step, StepCheck& check) {
    operands_.clear();
    bounds_.reset();
    for (uint32_t b : step.inputs) {
      Bytes& now = operands_.emplace_back();
      if (program_.buffers[RootOf(b)].storage == schema::Storage::kWeights) continue;
      AICF_ASSIGN_OR_RETURN(now, Read(device_, b));
      if (known_[RootOf(b)]) {
        AICF_ASSIGN_OR_RETURN(const Bytes left, Read(reference_, b));
        if (now != left && check.changed.empty()) check.changed = program_.buffers[b].name;
      }
      AICF_RETURN_IF_ERROR(reference_.Write(b, now.data()));
      known_[RootOf(b)] = true;
    }
    if (!check.changed.empty()) check.pass = false;
    return OkStatus();
  }

  Status Adopt(uint32_t buffer) {
    AICF_ASSIGN_OR_RETURN(const Bytes bytes, Read(device_, buffer));
    known_[RootOf(buffer)] = true;
    return reference_.Write(buffer, bytes.data());
  }

  Status CompareOutput(const StepVisit& visit, size_t r, StepCheck& check) {
    const schema::Step& step = program_.steps[visit.step];
    const abi::View& view = step.problem.outputs[r];
    const auto elements = [&](StepByStep& steps) -> Result<Bytes> {
      AICF_ASSIGN_OR_RETURN(const Bytes bytes, Read(steps, step.outputs[r]));
      return Gather(view, bytes);
    };
    AICF_ASSIGN_OR_RETURN(const Bytes got, elements(device_));
    AICF_ASSIGN_OR_RETURN(const Bytes want, elements(reference_));
    AICF_ASSIGN_OR_RETURN(const Bytes pure, elements(drift_));
    const StepTolerance own = ToleranceOf(step.problem);
    Judgement judged = Judge({view.dtype, got}, {view.dtype, want}, own, options_.tolerance);
    if (!judged.pass && !ByUser()) {
      AICF_RETURN_IF_ERROR(FindBounds(visit.step));
      if (bounds_ && r < bounds_->low.size()) {
        judged = JudgeWithin({view.dtype, got}, {view.dtype, want}, {view.dtype, bounds_->low[r]},
                             {view.dtype, bounds_->high[r]}, own, judged);
      }
    }
    check.drift_l2 =
        std::max(check.drift_l2, Compare({view.dtype, got}, {view.dtype, pure}, {}).relative_l2);
    Note(visit, r, judged, check);
    return CountOverflows(step, Infinities(view.dtype, want), check);
  }

  // Counts infinite results of the reference. Device and reference overflow alike, so comparing
  // them would not reveal an overflow.
  Status CountOverflows(const schema::Step& step, int64_t infinities, StepCheck& check) {
    if (infinities == 0 || NamesInfinity(step.problem)) return OkStatus();
    for (size_t k = 0; k < step.inputs.size(); ++k) {
      if (operands_[k].empty()) {
        AICF_ASSIGN_OR_RETURN(operands_[k], Read(reference_, step.inputs[k]));
      }
      if (!AllFinite(step.problem.inputs[k], operands_[k])) return OkStatus();
    }
    check.overflows += infinities;
    check.pass = false;
    return OkStatus();
  }

  bool ByUser() const {
    const Tolerance& t = options_.tolerance;
    return t.atol || t.rtol || t.rel;
  }

  /// Keeps the worst output of the worst run.
  void Note(const StepVisit& visit, size_t r, const Judgement& judged, StepCheck& check) const {
    const bool first = check.runs == 1 && r == 0;
    const bool failed_before = !first && !check.pass && check.changed.empty();
    const bool worse = !judged.pass || judged.comparison.relative_l2 > check.comparison.relative_l2;
    if (first || (!failed_before && worse)) {
      check.output = static_cast<int>(r);
      check.trip = visit.trip;
      check.shape = program_.steps[visit.step].problem.outputs[r].shape;
      check.tolerance = judged.tolerance;
      check.comparison = judged.comparison;
      check.cancelled = judged.cancelled;
    }
    check.pass = check.pass && judged.pass;
  }

  /// The bounds of a product's results from the operands that the step had.
  Status FindBounds(uint32_t index) {
    if (bounds_) return OkStatus();
    const schema::Step& step = program_.steps[index];
    std::vector<const std::byte*> addresses;
    std::vector<size_t> bytes;
    for (uint32_t k = 0; k < step.inputs.size(); ++k) {
      const auto unpacked = std::ranges::find_if(
          unpacked_, [&](const UnpackedInput& u) { return u.step == index && u.input == k; });
      if (unpacked != unpacked_.end()) {
        AICF_ASSIGN_OR_RETURN(const abi::Extent extent, abi::ExtentOf(step.problem.inputs[k]));
        addresses.push_back(unpacked->data);
        bytes.push_back(static_cast<size_t>(extent.end));
        continue;
      }
      if (program_.buffers[RootOf(step.inputs[k])].storage == schema::Storage::kWeights) {
        AICF_ASSIGN_OR_RETURN(operands_[k], Read(reference_, step.inputs[k]));
      }
      addresses.push_back(operands_[k].data());
      bytes.push_back(operands_[k].size());
    }
    bounds_ = BoundProduct(step.problem, addresses, bytes);
    return OkStatus();
  }

  Status AddDrift(uint32_t output) {
    const schema::Buffer& buffer = program_.buffers[output];
    AICF_ASSIGN_OR_RETURN(const Bytes got, Read(device_, output));
    AICF_ASSIGN_OR_RETURN(const Bytes pure, Read(drift_, output));
    report_.outputs.push_back(
        {buffer.name, buffer.shape, Compare({buffer.dtype, got}, {buffer.dtype, pure}, {})});
    return OkStatus();
  }

  const schema::Program& program_;
  const std::vector<uint32_t> roots_ = schema::RootsOf(program_);
  const schema::EntryPoint& entry_;
  const size_t index_;
  StepByStep& device_;
  StepByStep& reference_;
  StepByStep& drift_;
  const std::span<const UnpackedInput> unpacked_;
  const VerifyOptions& options_;
  std::vector<Bytes> operands_;  ///< of the current step, as before it ran; empty for constants
  std::optional<ProductBounds> bounds_;  ///< of the current step, once needed
  std::vector<bool> known_;              ///< by root buffer: the reference has what its writer left
  StepsReport report_;
};

Status CheckSomethingToCompare(const Program& program, const SessionOptions& session) {
  if (!program.target().starts_with("cuda") || session.device != "cpu") return OkStatus();
  return Error(
      Code::kDevice, "the artifact is compiled for ", program.target(),
      ": on the CPU its plan runs on the reference kernels, which leaves nothing to compare "
      "them with; verify it on a GPU (--device=cuda:0), its samples anywhere "
      "(--verify=golden), or compile the model for the CPU (aicf-compile --target=cpu)");
}

}  // namespace

Result<StepsReport> CompareSteps(const schema::Program& program, size_t entry,
                                 const Executors& executors,
                                 const std::vector<std::vector<std::byte>>& inputs,
                                 const VerifyOptions& options) {
  return Comparer(program, entry, executors, options).Run(inputs);
}

Result<StepsReport> VerifySteps(const std::shared_ptr<const Program>& program,
                                const std::shared_ptr<const schema::Artifact>& stored, size_t entry,
                                const SessionOptions& session,
                                const std::vector<std::vector<std::byte>>& inputs,
                                const VerifyOptions& options) {
  AICF_RETURN_IF_ERROR(CheckSomethingToCompare(*program, session));
  AICF_ASSIGN_OR_RETURN(const std::unique_ptr<StepByStep> device,
                        MakeStepByStep(program, entry, session));
  AICF_ASSIGN_OR_RETURN(const UnpackedOperands unpacked, FindUnpacked(stored));
  std::unique_ptr<StepByStep> references[2];
  for (auto& reference : references) {
    AICF_ASSIGN_OR_RETURN(reference,
                          MakeReferenceSteps(program, entry, session.threads, unpacked.inputs));
  }
  return CompareSteps(program->artifact().program(), entry,
                      {*device, *references[0], *references[1], unpacked.inputs}, inputs, options);
}

}  // namespace aicf::tools
