#include "tests/models/rounded_steps.h"

#include <bit>
#include <cmath>
#include <cstring>
#include <map>
#include <ranges>
#include <span>
#include <utility>

#include "base/float16.h"
#include "schema/artifact.h"

namespace aicf::testing {
namespace {

bool Multiplies(const schema::Step& step) {
  const bool product =
      step.problem.family == abi::Family::kGemm || step.problem.family == abi::Family::kConv;
  return product && step.problem.math != abi::MathMode::kFp32;
}

// As the tensor cores' loads do: tf32 to 10 mantissa bits, ties away from zero.
float Rounded(float value, abi::MathMode math) {
  if (math == abi::MathMode::kFp16) return F16ToF32(F32ToF16(value));
  if (!std::isfinite(value)) return value;
  return std::bit_cast<float>((std::bit_cast<uint32_t>(value) + 0x1000u) & 0xffffe000u);
}

void Round(std::span<std::byte> bytes, abi::MathMode math) {
  for (size_t at = 0; at + 4 <= bytes.size(); at += 4) {
    float value;
    std::memcpy(&value, &bytes[at], 4);
    value = Rounded(value, math);
    std::memcpy(&bytes[at], &value, 4);
  }
}

class RoundedSteps final : public StepByStep {
 public:
  RoundedSteps(std::shared_ptr<const Program> program, std::unique_ptr<StepByStep> steps)
      : program_(std::move(program)), steps_(std::move(steps)) {}
  Status Read(uint32_t buffer, std::byte* to) override { return steps_->Read(buffer, to); }
  Status Write(uint32_t buffer, const std::byte* from) override {
    return steps_->Write(buffer, from);
  }
  std::string device_name() const override { return "rounded operands"; }

  Status RunStep(uint32_t index) override {
    const schema::Program& plan = program_->artifact().program();
    const schema::Step& step = plan.steps[index];
    std::vector<std::pair<uint32_t, std::vector<std::byte>>> kept;
    for (size_t k = 0; k < 2 && Multiplies(step); ++k) {
      const schema::Buffer& root = plan.buffers[schema::RootOf(plan, step.inputs[k])];
      if (root.storage == schema::Storage::kWeights || root.dtype != DType::kF32) continue;
      std::vector<std::byte> bytes(plan.buffers[step.inputs[k]].bytes);
      AICF_RETURN_IF_ERROR(steps_->Read(step.inputs[k], bytes.data()));
      std::vector<std::byte> rounded = bytes;
      Round(rounded, step.problem.math);
      AICF_RETURN_IF_ERROR(steps_->Write(step.inputs[k], rounded.data()));
      kept.emplace_back(step.inputs[k], std::move(bytes));
    }
    AICF_RETURN_IF_ERROR(steps_->RunStep(index));
    // What an output has taken the place of stays gone. Backwards: both operands may be one buffer.
    for (const auto& [buffer, bytes] : std::views::reverse(kept)) {
      bool overwritten = false;
      for (uint32_t out : step.outputs) {
        overwritten = overwritten || schema::RootOf(plan, out) == schema::RootOf(plan, buffer);
      }
      if (!overwritten) AICF_RETURN_IF_ERROR(steps_->Write(buffer, bytes.data()));
    }
    return OkStatus();
  }

 private:
  std::shared_ptr<const Program> program_;
  std::unique_ptr<StepByStep> steps_;
};

}  // namespace

Result<std::unique_ptr<StepByStep>> MakeRoundedSteps(std::shared_ptr<const Program> program) {
  AICF_ASSIGN_OR_RETURN(auto steps, MakeReferenceSteps(program, 0, 0, {}));
  return std::unique_ptr<StepByStep>(
      std::make_unique<RoundedSteps>(std::move(program), std::move(steps)));
}

Status RoundWeights(const schema::Program& program, std::vector<std::byte>& weights) {
  std::map<uint64_t, abi::MathMode> done;
  for (const schema::Step& step : program.steps) {
    for (size_t k = 0; k < 2 && Multiplies(step); ++k) {
      const schema::Buffer& b = program.buffers[schema::RootOf(program, step.inputs[k])];
      if (b.storage != schema::Storage::kWeights || b.dtype != DType::kF32) continue;
      const auto [known, fresh] = done.emplace(b.offset, step.problem.math);
      if (known->second != step.problem.math) {
        return Error(Code::kUnsupported, "constant '", b.name, "' is multiplied in two math modes");
      }
      if (fresh) Round(std::span(weights).subspan(b.offset, b.bytes), step.problem.math);
    }
  }
  return OkStatus();
}

}  // namespace aicf::testing
