/// What a family of chat templates puts around the messages of a chat.
#pragma once

#include <cstdint>
#include <string_view>

#include "schema/chat_template.h"

namespace aicf::text {

/// Where a chat's system message goes.
enum class SystemPlace : uint8_t {
  kTurn,             ///< a turn of its own
  kInFirstQuestion,  ///< before the text of the first message of the user
  kInLastQuestion,   ///< before the text of the last one
};

/// Which messages lose the white space at their ends.
enum class Trim : uint8_t {
  kNone,
  kAnswers,  ///< the assistant's
  kTurns,    ///< the user's, too
  kAll,
};

struct ChatForm {
  struct Turn {
    std::string_view open = {}, close = {};
  };
  std::string_view begin = {};  ///< before everything
  Turn system = {}, user = {}, assistant = {};
  std::string_view prompt = {};     ///< at the end, where the assistant is to answer
  std::string_view otherwise = {};  ///< at the end, where it is not
  /// Said where a chat begins without a system message; null: nothing is.
  const char* default_system = nullptr;
  /// An answer's text up to this, and the line feeds behind it, are left out.
  std::string_view thinking = {};
  SystemPlace place = SystemPlace::kTurn;
  Trim trim = Trim::kNone;
};

const ChatForm& FormOf(schema::ChatTemplate family);

}  // namespace aicf::text
