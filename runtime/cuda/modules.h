/// The artifact's compiled device code in one device's context: every image loaded, every step's
/// function found and checked before anything is captured, so that capture never loads code.
#pragma once

#include <memory>
#include <vector>

#include "base/status.h"
#include "runtime/cuda/handles.h"
#include "schema/artifact.h"

namespace aicf::cuda {

class Modules {
 public:
  /// REQUIRES: the device's context is current; the artifact is verified (the reader has checked
  /// each image's hash, so the driver sees only the bytes that the compiler wrote). Errors: kDevice
  /// (architecture, launch limits of this device, driver too old for the code), kBadArtifact
  /// (symbol missing, parameters that differ from the step's operands).
  static Result<Modules> Load(const std::shared_ptr<const Device>& device,
                              const schema::Artifact& artifact);

  /// The function of program step `step`; nullptr for a library step.
  CUfunction function(uint32_t step) const { return functions_[step]; }
  /// abi::kGuardSymbol; nullptr when the program has no guards.
  CUfunction guard() const { return guard_; }

 private:
  std::vector<Module> modules_;
  std::vector<CUfunction> functions_;
  CUfunction guard_ = nullptr;
};

}  // namespace aicf::cuda
