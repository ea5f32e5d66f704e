#include "compiler/import/language/hf_texts.h"

#include <algorithm>

#include "compiler/import/external_data.h"
#include "compiler/import/file_bytes.h"
#include "compiler/import/tokenizer/chat_markers.h"
#include "compiler/import/tokenizer/hugging_face.h"

namespace aicf::language {
namespace {

/// A tokenizer of half a million tokens has some 40 MB; the others some kB.
constexpr uint64_t kMostTokenizerBytes = uint64_t{256} << 20;
constexpr uint64_t kMostTextBytes = uint64_t{8} << 20;

Result<std::string> ReadText(const ModelLocation& location, const std::string& name,
                             uint64_t most) {
  AICF_ASSIGN_OR_RETURN(const ModelFile file, OpenNamedFile(location, name));
  if (file.size > most) {
    return Error(Code::kBadModel, name, " has ", file.size, " bytes, expected at most ", most);
  }
  AICF_ASSIGN_OR_RETURN(const auto bytes, FileBytes::Read(file));
  return std::string(reinterpret_cast<const char*>(bytes->bytes().data()), bytes->bytes().size());
}

Result<std::optional<std::string>> ReadIfThere(const ModelLocation& location,
                                               const std::string& name, uint64_t most) {
  if (!IsThere(location, name)) return std::optional<std::string>();
  AICF_ASSIGN_OR_RETURN(std::string text, ReadText(location, name, most));
  return std::optional(std::move(text));
}

}  // namespace

Result<HfTexts> ReadHfTexts(const std::string& folder, const NamedFiles& files) {
  ModelLocation location;
  location.directory = folder;
  location.files = files;
  HfTexts out;
  AICF_ASSIGN_OR_RETURN(out.config, ReadText(location, "config.json", kMostTextBytes));
  const struct {
    const char* name;
    std::optional<std::string>* text;
    uint64_t most;
  } optional[] = {{"tokenizer.json", &out.tokenizer, kMostTokenizerBytes},
                  {"tokenizer_config.json", &out.tokenizer_config, kMostTextBytes},
                  {"chat_template.jinja", &out.chat_template, kMostTextBytes},
                  {"generation_config.json", &out.generation_config, kMostTextBytes},
                  {"modules.json", &out.modules, kMostTextBytes},
                  {"1_Pooling/config.json", &out.pooling, kMostTextBytes}};
  for (const auto& [name, text, most] : optional) {
    AICF_ASSIGN_OR_RETURN(*text, ReadIfThere(location, name, most));
  }
  return out;
}

Status AddTexts(const HfTexts& texts, const HfConfig& config, Model& model) {
  if (!texts.tokenizer) {
    AICF_ASSIGN_OR_RETURN(std::vector<uint32_t> ends, config.Ids("eos_token_id"));
    std::ranges::sort(ends);
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    std::erase_if(ends, [&](uint32_t id) { return id >= model.vocabulary; });
    model.end_tokens = std::move(ends);
    return OkStatus();
  }
  const auto text = [](const std::optional<std::string>& t) {
    return t ? std::string_view(*t) : std::string_view();
  };
  AICF_ASSIGN_OR_RETURN(HuggingFaceText read,
                        ReadHuggingFaceText({.tokenizer = *texts.tokenizer,
                                             .tokenizer_config = text(texts.tokenizer_config),
                                             .config = texts.config,
                                             .generation_config = text(texts.generation_config),
                                             .chat_template = text(texts.chat_template)}));
  model.tokenizer = std::move(read.data);
  model.end_tokens = std::move(read.end_tokens);
  model.chat_template = RecognizeChatTemplate(read.chat_template);
  return OkStatus();
}

}  // namespace aicf::language
