/// Variant: everything that a step records about how its kernel runs a problem. Chosen by the
/// compiler (kernels/abi/choice.h), proven legal wherever an artifact is read (CheckVariant).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "kernels/abi/parameters.h"
#include "kernels/abi/tensor_map.h"

namespace aicf::abi {

/// Launch of a device kernel.
struct LaunchConfig {
  uint32_t grid[3] = {1, 1, 1};
  uint32_t block[3] = {1, 1, 1};
  uint32_t cluster[3] = {1, 1, 1};
  uint32_t dynamic_shared_bytes = 0;

  friend bool operator==(const LaunchConfig&, const LaunchConfig&) = default;
};

/// "2x1x1".
std::string ExtentText(const uint32_t (&extent)[3]);

struct Variant {
  Parameters parameters;
  LaunchConfig launch;                 ///< cuda.* only; default elsewhere
  uint64_t workspace_bytes = 0;        ///< scratch in the arena, 256-byte aligned by the planner
  std::vector<TensorMap> tensor_maps;  ///< cuda.* only, in the order of the kernel's arguments

  friend bool operator==(const Variant&, const Variant&) = default;
};

/// The parts of a device kernel's variant that follow from its parameters: all but those.
struct DerivedVariant {
  LaunchConfig launch;
  uint64_t workspace_bytes = 0;
  std::vector<TensorMap> tensor_maps;
};

inline Variant MakeVariant(const Parameters& parameters, DerivedVariant derived) {
  return {parameters, derived.launch, derived.workspace_bytes, std::move(derived.tensor_maps)};
}

/// A view of a variant whose parts are stored elsewhere, for example in a recorded step. They have
/// to outlive the view.
struct VariantRef {
  VariantRef(const Variant& v)  // NOLINT(google-explicit-constructor)
      : VariantRef(v.parameters, v.launch, v.workspace_bytes, v.tensor_maps) {}
  VariantRef(const Parameters& p, const LaunchConfig& l, uint64_t workspace,
             const std::vector<TensorMap>& maps)
      : parameters(p), launch(l), workspace_bytes(workspace), tensor_maps(maps) {}

  const Parameters& parameters;
  const LaunchConfig& launch;
  uint64_t workspace_bytes;
  const std::vector<TensorMap>& tensor_maps;
};

/// The name of a variant in timing caches and messages: "cuda.gemm.tiled{tile_m=64,tile_n=32}", or
/// the key alone where there are no parameters. It contains no blanks.
std::string VariantName(std::string_view kernel_key, const Parameters& parameters);

/// Symbol of the device function compiled for exactly this problem and variant: "aicf2_", the key
/// with '_' for '.', and InstanceHash of the problem and the parameters, from which the rest of a
/// legal variant follows (kernels/abi/instance_hash.h). The verifier recomputes it, so an image
/// cannot be run on anything that it was not compiled for.
std::string InstanceSymbol(std::string_view kernel_key, const Problem& problem,
                           const VariantRef& variant);

}  // namespace aicf::abi
