/// The views of an artifact that answer one question each: --explain, --memory, --diff.
#pragma once

#include <memory>
#include <string>

#include "base/status.h"
#include "schema/artifact.h"
#include "schema/keys.h"

namespace aicf::tools {

struct ViewOptions {
  std::string explain;  ///< step or node
  std::string entry;    ///< entry point; empty: all, or the first that fits
  bool memory = false;
  std::string diff;         ///< the other artifact
  bool diff_first = false;  ///< `diff` is A, the positional argument B
  bool json = false;
  bool ascii = false;
  const schema::TrustedKeys* required = nullptr;  ///< of both files, where not null
};

/// `required`: as Artifact::Load has it. Errors name the file.
Result<std::shared_ptr<const schema::Artifact>> LoadForInspection(
    const std::string& path, const schema::TrustedKeys* required);

/// Print to stdout. Errors: kInvalidArgument for a step, node or entry point that is not there.
Status Explain(const schema::Artifact& artifact, const ViewOptions& options);
Status ShowMemory(const schema::Artifact& artifact, const ViewOptions& options);

/// Errors: kCheckFailed when the artifacts differ, as diff(1) has it; those of loading.
Status Diff(const std::string& path, const ViewOptions& options);

}  // namespace aicf::tools
