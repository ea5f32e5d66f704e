#include <utility>

#include "schema/program.h"

namespace aicf::schema {

abi::Variant VariantOf(const Step& step) {
  return {step.parameters, step.launch, step.workspace_bytes, step.tensor_maps};
}

abi::VariantRef VariantRefOf(const Step& step) {
  return {step.parameters, step.launch, step.workspace_bytes, step.tensor_maps};
}

void SetVariant(Step& step, abi::Variant variant) {
  step.parameters = std::move(variant.parameters);
  step.launch = variant.launch;
  step.workspace_bytes = variant.workspace_bytes;
  step.tensor_maps = std::move(variant.tensor_maps);
}

}  // namespace aicf::schema
