/// The library's messages, kept until Python takes them. A message may come from any thread while
/// that thread holds no lock of the interpreter, so it cannot be handed to Python at once.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace aicf::python {

struct Message {
  int level;  ///< as the module logging counts: 10 debug, 20 info, 30 warning, 40 error
  std::string text;
};

/// From now on keeps all messages (base/log.h), the newest 1000 of those that are not taken. Thread
/// safety: any thread.
void KeepMessages();

/// The messages since the last call, oldest first. Where some were dropped, the first one says how
/// many. Thread safety: any thread; each message is given once.
std::vector<Message> TakeMessages();

}  // namespace aicf::python
