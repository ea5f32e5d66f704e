#include "compiler/import/language/hf_texts.h"

#include <sys/stat.h>

#include <algorithm>

#include "compiler/import/file_bytes.h"
#include "compiler/import/tokenizer/chat_markers.h"
#include "compiler/import/tokenizer/hugging_face.h"

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
