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
  std::string entry;    ///< entry point; empty: all of them, or the first that has the node
  bool memory = false;
  std::string diff;         ///< the other artifact
  bool diff_first = false;  ///< whether `diff` is A and the positional argument B
  bool json = false;
  bool ascii = false;
  const schema::TrustedKeys* required = nullptr;  ///< unless null, keys for both files
};

/// Loads an artifact with its optional sections. `required` is passed to Artifact::Load. Errors
/// name the file.
Result<std::shared_ptr<const schema::Artifact>> LoadForInspection(
    const std::string& path, const schema::TrustedKeys* required);

/// These print to stdout. Errors: kInvalidArgument for a step, node or entry point that is not
/// there.
Status Explain(const schema::Artifact& artifact, const ViewOptions& options);
Status ShowMemory(const schema::Artifact& artifact, const ViewOptions& options);

/// Prints the differences to stdout. Errors: kCheckFailed when the artifacts differ, in analogy to
/// the exit code of diff(1); those of loading.
Status Diff(const std::string& path, const ViewOptions& options);

}  // namespace aicf::tools
