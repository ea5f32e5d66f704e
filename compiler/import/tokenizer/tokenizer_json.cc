#include "compiler/import/tokenizer/tokenizer_json.h"

#include <unordered_set>

#include "base/scanner.h"
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

// Looks at a file while it is read, for what its tree would no longer show.
class JsonWatch {
 public:
  bool See(int depth, Json::parse_event_t event, const Json& value) {
    deep_ |= depth > kMaxDepth;
    if (depth > kMaxDepth) return false;
    if (event == Json::parse_event_t::object_start) keys_.emplace_back();
    if (event == Json::parse_event_t::object_end && !keys_.empty()) keys_.pop_back();
    // Readers disagree about which of two counts.
    if (event == Json::parse_event_t::key && !keys_.empty() && repeated_.empty()) {
      const auto& key = value.get_ref<const std::string&>();
      if (!keys_.back().insert(key).second) repeated_ = key.empty() ? " " : key;
    }
    return true;
  }
  bool deep() const { return deep_; }
  const std::string& repeated() const { return repeated_; }

 private:
  bool deep_ = false;
  std::vector<std::unordered_set<std::string>> keys_;  // of the objects that are open
  std::string repeated_;
};

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

// ["[SEP]", 102] of the processors that came before templates. The pair's id is what counts.
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
  JsonWatch watch;
  const auto shallow = [&](int depth, Json::parse_event_t event, Json& value) {
    return watch.See(depth, event, value);
  };
  const Json file = Json::parse(json.begin(), json.end(), shallow, /*allow_exceptions=*/false);
  if (file.is_discarded() || !file.is_object() || watch.deep()) {
    return Error(Code::kBadModel, "tokenizer.json: no JSON object, or nested deeper than ",
                 kMaxDepth);
  }
  if (!watch.repeated().empty()) {
    return Error(Code::kBadModel, "tokenizer.json: the key ", Quote(watch.repeated()),
                 " is there twice in an object");
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
