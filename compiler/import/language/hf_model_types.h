/// What is known of the kinds of models beside what their configurations say.
#pragma once

#include "compiler/import/language/architecture.h"
#include "compiler/import/language/hf_config.h"

namespace aicf::language {

struct HfModelType {
  Architecture architecture;
  HfConfig config;  ///< with the defaults of its kind
};

/// Errors: kBadModel without a "model_type"; kUnsupported for one that is not known, and for a
/// switch that stands as no graph is built for.
Result<HfModelType> ReadModelType(const HfConfig& config);

}  // namespace aicf::language
