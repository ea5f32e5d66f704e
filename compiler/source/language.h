/// A language model as the source of a compilation: its graph, and what its files decide about
/// entry points, states and metas (docs/language_models.md).
#pragma once

#include <optional>
#include <string>

#include "base/status.h"
#include "compiler/ir/graph.h"
#include "compiler/options/compile_options.h"
#include "schema/language_model.h"

namespace aicf {

/// What a model file gives: a graph, the options with what the file adds to them, and for a
/// language model what its artifact says about it.
struct ImportedModel {
  ir::Graph graph;
  CompileOptions options;
  std::optional<schema::LanguageModel> language;
};

/// Reads an ONNX file, a GGUF file or the folder of a Hugging Face model. A language model's entry
/// points follow from CompileOptions::language, so shapes, buckets, states and metas must not be
/// given for it. Errors: those of the readers and builders; kInvalidArgument for options that do
/// not fit the kind of model.
Result<ImportedModel> ImportModel(const std::string& path, const CompileOptions& options);

/// The file whose hash identifies the model: the path itself, or a folder's config.json.
std::string IdentityFile(const std::string& path);

/// Whether the path names a language model: a GGUF file, or a folder. Errors: kIo.
Result<bool> IsLanguageModel(const std::string& path);

}  // namespace aicf
