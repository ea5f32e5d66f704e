#include "tools/aicf-inspect/language.h"

#include <array>

#include "schema/language_model.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

using schema::LanguageModel;
using schema::LanguageTask;

Result<LanguageModel> ModelOf(const schema::Artifact& artifact) {
  return schema::ParseLanguageModel(artifact.bytes(schema::SectionKind::kLanguage));
}

bool HasModel(const schema::Artifact& artifact) {
  return !artifact.bytes(schema::SectionKind::kLanguage).empty();
}

std::string_view TokenizerName(schema::TokenizerKind kind) {
  constexpr std::array kNames = {"byte-level BPE", "SentencePiece BPE", "Unigram", "WordPiece"};
  static_assert(kNames.size() == static_cast<size_t>(schema::TokenizerKind::kCount));
  return kNames[static_cast<size_t>(kind)];
}

std::string CacheOf(const LanguageModel& m) {
  if (m.task != LanguageTask::kGenerate) return "";
  return StrCat(m.pages, " pages of ", m.page, " positions for at most ", m.slots, " requests");
}

std::string TokenizerText(const LanguageModel& m) {
  if (!m.tokenizer) return "none: prompts are ids";
  return StrCat(TokenizerName(m.tokenizer->kind), " of ", m.tokenizer->tokens.size(), " tokens");
}

std::string EndText(const LanguageModel& m) {
  std::vector<std::string> ids;
  for (const uint32_t id : m.end_tokens) ids.push_back(std::to_string(id));
  return ids.empty() ? "no token" : ShortList(ids, 8);
}

}  // namespace

Json LanguageJson(const schema::Artifact& artifact) {
  if (!HasModel(artifact)) return nullptr;
  const Result<LanguageModel> model = ModelOf(artifact);
  if (!model.ok()) return {{"error", model.status().message()}};
  const bool generates = model->task == LanguageTask::kGenerate;
  Json out = {{"task", generates ? "generate" : "embed"},
              {"architecture", model->architecture},
              {"vocabulary", model->vocabulary},
              {"context", model->context},
              {"trained_context", model->trained_context}};
  if (generates) {
    out["page"] = model->page;
    out["pages"] = model->pages;
    out["slots"] = model->slots;
  }
  out["end_tokens"] = model->end_tokens;
  out["chat_template"] = model->chat_template;
  if (model->tokenizer) {
    out["tokenizer"] = Json{{"kind", TokenizerName(model->tokenizer->kind)},
                            {"tokens", model->tokenizer->tokens.size()}};
  }
  return out;
}

std::string LanguageText(const schema::Artifact& artifact) {
  if (!HasModel(artifact)) return "";
  std::string out = "Language model\n";
  const Result<LanguageModel> model = ModelOf(artifact);
  if (!model.ok()) return out + KeyLine(14, "unread", Escape(model.status().message())) + "\n";
  out += KeyLine(14, "architecture", Escape(model->architecture));
  out += KeyLine(14, "vocabulary", std::to_string(model->vocabulary));
  out += KeyLine(
      14, "context",
      StrCat(model->context, " positions, the model was made for ", model->trained_context));
  const std::string cache = CacheOf(*model);
  if (!cache.empty()) out += KeyLine(14, "cache", cache);
  out += KeyLine(14, "tokenizer", TokenizerText(*model));
  out += KeyLine(14, "chat",
                 model->chat_template.empty() ? "no template" : Escape(model->chat_template));
  if (!cache.empty()) out += KeyLine(14, "ended by", EndText(*model));
  return out + "\n";
}

std::string CacheText(const schema::Artifact& artifact) {
  if (!HasModel(artifact)) return "";
  const Result<LanguageModel> model = ModelOf(artifact);
  return model.ok() ? CacheOf(*model) : "";
}

}  // namespace aicf::tools
