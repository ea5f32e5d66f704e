#include "compiler/import/tokenizer/tokenizer_json.h"

#include "compiler/import/tokenizer/parts.h"

namespace aicf {
namespace tokenizer_json {

const Json& Member(const Json& object, const char* key) {
  static const Json kNull;
  if (!object.is_object()) return kNull;
  const auto found = object.find(key);
  return found == object.end() ? kNull : *found;
}

std::string Text(const Json& object, const char* key, const std::string& otherwise) {
  const Json& member = Member(object, key);
  return member.is_string() ? member.get<std::string>() : otherwise;
}

bool Flag(const Json& object, const char* key, bool otherwise) {
  const Json& member = Member(object, key);
  return member.is_boolean() ? member.get<bool>() : otherwise;
}

namespace {

using schema::TokenizerData;

// Nesting is bounded, because what reads the parts, and frees them, calls itself.
constexpr int kMaxDepth = 64;

Status ReadAdded(const Json& rows, TokenizerData* data) {
  for (const Json& row : rows) {
    const Json& id = Member(row, "id");
    const std::string content = Text(row, "content");
    // Added tokens go on where the vocabulary ends, in order.
    if (!id.is_number_unsigned() || id.get<uint64_t>() > data->tokens.size() || content.empty()) {
      return Error(Code::kBadModel, "tokenizer.json: an added token without an id or a content");
    }
    const auto at = id.get<uint32_t>();
    // The vocabulary itself knows nothing of a token that is behind its end.
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

std::optional<uint32_t> IdOf(const TokenizerData& data, const std::string& spelling) {
  for (const schema::AddedToken& added : data.added) {
    if (data.tokens[added.id] == spelling) return added.id;
  }
  return std::nullopt;
}

// "cls" before the text and "sep" behind it, each a list of spelling and id.
Status ReadClsAndSep(const Json& post, TokenizerData* data) {
  const auto id_of = [&](const char* key) {
    const Json& token = Member(post, key);
    const bool spelled = token.is_array() && !token.empty() && token[0].is_string();
    return spelled ? IdOf(*data, token[0].get<std::string>()) : std::nullopt;
  };
  data->bos = id_of("cls");
  data->eos = id_of("sep");
  if (!data->bos || !data->eos) {
    return Error(Code::kUnsupported, "tokenizer.json: a post-processor's token is not in the list");
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
  if (type == "BertProcessing" || type == "RobertaProcessing") return ReadClsAndSep(post, data);
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
  bool deep = false;
  const auto shallow = [&](int depth, Json::parse_event_t, Json&) {
    deep |= depth > kMaxDepth;
    return depth <= kMaxDepth;
  };
  const Json file = Json::parse(json.begin(), json.end(), shallow, /*allow_exceptions=*/false);
  if (file.is_discarded() || !file.is_object() || deep) {
    return Error(Code::kBadModel, "tokenizer.json: no JSON object, or nested deeper than ",
                 kMaxDepth);
  }
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
