/// What an artifact says about its language model, apart from the tokenizer's contents.
#pragma once

#include <string>

#include "schema/artifact.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

/// {"task", "architecture", "vocabulary", "context", "trained_context", "page", "pages", "slots",
/// "end_tokens", "chat_template", "tokenizer": {"kind", "tokens"}}. An embedding model has no page,
/// pages and slots, and "tokenizer" is only there if the artifact has one. The result is {"error"}
/// if the section cannot be read, and null if the artifact is not of a language model.
Json LanguageJson(const schema::Artifact& artifact);

/// The same as text with a title; empty if the artifact is not of a language model.
std::string LanguageText(const schema::Artifact& artifact);

/// The cache of a model that generates text: "32 pages of 64 positions for at most 8 requests".
/// Empty for other models.
std::string CacheText(const schema::Artifact& artifact);

}  // namespace aicf::tools
