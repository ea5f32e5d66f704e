/// What of a model the importer lacks, collected so that one refusal names all of it.
#pragma once

#include <string>
#include <vector>

#include "base/status.h"

namespace aicf {

struct ImportGap {
  enum class Where : uint8_t { kInput, kInitializer, kNode, kOutput };
  Where where = Where::kNode;
  /// The place in graph order: how many inputs (kInput) or nodes of the imported graph are in front
  /// of it. A node of a subgraph has the place of the node that holds the subgraph.
  size_t place = 0;
  std::string op;       ///< kNode: with its domain in front
  std::string label;    ///< "input \"x\"", "\"Frob\" node \"one\""
  std::string name;     ///< of the node or value
  std::string problem;  ///< the rest of the sentence
};

/// An error kUnsupported that names all gaps, up to a number that a person still reads. REQUIRES:
/// at least one gap.
Status RefuseGaps(const std::vector<ImportGap>& gaps);

}  // namespace aicf
