#include "kernels/abi/kernel.h"

namespace aicf::abi {
namespace {

std::string CheckLaunch(const LaunchConfig& recorded, const LaunchConfig& own) {
  if (recorded == own) return {};
  return StrCat("launch of grid ", ExtentText(recorded.grid), ", block ",
                ExtentText(recorded.block), ", cluster ", ExtentText(recorded.cluster), " and ",
                recorded.dynamic_shared_bytes, " bytes does not follow from its parameters: grid ",
                ExtentText(own.grid), ", block ", ExtentText(own.block), ", cluster ",
                ExtentText(own.cluster), " and ", own.dynamic_shared_bytes, " bytes");
}

std::string CheckTensorMaps(const Problem& problem, const std::vector<TensorMap>& recorded,
                            const std::vector<TensorMap>& own) {
  if (recorded != own) return "tensor maps do not follow from its parameters";
  for (size_t m = 0; m < own.size(); ++m) {
    const std::string refusal = CheckTensorMap(own[m], problem);
    if (!refusal.empty()) return StrCat("tensor map ", m, ": ", refusal);
  }
  return {};
}

/// For cuda.* kernels: launch, workspace and tensor maps all follow from the parameters.
std::string CheckDevice(const KernelInfo& kernel, const Problem& problem, const VariantRef& variant,
                        const DeviceSpec& device) {
  if (std::string refusal = kernel.refuse_parameters(problem, variant.parameters, device);
      !refusal.empty()) {
    return refusal;
  }
  const DerivedVariant own = kernel.derive(problem, variant.parameters);
  if (std::string refusal = kernel.refuse_launch(device, own.launch); !refusal.empty()) {
    return refusal;
  }
  if (std::string refusal = CheckLaunch(variant.launch, own.launch); !refusal.empty()) {
    return refusal;
  }
  if (std::string refusal = CheckTensorMaps(problem, variant.tensor_maps, own.tensor_maps);
      !refusal.empty()) {
    return refusal;
  }
  if (variant.workspace_bytes >= own.workspace_bytes) return {};
  return StrCat("workspace of ", variant.workspace_bytes, " bytes, it needs ", own.workspace_bytes);
}

/// For all other kernels: they have no launch and no tensor maps, and a function of the problem
/// bounds their workspace.
std::string CheckHost(const KernelInfo& kernel, const Problem& problem, const VariantRef& variant,
                      const DeviceSpec& device) {
  if (variant.launch != LaunchConfig{} || !variant.tensor_maps.empty()) {
    return "a launch or a tensor map on a kernel that is not cuda.*";
  }
  const uint64_t bytes = kernel.workspace_bytes(problem, device);
  if (kernel.backend == Backend::kLibrary) {
    // How much workspace a library's call needs depends on the recorded algorithm, which only the
    // library can read: here it can only be checked against the upper bound.
    if (variant.workspace_bytes <= bytes) return {};
    return StrCat("workspace of ", variant.workspace_bytes, " bytes, the library may use ", bytes);
  }
  if (variant.workspace_bytes >= bytes) return {};
  return StrCat("workspace of ", variant.workspace_bytes, " bytes, it needs ", bytes);
}

}  // namespace

std::string CheckVariant(const KernelInfo& kernel, const Problem& problem,
                         const VariantRef& variant, const DeviceSpec& device) {
  if (std::string refusal = kernel.supports(problem, device); !refusal.empty()) return refusal;
  if (std::string refusal = CheckParameters(variant.parameters, kernel.parameters);
      !refusal.empty()) {
    return refusal;
  }
  if (kernel.derive != nullptr) return CheckDevice(kernel, problem, variant, device);
  if (kernel.refuse != nullptr) {
    std::string refusal = kernel.refuse(problem, variant.parameters, device);
    if (!refusal.empty()) return refusal;
  }
  return CheckHost(kernel, problem, variant, device);
}

}  // namespace aicf::abi
