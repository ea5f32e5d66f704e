#include "base/status.h"

namespace aicf {
namespace {

struct CodeInfo {
  std::string_view name;
  int exit_code;
};

constexpr CodeInfo kCodes[] = {
    {"ok", 0},           {"check-failed", 1}, {"invalid-argument", 2}, {"bad-model", 3},
    {"unsupported", 4},  {"bad-artifact", 5}, {"device", 6},           {"resource", 7},
    {"io", 8},           {"internal", 70},
};

}  // namespace

std::string_view CodeName(Code code) { return kCodes[static_cast<size_t>(code)].name; }

int ExitCode(Code code) { return kCodes[static_cast<size_t>(code)].exit_code; }

std::string Status::ToString() const {
  if (ok()) return "ok";
  return StrCat(CodeName(code_), ": ", message_);
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  return Status(code_, StrCat(context, ": ", message_));
}

}  // namespace aicf
