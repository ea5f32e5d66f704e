#include "compiler/import/language/hf_texts.h"

#include <sys/stat.h>

#include <algorithm>

#include "compiler/import/file_bytes.h"
#include "compiler/import/tokenizer/chat_markers.h"
#include "compiler/import/tokenizer/end_tokens.h"
#include "compiler/import/tokenizer/tokenizer_json.h"

namespace aicf::language {
namespace {

/// A tokenizer of half a million tokens has some 40 MB; the others some kB.
constexpr uint64_t kMostTokenizerBytes = uint64_t{256} << 20;
constexpr uint64_t kMostTextBytes = uint64_t{8} << 20;

Result<std::string> ReadText(const std::string& path, uint64_t most) {
  AICF_ASSIGN_OR_RETURN(const ModelFile file, OpenRegularFile(path));
  if (file.size > most) {
    return Error(Code::kBadModel, path, " has ", file.size, " bytes, expected at most ", most);
  }
  AICF_ASSIGN_OR_RETURN(const auto bytes, FileBytes::Read(file));
  return std::string(reinterpret_cast<const char*>(bytes->bytes().data()), bytes->bytes().size());
}

Result<std::optional<std::string>> ReadIfThere(const std::string& path, uint64_t most) {
  struct stat info {};
  if (stat(path.c_str(), &info) != 0) return std::optional<std::string>();
  AICF_ASSIGN_OR_RETURN(std::string text, ReadText(path, most));
  return std::optional(std::move(text));
}

// The template itself, or of several the one that is called default.
Result<std::string> TemplateOf(const HfTexts& texts) {
  if (texts.chat_template) return *texts.chat_template;
  if (!texts.tokenizer_config) return std::string();
  AICF_ASSIGN_OR_RETURN(const HfConfig config,
                        HfConfig::Parse(*texts.tokenizer_config, "tokenizer_config.json"));
  if (!config.Has("chat_template")) return std::string();
  const auto text = config.Text("chat_template");
  return text.ok() ? *text : std::string("several templates");
}

}  // namespace

Result<HfTexts> ReadHfTexts(const std::string& folder) {
  HfTexts out;
  AICF_ASSIGN_OR_RETURN(out.config, ReadText(folder + "/config.json", kMostTextBytes));
  AICF_ASSIGN_OR_RETURN(out.tokenizer,
                        ReadIfThere(folder + "/tokenizer.json", kMostTokenizerBytes));
  AICF_ASSIGN_OR_RETURN(out.tokenizer_config,
                        ReadIfThere(folder + "/tokenizer_config.json", kMostTextBytes));
  AICF_ASSIGN_OR_RETURN(out.chat_template,
                        ReadIfThere(folder + "/chat_template.jinja", kMostTextBytes));
  AICF_ASSIGN_OR_RETURN(out.generation_config,
                        ReadIfThere(folder + "/generation_config.json", kMostTextBytes));
  AICF_ASSIGN_OR_RETURN(out.modules, ReadIfThere(folder + "/modules.json", kMostTextBytes));
  AICF_ASSIGN_OR_RETURN(out.pooling,
                        ReadIfThere(folder + "/1_Pooling/config.json", kMostTextBytes));
  return out;
}

Status AddTexts(const HfTexts& texts, const HfConfig& config, Model& model) {
  AICF_ASSIGN_OR_RETURN(std::vector<uint32_t> ends, config.Ids("eos_token_id"));
  if (texts.generation_config) {
    AICF_ASSIGN_OR_RETURN(const HfConfig generation,
                          HfConfig::Parse(*texts.generation_config, "generation_config.json"));
    AICF_ASSIGN_OR_RETURN(const std::vector<uint32_t> more, generation.Ids("eos_token_id"));
    ends.insert(ends.end(), more.begin(), more.end());
  }
  if (texts.tokenizer) {
    AICF_ASSIGN_OR_RETURN(model.tokenizer, ReadTokenizerJson(*texts.tokenizer));
    model.end_tokens = EndTokens(*model.tokenizer, std::move(ends));
  } else {
    std::sort(ends.begin(), ends.end());
    ends.erase(std::unique(ends.begin(), ends.end()), ends.end());
    std::erase_if(ends, [&](uint32_t id) { return id >= model.vocabulary; });
    model.end_tokens = std::move(ends);
  }
  AICF_ASSIGN_OR_RETURN(const std::string chat, TemplateOf(texts));
  if (!chat.empty()) model.chat_template = RecognizeChatTemplate(chat);
  return OkStatus();
}

}  // namespace aicf::language
