/// What the user says about files that a model names.
#pragma once

#include <string>
#include <vector>

namespace aicf {

/// Not part of an artifact's provenance: it says where files lie, not what is in them.
struct NamedFiles {
  /// --external-data-dir: files may also be reached through symbolic links that end in this
  /// directory, and have several names there. Empty: neither.
  std::string store;
  /// What the compilation is about to replace: a model that names one of them is refused.
  std::vector<std::string> outputs;
};

}  // namespace aicf
