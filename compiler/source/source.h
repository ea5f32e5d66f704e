/// What is optimised: one lowered program per entry point, straight after lowering, which is the
/// same for every target and math mode. It comes from a model, or from an artifact that carries it.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/status.h"
#include "compiler/options/compile_options.h"
#include "compiler/source/language.h"
#include "schema/artifact.h"

namespace aicf {

struct SourceEntry {
  std::string name;  ///< of the entry point
  ir::Lowered lowered;
  /// The same for one row of its batch (row_program.h), where samples are given and it is another.
  std::optional<ir::Lowered> row;
  DecisionLog decisions;                  ///< made up to here
  std::vector<schema::Padding> paddings;  ///< proven on the model
  DecisionLog padding_decisions;
};

struct Source {
  std::vector<SourceEntry> entries;  ///< at least one
  bool named = false;                ///< compiled with buckets: decisions name their entry point
  std::vector<std::pair<std::string, std::string>> metadata;
  std::string model_hash;
  std::map<std::string, std::string> values;  ///< DescribeValue of what was bound
  std::vector<std::byte> language;            ///< the section of a language model; else empty
};

/// From the model to a lowered program, for every entry point of `imported.options`. Errors: those
/// of the stages, naming the bucket.
/// The graph is taken from `imported` where there is no bucket.
Result<Source> SourceFromModel(const std::string& model_path, ImportedModel& imported,
                               PassRunner& runner);

/// The lowered programs that an artifact carries. The source keeps the artifact alive.
/// Errors: kUnsupported for one made with --strip; kBadArtifact.
Result<Source> SourceFromArtifact(const std::shared_ptr<const schema::Artifact>& artifact);

/// What an artifact keeps of the sources, so that they need not be kept while it is made.
struct LoweredSections {
  std::string text;                   ///< the lowered section
  std::vector<ir::Tensor> constants;  ///< all that the programs name
};
LoweredSections SectionsOf(const Source& source);

/// Writes the lowered and the lowered-weights section.
/// REQUIRES: contents.program and contents.weights are final.
void AttachLowered(LoweredSections sections, schema::Contents& contents);

}  // namespace aicf
