/// Rotary positions and windows of a Hugging Face model.
#pragma once

#include "base/status.h"
#include "compiler/import/language/architecture.h"
#include "compiler/import/language/hf_config.h"
#include "compiler/import/language/model.h"

namespace aicf::language {

/// Fills Model::ropes and Model::layer_numbers. Takes both forms of configurations: flat
/// ("rope_theta", "rope_scaling"), and "rope_parameters", also by kind of layer.
/// Errors: kBadModel, kUnsupported naming a kind of scaling that is not known.
Status ReadRopes(const HfConfig& config, const Architecture& architecture, Model& model);

}  // namespace aicf::language
