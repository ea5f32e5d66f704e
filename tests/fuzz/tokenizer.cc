/// tokenizer.json (a) with the files beside it (u tokenizer_config.json, c config.json, g
/// generation_config.json, j chat_template.jinja), and a text (x) through the tokenizer.
#include "runtime/text/tokenizer.h"

#include "compiler/import/tokenizer/chat_markers.h"
#include "compiler/import/tokenizer/hugging_face.h"
#include "runtime/text/chat.h"
#include "tests/fuzz/parts.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {
namespace {

constexpr size_t kMostText = 256;

struct Files {
  HuggingFaceFiles files;
  std::string_view text = "ab <s> \xc3\xa9 12";
};

Files FilesOf(const std::vector<Part>& parts) {
  Files out;
  for (const Part& p : parts) {
    if (p.letter == 'a') out.files.tokenizer = p.bytes;
    if (p.letter == 'u') out.files.tokenizer_config = p.bytes;
    if (p.letter == 'c') out.files.config = p.bytes;
    if (p.letter == 'g') out.files.generation_config = p.bytes;
    if (p.letter == 'j') out.files.chat_template = p.bytes;
    if (p.letter == 'x') out.text = std::string_view(p.bytes).substr(0, kMostText);
  }
  return out;
}

/// As a caller with room for 20 tokens would.
void ReadIds(const std::vector<uint32_t>& ids) {
  for (size_t i = 0; i < ids.size(); ++i) ReadElement(i, 20);
}

void Converse(const text::Tokenizer& tokenizer, std::string_view chat, std::string_view text) {
  const auto family = schema::FindChatTemplate(chat);
  if (!family) return;
  const text::ChatMessage messages[] = {{"system", "be brief"}, {"user", std::string(text)}};
  CheckTyped(text::EncodeChat(tokenizer, *family, messages));
}

void RunTokenizer(Input input) {
  const std::vector<Part> parts = SplitParts(input);
  const Files in = FilesOf(parts);
  const auto read = ReadHuggingFaceText(in.files);
  CheckTyped(read);
  if (!read.ok()) return;
  const auto tokenizer = text::Tokenizer::Create(read->data);
  CheckTyped(tokenizer);
  if (!tokenizer.ok()) return;
  for (const bool special : {false, true}) {
    const auto ids = tokenizer->Encode(in.text, {.allow_special = special, .add_special = special});
    CheckTyped(ids);
    if (!ids.ok()) continue;
    CheckTyped(tokenizer->Decode(*ids, {.skip_special = !special}));
    if (Planted()) ReadIds(*ids);
  }
  Converse(*tokenizer, RecognizeChatTemplate(read->chat_template), in.text);
}

size_t Mutate(uint8_t* data, size_t size, size_t room, uint64_t seed) {
  return MutateParts(data, size, room, seed, nullptr);
}

}  // namespace

Target TokenizerTarget() { return {"tokenizer", &RunTokenizer, &Mutate}; }

}  // namespace aicf::fuzz
