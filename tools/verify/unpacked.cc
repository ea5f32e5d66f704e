#include "tools/verify/unpacked.h"

#include <algorithm>
#include <cstring>

#include "compiler/emit/stored_lowered.h"
#include "kernels/abi/kernel.h"
#include "kernels/abi/packing.h"

namespace aicf::tools {
namespace {

class Finder {
 public:
  Finder(const schema::Artifact& artifact, std::vector<StoredLowered> lowered)
      : artifact_(artifact), lowered_(std::move(lowered)) {}

  /// The constant that the step's kernel packs into what the plan holds; nullptr: there is none.
  const ir::Tensor* Find(const schema::Step& step, uint32_t input) const {
    const schema::Buffer& packed = artifact_.program().buffers[step.inputs[input]];
    // A buffer is named after what was packed: mostly the first candidate is the one.
    for (const bool same_name : {true, false}) {
      for (const StoredLowered& entry : lowered_) {
        for (const ir::LoweredBuffer& b : entry.lowered.buffers) {
          if (b.role != schema::Role::kConstant || !b.constant.has_data()) continue;
          if (packed.name.starts_with(b.name + " packed for ") != same_name) continue;
          if (Fits(b, step.problem.inputs[input]) && Packs(step, input, b.constant, packed)) {
            return &b.constant;
          }
        }
      }
    }
    return nullptr;
  }

 private:
  static bool Fits(const ir::LoweredBuffer& b, const abi::View& view) {
    const Result<abi::Extent> extent = abi::ExtentOf(view);
    return b.dtype == view.dtype && extent.ok() &&
           static_cast<uint64_t>(extent->end) <= b.constant.bytes().size();
  }

  bool Packs(const schema::Step& step, uint32_t input, const ir::Tensor& constant,
             const schema::Buffer& packed) const {
    const abi::KernelInfo* kernel = abi::FindKernel(step.kernel);
    const std::vector<std::byte> bytes =
        abi::PackedInput(*kernel, step.problem, input, constant.bytes().data());
    // The verifier has proven that constants lie in the weights and that aliases end.
    const schema::Program& program = artifact_.program();
    const uint32_t root = schema::RootOf(program, step.inputs[input]);
    const auto stored = artifact_.weights().subspan(program.buffers[root].offset, packed.bytes);
    return std::ranges::equal(bytes, stored);
  }

  const schema::Artifact& artifact_;
  std::vector<StoredLowered> lowered_;
};

Status NotFound(const schema::Artifact& artifact, uint32_t step) {
  const bool stripped = artifact.text(schema::SectionKind::kLowered).empty();
  return Error(Code::kUnsupported, "step ", step, " (", artifact.program().steps[step].kernel,
               "): its weights are packed for the kernel, and the artifact ",
               stripped ? "is stripped of the lowered program, which holds them unpacked; compile "
                          "the model without --strip"
                        : "has no constant that packs into them");
}

}  // namespace

Result<UnpackedOperands> FindUnpacked(const std::shared_ptr<const schema::Artifact>& artifact) {
  UnpackedOperands found;
  AICF_ASSIGN_OR_RETURN(std::vector<StoredLowered> lowered, ReadLowered(artifact));
  const Finder finder(*artifact, std::move(lowered));
  const std::vector<schema::Step>& steps = artifact->program().steps;
  for (uint32_t s = 0; s < steps.size(); ++s) {
    for (uint32_t k = 0; k < 32; ++k) {
      if ((steps[s].packed_inputs >> k & 1) == 0) continue;
      const ir::Tensor* constant = finder.Find(steps[s], k);
      if (constant == nullptr) return NotFound(*artifact, s);
      found.data.push_back(*constant);
      found.inputs.push_back({s, k, constant->bytes().data()});
    }
  }
  return found;
}

}  // namespace aicf::tools
