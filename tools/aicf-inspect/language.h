/// What an artifact says about its language model, apart from the tokenizer's contents.
#pragma once

#include <string>

#include "schema/artifact.h"
#include "tools/common/decisions.h"

namespace aicf::tools {

/// {"task", "architecture", "vocabulary", "context", "trained_context", "page", "pages", "slots",
/// "end_tokens", "chat_template", "tokenizer": {"kind", "tokens"}}; of an embedding model without
/// page, pages and slots, "tokenizer" only where there is one. {"error"} for a section that cannot
/// be read, null for an artifact of another model.
Json LanguageJson(const schema::Artifact& artifact);

/// The same for people, with a title; empty for an artifact of another model.
std::string LanguageText(const schema::Artifact& artifact);

/// "32 pages of 64 positions for at most 8 requests": the cache of a model that generates; else
/// empty.
std::string CacheText(const schema::Artifact& artifact);

}  // namespace aicf::tools
