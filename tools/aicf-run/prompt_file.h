/// The prompt of --prompt-file: the text of a file, or what another program pipes in.
#pragma once

#include <string>

#include "base/status.h"

namespace aicf::tools {

/// The text of the file, or of standard input where `path` is "-", without the newline at its end:
/// editors and `echo` add one that nobody means, and after it a model begins another line.
/// At most 64 MiB are read, so that an endless pipe is an error instead of exhausted memory.
/// Errors: kInvalidArgument where there is no text, more than that, or bytes that are no UTF-8 text
/// (NUL is none: text in UTF-16 has it); kIo when it cannot be read.
Result<std::string> ReadPrompt(const std::string& path);

}  // namespace aicf::tools
