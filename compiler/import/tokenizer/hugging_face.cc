#include "compiler/import/tokenizer/hugging_face.h"

#include "compiler/import/tokenizer/end_tokens.h"
#include "compiler/import/tokenizer/parts.h"
#include "compiler/import/tokenizer/tokenizer_json.h"

namespace aicf {
namespace {

using namespace tokenizer_json;  // NOLINT
using schema::TokenizerData;

Status WrongMember(std::string_view file, std::string_view key) {
  return Error(Code::kBadModel, file, ": '", key, "' is not what it should be");
}

Result<Json> ParseOptional(std::string_view name, std::string_view text) {
  if (text.empty()) return Json::object();
  return ParseObject(name, text);
}

// Sets a token that the configuration names ("<s>", {"content": "<s>"} or null), unless the
// tokenizer has one already.
Status NameToken(const Json& config, const char* key, const TokenizerData& data,
                 std::optional<uint32_t>* id) {
  const Json& named = Member(config, key);
  if (named.is_null() || *id) return OkStatus();
  const std::string spelling =
      named.is_string() ? named.get<std::string>() : Text(named, "content");
  if (spelling.empty()) return WrongMember("tokenizer_config.json", key);
  *id = IdOf(data, spelling);
  return OkStatus();
}

Status AddEnd(std::string_view file, const Json& id, const TokenizerData& data,
              std::vector<uint32_t>* ends) {
  if (!id.is_number_unsigned() || id.get<uint64_t>() >= data.tokens.size()) {
    return WrongMember(file, "eos_token_id");
  }
  ends->push_back(id.get<uint32_t>());
  return OkStatus();
}

// One id or several.
Status ReadEnds(std::string_view file, const Json& config, const TokenizerData& data,
                std::vector<uint32_t>* ends) {
  const Json& ids = Member(config, "eos_token_id");
  if (ids.is_null()) return OkStatus();
  if (!ids.is_array()) return AddEnd(file, ids, data, ends);
  for (const Json& id : ids) AICF_RETURN_IF_ERROR(AddEnd(file, id, data, ends));
  return OkStatus();
}

// A text, or a list of objects with a name and a text.
Result<std::string> ChatTemplateIn(const Json& config) {
  const Json& found = Member(config, "chat_template");
  if (found.is_null()) return std::string();
  if (found.is_string()) return found.get<std::string>();
  if (!found.is_array()) return WrongMember("tokenizer_config.json", "chat_template");
  for (const Json& named : found) {
    if (Text(named, "name") == "default") return Text(named, "template");
  }
  return std::string();
}

}  // namespace

Result<HuggingFaceText> ReadHuggingFaceText(const HuggingFaceFiles& files) {
  HuggingFaceText out;
  AICF_ASSIGN_OR_RETURN(out.data, ReadTokenizerJson(files.tokenizer));
  AICF_ASSIGN_OR_RETURN(const Json config,
                        ParseOptional("tokenizer_config.json", files.tokenizer_config));
  AICF_RETURN_IF_ERROR(NameToken(config, "bos_token", out.data, &out.data.bos));
  AICF_RETURN_IF_ERROR(NameToken(config, "eos_token", out.data, &out.data.eos));
  AICF_RETURN_IF_ERROR(NameToken(config, "pad_token", out.data, &out.data.pad));
  AICF_ASSIGN_OR_RETURN(out.chat_template, ChatTemplateIn(config));
  if (!files.chat_template.empty()) out.chat_template = files.chat_template;

  AICF_ASSIGN_OR_RETURN(const Json model, ParseOptional("config.json", files.config));
  AICF_ASSIGN_OR_RETURN(const Json generation,
                        ParseOptional("generation_config.json", files.generation_config));
  std::vector<uint32_t> ends;
  AICF_RETURN_IF_ERROR(ReadEnds("generation_config.json", generation, out.data, &ends));
  if (ends.empty()) AICF_RETURN_IF_ERROR(ReadEnds("config.json", model, out.data, &ends));
  out.end_tokens = EndTokens(out.data, std::move(ends));
  return out;
}

}  // namespace aicf
