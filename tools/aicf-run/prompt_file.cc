#include "tools/aicf-run/prompt_file.h"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/interrupted.h"
#include "base/open_file.h"
#include "base/utf8.h"

namespace aicf::tools {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;

/// Reads to the end, or until there is more than a prompt may have. The text grows as it comes,
/// because nobody knows how much a pipe will bring.
Result<std::string> ReadToEnd(int fd, const std::string& source) {
  std::string text;
  char block[1 << 16];
  while (text.size() <= kMostBytes) {
    const ssize_t got = Uninterrupted([&] { return read(fd, block, sizeof block); });
    if (got < 0) return Error(Code::kIo, source, ": ", std::strerror(errno));
    if (got == 0) return text;
    text.append(block, static_cast<size_t>(got));
  }
  return Error(Code::kInvalidArgument, source, ": a prompt has at most ", kMostBytes >> 20,
               " MiB, and this is more");
}

/// Position of the first byte that belongs to no character of a text; its size where all do.
size_t EndOfText(std::string_view text) {
  size_t at = 0;
  while (at < text.size() && text[at] != '\0') {
    const size_t length = Utf8Length(text.substr(at));
    if (length == 0) break;
    at += length;
  }
  return at;
}

Status CheckText(std::string_view text, const std::string& source) {
  if (text.empty()) {
    return Error(Code::kInvalidArgument, source,
                 ": it is empty; an empty prompt is spelled --prompt=");
  }
  const size_t end = EndOfText(text);
  if (end == text.size()) return OkStatus();
  return Error(Code::kInvalidArgument, source, ": byte ", end,
               " is not part of a text in UTF-8, which a prompt has to be");
}

}  // namespace

Result<std::string> ReadPrompt(const std::string& path) {
  const bool piped = path == "-";
  const std::string source = piped ? "standard input" : path;
  OpenedFile file;
  if (!piped) {
    AICF_ASSIGN_OR_RETURN(file, OpenRegularFile(path));
  }
  AICF_ASSIGN_OR_RETURN(std::string text, ReadToEnd(piped ? STDIN_FILENO : file.fd.get(), source));
  if (text.ends_with('\n')) text.pop_back();
  AICF_RETURN_IF_ERROR(CheckText(text, source));
  return text;
}

}  // namespace aicf::tools
