/// What is known about the types of models in addition to what their configurations say.
#pragma once

#include "compiler/import/language/architecture.h"
#include "compiler/import/language/hf_config.h"

namespace aicf::language {

struct HfModelType {
  Architecture architecture;
  HfConfig config;  ///< with the defaults of its type filled in
};

/// Reads the type of a model. Errors: kBadModel without a "model_type"; kUnsupported for a type
/// that is not known, and for a switch with a value for which no graph can be built.
Result<HfModelType> ReadModelType(const HfConfig& config);

}  // namespace aicf::language
