#include "tests/passes/golden_case.h"

#include <charconv>
#include <cstdlib>
#include <fstream>

namespace aicf {
namespace {

constexpr std::string_view kKeys[] = {
    "case:",   "pass:",    "device:", "math:",   "precision:", "calibration:",
    "policy:", "disable:", "input:",  "expect:", "decisions:", "values:"};

std::string Trim(std::string_view s) {
  const size_t first = s.find_first_not_of(" \t\n");
  if (first == std::string_view::npos) return "";
  return std::string(s.substr(first, s.find_last_not_of(" \t\n") - first + 1));
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> out;
  while (!text.empty()) {
    const size_t end = text.find(separator);
    const std::string item = Trim(text.substr(0, end));
    if (!item.empty()) out.push_back(item);
    text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
  }
  return out;
}

Status SetValues(const std::string& text, GoldenCase& c) {
  if (text == "exact") return OkStatus();
  const std::string_view number = std::string_view(text).substr(text.find('=') + 1);
  const auto [end, ec] = std::from_chars(number.data(), number.data() + number.size(), c.max_ulp);
  if (text.starts_with("max_ulp=") && ec == std::errc() && end == number.data() + number.size()) {
    return OkStatus();
  }
  if (text.starts_with("max_error=")) {
    c.max_error = std::strtod(std::string(number).c_str(), nullptr);
    return OkStatus();
  }
  return Error(Code::kInvalidArgument, "values: '", text,
               "', expected exact, max_ulp=N or max_error=X");
}

Status SetField(std::string_view key, const std::string& text, GoldenCase& c) {
  if (key == "case:") c.name = text;
  if (key == "pass:") c.passes = Split(text, ',');
  if (key == "device:") c.device = text;
  if (key == "math:") c.math = text;
  if (key == "precision:") c.precision = text;
  if (key == "calibration:") c.calibration = Split(text, '\n');
  if (key == "policy:") c.policy = text;
  if (key == "disable:") c.disabled = Split(text, ',');
  if (key == "input:") c.input = text;
  if (key == "expect:") c.expect = text;
  if (key == "values:") return SetValues(text, c);
  if (key == "decisions:") {
    c.decisions = Split(text, '\n');
    c.check_decisions = true;
  }
  return OkStatus();
}

class FileParser {
 public:
  Status Line(const std::string& line) {
    ++line_;
    if (line.starts_with("#")) return OkStatus();
    for (std::string_view key : kKeys) {
      if (!line.starts_with(key)) continue;
      AICF_RETURN_IF_ERROR(Close());
      key_ = key;
      text_ = line.substr(key.size());
      if (key == "case:") {
        cases_.emplace_back();
        cases_.back().line = line_;
      }
      return OkStatus();
    }
    text_ += "\n" + line;
    return OkStatus();
  }

  Status Close() {
    if (key_.empty()) return OkStatus();
    if (cases_.empty()) return Error(Code::kInvalidArgument, "line ", line_, ": no case is open");
    return SetField(key_, Trim(text_), cases_.back());
  }

  std::vector<GoldenCase> Take() { return std::move(cases_); }

 private:
  std::vector<GoldenCase> cases_;
  std::string_view key_;
  std::string text_;
  int line_ = 0;
};

}  // namespace

Result<std::vector<GoldenCase>> ParseGoldenFile(const std::string& path) {
  std::ifstream in(path);
  if (!in) return Error(Code::kIo, "cannot read ", path);
  FileParser parser;
  for (std::string line; std::getline(in, line);) AICF_RETURN_IF_ERROR(parser.Line(line));
  AICF_RETURN_IF_ERROR(parser.Close());
  std::vector<GoldenCase> cases = parser.Take();
  for (const GoldenCase& c : cases) {
    if (!c.passes.empty() && !c.input.empty() && !c.expect.empty()) continue;
    return Error(Code::kInvalidArgument, path, " line ", c.line,
                 ": pass, input or expect is absent");
  }
  return cases;
}

}  // namespace aicf
