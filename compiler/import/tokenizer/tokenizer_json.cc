#include "compiler/import/tokenizer/tokenizer_json.h"

#include "compiler/import/tokenizer/parts.h"

namespace aicf {
namespace tokenizer_json {
namespace {

using schema::TokenizerData;

Status ReadAdded(const Json& rows, TokenizerData* data) {
  for (const Json& row : rows) {
    const Json& id = Member(row, "id");
    const std::string content = Text(row, "content");
    // Added tokens continue the vocabulary in order: an id is at most the next one.
    if (!id.is_number_unsigned() || id.get<uint64_t>() > data->tokens.size() || content.empty()) {
      return Error(Code::kBadModel, "tokenizer.json: an added token without an id or a content");
    }
    const auto at = id.get<uint32_t>();
    // A token behind the end of the vocabulary is not known to the model itself.
    const bool behind = at == data->tokens.size();
    if (behind) {
      data->tokens.emplace_back();
      data->types.push_back(schema::TokenType::kNormal);
      if (!data->scores.empty()) data->scores.push_back(0);
    }
    data->tokens[at] = content;
    const bool special = Flag(row, "special");
    if (data->unknown != at) {
      data->types[at] = special  ? schema::TokenType::kControl
                        : behind ? schema::TokenType::kUnused
                                 : schema::TokenType::kUserDefined;
    }
    data->added.push_back(
        {at, special, Flag(row, "lstrip"), Flag(row, "rstrip"), Flag(row, "single_word")});
  }
  return OkStatus();
}

// Reads ["[SEP]", 102], as post-processors older than templates have it. Only the id counts.
std::optional<uint32_t> IdOfPair(const TokenizerData& data, const Json& pair) {
  if (!pair.is_array() || pair.size() != 2 || !pair[1].is_number_unsigned()) return std::nullopt;
  const uint64_t id = pair[1].get<uint64_t>();
  return id < data.tokens.size() ? std::optional(static_cast<uint32_t>(id)) : std::nullopt;
}

Status ReadClassAndSeparator(const Json& post, TokenizerData* data) {
  data->bos = IdOfPair(*data, Member(post, "cls"));
  data->eos = IdOfPair(*data, Member(post, "sep"));
  if (!data->bos || !data->eos) {
    return Error(Code::kBadModel, "tokenizer.json: a post-processor without its two tokens");
  }
  data->add_bos = data->add_eos = true;
  return OkStatus();
}

Status ReadTemplate(const Json& post, TokenizerData* data) {
  const std::string type = Text(post, "type");
  if (post.is_null() || type == "ByteLevel") return OkStatus();
  if (type == "Sequence") {
    for (const Json& part : Member(post, "processors")) {
      AICF_RETURN_IF_ERROR(ReadTemplate(part, data));
    }
    return OkStatus();
  }
  if (type == "BertProcessing" || type == "RobertaProcessing") {
    return ReadClassAndSeparator(post, data);
  }
  if (type != "TemplateProcessing") {
    return Error(Code::kUnsupported, "tokenizer.json: post-processor '", type, "' is not known");
  }
  bool behind = false;
  for (const Json& item : Member(post, "single")) {
    if (!Member(item, "Sequence").is_null()) {
      behind = true;
      continue;
    }
    const auto id = IdOf(*data, Text(Member(item, "SpecialToken"), "id"));
    bool& add = behind ? data->add_eos : data->add_bos;
    if (!id || add)
      return Error(Code::kUnsupported, "tokenizer.json: this post-processor's template");
    add = true;
    (behind ? data->eos : data->bos) = id;
  }
  return OkStatus();
}

}  // namespace
}  // namespace tokenizer_json

Result<schema::TokenizerData> ReadTokenizerJson(std::string_view json) {
  using namespace tokenizer_json;  // NOLINT
  AICF_ASSIGN_OR_RETURN(const Json file, ParseObject("tokenizer.json", json));
  schema::TokenizerData data;
  data.kind = schema::TokenizerKind::kCount;  // a model or a pre-tokenizer says which
  AICF_RETURN_IF_ERROR(ReadNormalizer(Member(file, "normalizer"), &data));
  AICF_RETURN_IF_ERROR(ReadPreTokenizer(Member(file, "pre_tokenizer"), &data));
  AICF_RETURN_IF_ERROR(ReadModel(Member(file, "model"), &data));
  AICF_RETURN_IF_ERROR(ReadAdded(Member(file, "added_tokens"), &data));
  AICF_RETURN_IF_ERROR(ReadTemplate(Member(file, "post_processor"), &data));
  data.clean_up_spaces = Flag(Member(file, "decoder"), "cleanup");
  return data;
}

}  // namespace aicf
