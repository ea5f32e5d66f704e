#include "tools/verify/unpacked.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "compiler/emit/stored_lowered.h"
#include "kernels/abi/kernel.h"
#include "kernels/abi/packing.h"

namespace aicf::tools {
namespace {

/// The constants of the lowered program by their hash.
using Constants = std::map<std::string, const ir::Tensor*>;

Constants ConstantsOf(const std::vector<StoredLowered>& lowered) {
  Constants constants;
  for (const StoredLowered& entry : lowered) {
    for (const ir::LoweredBuffer& b : entry.lowered.buffers) {
      if (b.role != schema::Role::kConstant || !b.constant.has_data()) continue;
      constants.emplace(ToHex(HashBytes(b.constant.bytes())), &b.constant);
    }
  }
  return constants;
}

class Unpacker {
 public:
  Unpacker(const schema::Artifact& artifact, const Constants& constants)
      : artifact_(artifact), program_(artifact.program()), constants_(constants) {}

  Result<ir::Tensor> Unpack(uint32_t index, uint32_t input) const {
    const schema::Step& step = program_.steps[index];
    const abi::KernelInfo& kernel = *abi::FindKernel(step.kernel);  // known: verified
    const std::span<const std::byte> packed = PackedBytes(step.inputs[input]);
    if (const ir::Tensor* constant = Recorded(step, input); constant != nullptr) {
      const std::vector<std::byte> again =
          abi::PackedInput(kernel, step.problem, step.parameters, input, constant->bytes().data());
      if (std::ranges::equal(again, packed)) return *constant;
      return Error(Code::kBadArtifact, "step ", index, " (", step.kernel, "): operand ", input,
                   " does not hold what its record says: the constant with the hash ",
                   ToHex(Origin(step, input)->hash), " packs into other bytes");
    }
    std::vector<std::byte> bytes =
        abi::UnpackedInput(kernel, step.problem, step.parameters, input, packed.data());
    const DType dtype = step.problem.inputs[input].dtype;
    const Dims shape{static_cast<int64_t>(bytes.size()) / DTypeBytes(dtype)};
    return ir::Tensor::Own(dtype, shape, std::move(bytes));
  }

 private:
  /// The buffer in which an operand's bytes lie. The verifier has proven that constants lie in the
  /// weights and that chains of aliases end.
  uint32_t Root(uint32_t buffer) const { return schema::RootOf(program_, buffer); }

  std::span<const std::byte> PackedBytes(uint32_t buffer) const {
    return artifact_.weights().subspan(program_.buffers[Root(buffer)].offset,
                                       program_.buffers[buffer].bytes);
  }

  const std::optional<schema::PackedOrigin>& Origin(const schema::Step& step,
                                                    uint32_t input) const {
    return program_.buffers[Root(step.inputs[input])].origin;
  }

  /// The constant with the recorded hash if the operand's view fits it, otherwise nullptr.
  const ir::Tensor* Recorded(const schema::Step& step, uint32_t input) const {
    const std::optional<schema::PackedOrigin>& origin = Origin(step, input);
    if (!origin) return nullptr;
    const auto found = constants_.find(ToHex(origin->hash));
    if (found == constants_.end()) return nullptr;
    const Result<abi::Extent> extent = abi::ExtentOf(step.problem.inputs[input]);
    const bool fits =
        extent.ok() && static_cast<uint64_t>(extent->end) <= found->second->bytes().size();
    return fits ? found->second : nullptr;
  }

  const schema::Artifact& artifact_;
  const schema::Program& program_;
  const Constants& constants_;
};

}  // namespace

Result<UnpackedOperands> FindUnpacked(const std::shared_ptr<const schema::Artifact>& artifact) {
  UnpackedOperands found;
  AICF_ASSIGN_OR_RETURN(const std::vector<StoredLowered> lowered, ReadLowered(artifact));
  const Constants constants = ConstantsOf(lowered);
  const Unpacker unpacker(*artifact, constants);
  const std::vector<schema::Step>& steps = artifact->program().steps;
  for (uint32_t s = 0; s < steps.size(); ++s) {
    for (uint32_t k = 0; k < 32; ++k) {
      if (!steps[s].IsPacked(k)) continue;
      AICF_ASSIGN_OR_RETURN(ir::Tensor constant, unpacker.Unpack(s, k));
      found.data.push_back(std::move(constant));
      found.inputs.push_back({s, k, found.data.back().bytes().data()});
    }
  }
  return found;
}

}  // namespace aicf::tools
