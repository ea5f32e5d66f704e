/// Several plans as one program with an entry point each.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"
#include "schema/artifact.h"

namespace aicf {

struct NamedPlan {
  std::string name;           ///< of its entry point in the result
  schema::Contents contents;  ///< program, weights and images of one entry point, as MakePlan gives
};

/// The plans' steps one after the other, each with its own buffers. What is equal is there once:
/// constants by their bytes, images by their hash. Entry points never run at the same time, so they
/// lie over each other in one arena, as large as the largest needs. Metadata is the first plan's.
///
/// REQUIRES: at least one plan; all of one target and math mode, with one entry point each that the
/// verifier accepts; names differ. Of one plan it only changes the name.
/// States of one name are one state, which all entry points share.
/// Errors: kInvalidArgument for such a state that differs in dtype or shape; kResource when the
/// numbers of steps or buffers overflow.
/// Deterministic: equal plans in equal order give equal contents.
Result<schema::Contents> MergePlans(std::vector<NamedPlan> plans);

}  // namespace aicf
