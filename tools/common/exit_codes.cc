#include "tools/common/exit_codes.h"

#include <map>
#include <vector>

namespace aicf::tools {
namespace {

constexpr size_t kColumns = 98;

constexpr Code kOfEveryTool[] = {Code::kOk, Code::kInvalidArgument, Code::kResource, Code::kIo,
                                 Code::kInternal};

std::string_view UsualWords(Code code) {
  switch (code) {
    case Code::kOk:
      return "ok";
    case Code::kCheckFailed:
      return "check failed";
    case Code::kInvalidArgument:
      return "usage";
    case Code::kBadModel:
      return "bad model";
    case Code::kUnsupported:
      return "unsupported";
    case Code::kBadArtifact:
      return "bad artifact";
    case Code::kDevice:
      return "device";
    case Code::kResource:
      return "resources";
    case Code::kIo:
      return "I/O";
    case Code::kInternal:
      return "a defect in aicf";
  }
  return "";
}

// The items with commas between them, broken into lines.
std::string OnLines(std::string line, const std::vector<std::string>& items) {
  std::string text;
  for (size_t i = 0; i < items.size(); ++i) {
    const std::string item = items[i] + (i + 1 < items.size() ? "," : ".");
    if (line.size() + 1 + item.size() > kColumns) {
      text += line + "\n";
      line = item;
    } else {
      line += " " + item;
    }
  }
  return text + line;
}

}  // namespace

std::string ExitCodesText(std::initializer_list<ToolCode> own) {
  std::map<int, std::string_view> codes;
  for (const Code code : kOfEveryTool) codes[ExitCode(code)] = UsualWords(code);
  for (const ToolCode& c : own) {
    codes[ExitCode(c.code)] = c.words.empty() ? UsualWords(c.code) : c.words;
  }
  std::vector<std::string> items;
  for (const auto& [code, words] : codes) items.push_back(StrCat(code, " ", words));
  items.emplace_back("130 and 143 interrupted (SIGINT, SIGTERM)");
  return OnLines("Exit codes:", items);
}

}  // namespace aicf::tools
