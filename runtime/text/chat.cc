#include "runtime/text/chat.h"

#include <algorithm>
#include <utility>

#include "runtime/text/chat_form.h"
#include "runtime/text/white.h"

namespace aicf::text {
namespace {

// The text without what Python's str.strip() removes at its ends: white space, and the four
// separators of ASCII.
std::string_view Stripped(std::string_view text) {
  const auto separator = [](char c) { return c >= 0x1c && c <= 0x1f; };
  for (size_t before = text.size() + 1; before != text.size();) {
    before = text.size();
    text.remove_prefix(WhiteAtStart(text));
    text.remove_suffix(WhiteAtEnd(text));
    if (!text.empty() && separator(text.front())) text.remove_prefix(1);
    if (!text.empty() && separator(text.back())) text.remove_suffix(1);
  }
  return text;
}

class ChatWriter {
 public:
  ChatWriter(const ChatForm& form, const ChatOptions& options) : form_(form), options_(options) {}

  std::vector<ChatPiece> Write(std::span<const ChatMessage> messages) {
    Own(form_.begin);
    if (form_.default_system != nullptr && messages[0].role != "system") {
      WriteTurn(form_.system, form_.default_system);
    }
    const ChatMessage* system = nullptr;  // waits for its question
    size_t last_question = 0;
    for (size_t i = 0; i < messages.size(); ++i) {
      if (messages[i].role == "user") last_question = i;
    }
    for (size_t i = 0; i < messages.size(); ++i) {
      const ChatMessage& m = messages[i];
      if (m.role == "assistant") {
        WriteTurn(form_.assistant, Trimmed(WithoutThinking(m.content), Trim::kAnswers));
      } else if (m.role == "user") {
        const bool here = form_.place == SystemPlace::kInFirstQuestion || i == last_question;
        WriteQuestion(m, here ? std::exchange(system, nullptr) : nullptr);
      } else if (form_.place == SystemPlace::kTurn) {
        WriteTurn(form_.system, Trimmed(m.content, Trim::kAll));
      } else {
        system = &m;
      }
    }
    Own(options_.add_generation_prompt ? form_.prompt : form_.otherwise);
    return std::move(pieces_);
  }

 private:
  void Add(std::string_view text, bool from_template) {
    if (text.empty()) return;
    if (pieces_.empty() || pieces_.back().from_template != from_template) {
      pieces_.push_back({"", from_template});
    }
    pieces_.back().text += text;
  }

  // Adds the template's own text, with the tokenizer's tokens in place of {bos} and {eos}.
  void Own(std::string_view text) {
    for (size_t at; (at = text.find('{')) != text.npos; text.remove_prefix(at + 5)) {
      Add(text.substr(0, at), true);
      Add(text.substr(at).starts_with("{bos}") ? options_.bos : options_.eos, true);
    }
    Add(text, true);
  }

  void WriteTurn(const ChatForm::Turn& turn, std::string_view text) {
    Own(turn.open);
    Add(text, false);
    Own(turn.close);
  }

  void WriteQuestion(const ChatMessage& m, const ChatMessage* system) {
    if (system == nullptr) return WriteTurn(form_.user, Trimmed(m.content, Trim::kTurns));
    Own(form_.user.open);
    WriteTurn(form_.system, system->content);
    // With Trim::kAll, system message and question are trimmed as one text. It begins with the text
    // of the system's form, so only the end of the question can lose white space.
    std::string_view text = m.content;
    if (form_.trim == Trim::kTurns) text = Stripped(text);
    if (form_.trim == Trim::kAll) text = text.substr(0, text.size() - TrailingWhite(text));
    Add(text, false);
    Own(form_.user.close);
  }

  static size_t TrailingWhite(std::string_view text) {
    const std::string_view stripped = Stripped(text);
    return static_cast<size_t>(text.data() + text.size() - (stripped.data() + stripped.size()));
  }

  std::string_view Trimmed(std::string_view text, Trim least) const {
    return form_.trim >= least ? Stripped(text) : text;
  }

  std::string_view WithoutThinking(std::string_view text) const {
    if (form_.thinking.empty()) return text;
    const size_t end = text.rfind(form_.thinking);
    if (end == text.npos) return text;
    text.remove_prefix(end + form_.thinking.size());
    return text.substr(std::min(text.find_first_not_of('\n'), text.size()));
  }

  const ChatForm& form_;
  const ChatOptions& options_;
  std::vector<ChatPiece> pieces_;
};

Status CheckMessages(const ChatForm& form, std::span<const ChatMessage> messages) {
  if (messages.empty()) return Error(Code::kInvalidArgument, "a chat without messages");
  bool question = false;
  for (size_t i = 0; i < messages.size(); ++i) {
    const std::string& role = messages[i].role;
    question |= role == "user";
    if (role != "system" && role != "user" && role != "assistant") {
      return Error(Code::kInvalidArgument, "message ", i, " of a chat has the role '", role,
                   "', expected system, user or assistant");
    }
    if (role == "system" && i > 0 && form.place != SystemPlace::kTurn) {
      return Error(Code::kInvalidArgument, "message ", i,
                   " of a chat is the system's, which comes first in this family of templates");
    }
  }
  if (messages[0].role == "system" && form.place != SystemPlace::kTurn && !question) {
    return Error(Code::kInvalidArgument,
                 "a chat has no message of the user, which this family of templates puts the "
                 "system's into");
  }
  return OkStatus();
}

std::string SpellingOf(const schema::TokenizerData& data, std::optional<uint32_t> id) {
  return id ? data.tokens[*id] : std::string();
}

}  // namespace

Result<schema::ChatTemplate> ChatTemplateOf(std::string_view name) {
  if (name.empty()) return Error(Code::kUnsupported, "the model has no chat template");
  if (const auto family = schema::FindChatTemplate(name)) return *family;
  std::string known;
  for (int i = 0; i < static_cast<int>(schema::ChatTemplate::kCount); ++i) {
    known += StrCat(i == 0 ? "" : ", ", ChatTemplateName(static_cast<schema::ChatTemplate>(i)));
  }
  const bool unknown = name == schema::kUnknownChatTemplate;
  return Error(Code::kUnsupported, "the model's chat template is ",
               unknown ? "of no known family" : StrCat("of the family '", name, "'"),
               "; known are ", known);
}

Result<std::vector<ChatPiece>> ApplyChatTemplate(schema::ChatTemplate family,
                                                 std::span<const ChatMessage> messages,
                                                 const ChatOptions& options) {
  const ChatForm& form = FormOf(family);
  AICF_RETURN_IF_ERROR(CheckMessages(form, messages));
  return ChatWriter(form, options).Write(messages);
}

Result<std::vector<uint32_t>> EncodeChat(const Tokenizer& tokenizer, schema::ChatTemplate family,
                                         std::span<const ChatMessage> messages,
                                         bool add_generation_prompt) {
  const schema::TokenizerData& data = tokenizer.data();
  const ChatOptions options{add_generation_prompt, SpellingOf(data, data.bos),
                            SpellingOf(data, data.eos)};
  AICF_ASSIGN_OR_RETURN(const std::vector<ChatPiece> chat,
                        ApplyChatTemplate(family, messages, options));
  std::vector<TextPiece> pieces;
  for (const ChatPiece& piece : chat) pieces.push_back({piece.text, piece.from_template});
  AICF_ASSIGN_OR_RETURN(std::vector<uint32_t> ids, tokenizer.EncodePieces(pieces));
  if (data.add_bos && (ids.empty() || ids[0] != *data.bos)) ids.insert(ids.begin(), *data.bos);
  return ids;
}

}  // namespace aicf::text
