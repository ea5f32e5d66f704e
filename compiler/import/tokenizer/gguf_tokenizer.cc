#include "compiler/import/tokenizer/gguf_tokenizer.h"

#include <algorithm>
#include <string_view>

#include "compiler/import/tokenizer/end_tokens.h"
#include "compiler/import/tokenizer/gguf_vocabulary.h"
#include "compiler/import/tokenizer/split_rules.h"
#include "schema/byte_alphabet.h"

namespace aicf {
namespace {

using gguf::GgufFile;
using namespace gguf_text;  // NOLINT
using schema::NormalizerStep;
using schema::TokenizerData;
using schema::TokenizerKind;
using schema::TokenType;

constexpr std::string_view kSpaceSign = "\xe2\x96\x81";

Result<bool> FlagOr(const GgufFile& file, std::string_view name, bool otherwise) {
  AICF_ASSIGN_OR_RETURN(const auto flag, file.Find<bool>(GgmlKey(name)));
  return flag.value_or(otherwise);
}

// The id that the file names, or else the one that tokenizers of this kind have.
Result<std::optional<uint32_t>> FindId(const GgufFile& file, std::string_view name,
                                       const TokenizerData& data,
                                       std::optional<uint32_t> otherwise = std::nullopt) {
  AICF_ASSIGN_OR_RETURN(const auto id, file.Find<uint32_t>(GgmlKey(name)));
  if (!id) {
    return otherwise && *otherwise < data.tokens.size() ? otherwise : std::nullopt;
  }
  if (*id == UINT32_MAX) return std::optional<uint32_t>();  // how some files say that there is none
  if (*id < data.tokens.size()) return id;
  return WrongTokenizer(name, " is ", *id, " of ", data.tokens.size(), " tokens");
}

bool IsSpelledOut(TokenType type) {
  return type == TokenType::kControl || type == TokenType::kUserDefined ||
         type == TokenType::kUnknown;
}

Status ReadByteBpe(const GgufFile& file, TokenizerData* data, bool* add_bos) {
  AICF_RETURN_IF_ERROR(ReadMerges(file, data));
  data->types.resize(data->tokens.size(), TokenType::kNormal);
  for (uint32_t id = 0; id < data->tokens.size(); ++id) {
    if (IsSpelledOut(data->types[id])) continue;
    if (auto bytes = schema::FromByteAlphabet(data->tokens[id])) {
      data->tokens[id] = *std::move(bytes);
    } else {
      data->types[id] = TokenType::kUnused;  // not in the byte alphabet: no text has it
    }
  }
  AICF_ASSIGN_OR_RETURN(const auto pre, file.Find<std::string_view>(GgmlKey("pre")));
  const SplitRule* rule = FindSplitRule(pre.value_or("default"));
  if (rule == nullptr) {
    return Error(Code::kUnsupported, "GGUF tokenizer: splitting text as ", Quote(*pre),
                 " (tokenizer.ggml.pre) is not known");
  }
  if (rule->nfc) data->normalizers.push_back(NormalizerStep::kNfc);
  for (const char* expression : rule->expressions) data->patterns.push_back({expression});
  data->ignore_merges = rule->ignore_merges;
  *add_bos = rule->add_bos;
  return OkStatus();
}

// Pieces are joined by merges of characters and not by scores; text is split into lines.
Status ReadMergedPieces(const GgufFile& file, TokenizerData* data) {
  data->scores.clear();
  data->patterns.push_back({"[^\\n]+|\\n+"});
  return ReadMerges(file, data);
}

Status ReadSpacePrefix(const GgufFile& file, bool otherwise, TokenizerData* data) {
  AICF_ASSIGN_OR_RETURN(const bool prefix, FlagOr(file, "add_space_prefix", otherwise));
  if (prefix) data->space_prefix = schema::SpacePrefix::kAlways;
  return OkStatus();
}

Status ReadUnigram(const GgufFile& file, TokenizerData* data) {
  if (file.FindValue(GgmlKey("precompiled_charsmap")) != nullptr) {
    return Error(Code::kUnsupported,
                 "GGUF tokenizer: normalising by a table (tokenizer.ggml.precompiled_charsmap)");
  }
  AICF_ASSIGN_OR_RETURN(const bool collapse, FlagOr(file, "remove_extra_whitespaces", false));
  if (collapse) data->normalizers.push_back(NormalizerStep::kCollapseSpaces);
  data->fuse_unknown = true;
  data->prefix_unless_space = true;
  return ReadSpacePrefix(file, false, data);
}

// The file has U+2581 in front of the first token of a word, where WordPiece has a mark in front of
// the others. This restores WordPiece's form.
void RestoreContinuations(TokenizerData* data) {
  for (uint32_t id = 0; id < data->tokens.size(); ++id) {
    std::string& token = data->tokens[id];
    const bool bracketed = token.starts_with('[') && token.ends_with(']');
    if (bracketed || TypeOf(*data, id) == TokenType::kControl) continue;
    token = token.starts_with(kSpaceSign) ? token.substr(kSpaceSign.size())
                                          : StrCat(data->continuation, token);
  }
}

Status ReadWordPiece(const GgufFile& file, TokenizerData* data) {
  RestoreContinuations(data);
  AICF_ASSIGN_OR_RETURN(const bool lowercase, FlagOr(file, "normalizer.lowercase", true));
  AICF_ASSIGN_OR_RETURN(const bool strip, FlagOr(file, "normalizer.strip_accents", lowercase));
  data->normalizers = {NormalizerStep::kCleanText, NormalizerStep::kSpaceCjk};
  if (strip) data->normalizers.push_back(NormalizerStep::kStripAccents);
  if (lowercase) data->normalizers.push_back(NormalizerStep::kLowercase);
  data->patterns.push_back({kBertWords, schema::SplitKeep::kMatches});
  data->clean_up_spaces = true;
  return OkStatus();
}

// Reads the added tokens, which are looked for in the text itself.
Status ReadAdded(const GgufFile& file, TokenizerData* data) {
  AICF_ASSIGN_OR_RETURN(const auto name, file.Find<std::string_view>("general.name"));
  std::string lower(name.value_or(""));
  std::ranges::transform(lower, lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  const bool phi3 = lower.find("phi-3") != lower.npos || lower.find("phi3") != lower.npos;
  for (uint32_t id = 0; id < data->tokens.size(); ++id) {
    const std::string& token = data->tokens[id];
    const TokenType type = TypeOf(*data, id);
    if (!IsSpelledOut(type) || token.empty()) continue;
    const bool strips = phi3 && token != "<unk>" && token != "<s>" && token != "<|endoftext|>";
    data->added.push_back({id, type != TokenType::kUserDefined, false, strips, false});
  }
  return OkStatus();
}

struct KindOfGguf {
  std::string_view name;
  TokenizerKind kind;
  std::optional<uint32_t> unknown, bos, eos;  // unless the file says
  bool add_bos = false, add_eos = false;
};

// "bert" has [CLS] and [SEP] in place of bos and eos.
const KindOfGguf kKinds[] = {
    {"gpt2", TokenizerKind::kByteBpe, {}, {}, {}},
    {"llama", TokenizerKind::kSentencePieceBpe, 0, 1, 2, true, false},
    {"gemma4", TokenizerKind::kSentencePieceBpe, {}, {}, {}, true, false},
    {"t5", TokenizerKind::kUnigram, 2, {}, 1, false, true},
    {"bert", TokenizerKind::kWordPiece, 100, 101, 102, true, true},
};

Status ReadIds(const GgufFile& file, const KindOfGguf& kind, bool add_bos, TokenizerData* data) {
  const bool bert = data->kind == TokenizerKind::kWordPiece;
  AICF_ASSIGN_OR_RETURN(data->bos, FindId(file, "bos_token_id", *data, kind.bos));
  AICF_ASSIGN_OR_RETURN(
      data->eos, FindId(file, bert ? "seperator_token_id" : "eos_token_id", *data, kind.eos));
  AICF_ASSIGN_OR_RETURN(data->pad, FindId(file, "padding_token_id", *data));
  // A byte-level vocabulary has no unknown token, since all bytes are tokens; files name the token
  // that ends a text under this key.
  if (data->kind != TokenizerKind::kByteBpe) {
    AICF_ASSIGN_OR_RETURN(data->unknown, FindId(file, "unknown_token_id", *data, kind.unknown));
  }
  AICF_ASSIGN_OR_RETURN(data->add_bos, FlagOr(file, "add_bos_token", add_bos));
  AICF_ASSIGN_OR_RETURN(data->add_eos,
                        FlagOr(file, bert ? "add_sep_token" : "add_eos_token", kind.add_eos));
  data->add_bos &= data->bos.has_value();
  data->add_eos &= data->eos.has_value();
  return OkStatus();
}

Status ReadKind(const GgufFile& file, bool merged, TokenizerData* data, bool* add_bos) {
  switch (data->kind) {
    case TokenizerKind::kByteBpe:
      return ReadByteBpe(file, data, add_bos);
    case TokenizerKind::kUnigram:
      return ReadUnigram(file, data);
    case TokenizerKind::kWordPiece:
      return ReadWordPiece(file, data);
    default:
      if (merged) AICF_RETURN_IF_ERROR(ReadMergedPieces(file, data));
      return ReadSpacePrefix(file, !merged, data);
  }
}

}  // namespace

Result<std::optional<GgufTokenizer>> ReadGgufTokenizer(const GgufFile& file) {
  AICF_ASSIGN_OR_RETURN(const auto model, file.Find<std::string_view>(GgmlKey("model")));
  if (!model || *model == "none" || *model == "no_vocab") return std::optional<GgufTokenizer>();
  const auto kind = std::ranges::find(kKinds, *model, &KindOfGguf::name);
  if (kind == std::end(kKinds)) {
    return Error(Code::kUnsupported, "GGUF tokenizer: a model of type ", Quote(*model),
                 " (tokenizer.ggml.model) is not known");
  }
  GgufTokenizer out;
  TokenizerData& data = out.data;
  data.kind = kind->kind;
  bool add_bos = kind->add_bos;
  AICF_RETURN_IF_ERROR(ReadTokens(file, &data));
  AICF_RETURN_IF_ERROR(ReadKind(file, *model == "gemma4", &data, &add_bos));
  AICF_RETURN_IF_ERROR(ReadIds(file, *kind, add_bos, &data));
  AICF_RETURN_IF_ERROR(ReadAdded(file, &data));
  std::vector<uint32_t> ends;
  for (const char* name : {"eos_token_id", "eot_token_id", "eom_token_id"}) {
    AICF_ASSIGN_OR_RETURN(const auto id, FindId(file, name, data));
    if (id) ends.push_back(*id);
  }
  out.end_tokens = EndTokens(data, std::move(ends));
  return std::optional<GgufTokenizer>(std::move(out));
}

}  // namespace aicf
