#include "tools/common/flags.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <memory>

#include "base/edit_distance.h"
#include "schema/artifact.h"
#include "tools/common/process.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

std::string Version(std::string_view name) {
  return StrCat(name, " ", AICF_VERSION, " (artifact format ", schema::kFormatMajor, ".",
                schema::kFormatMinor, ")");
}

/// The arguments with trtexec's flags replaced by aicf's. Where Spelling::ours is empty the flag's
/// value is a positional argument: "--loadEngine=F" and "--loadEngine F" become "F".
std::vector<std::string> Respell(const std::vector<std::string>& args,
                                 const std::vector<Spelling>& spellings) {
  std::vector<std::string> out;
  for (const std::string& arg : args) {
    const size_t end = std::min(arg.find('='), arg.size());
    const auto known = std::find_if(spellings.begin(), spellings.end(), [&](const Spelling& s) {
      return std::string_view(arg).substr(0, end) == s.theirs;
    });
    if (known == spellings.end()) {
      out.push_back(arg);
    } else if (!known->ours.empty()) {
      out.push_back(StrCat(known->ours, std::string_view(arg).substr(end)));
    } else if (end < arg.size()) {
      out.push_back(arg.substr(end + 1));
    }
  }
  return out;
}

/// The flag that an argument names before its '=', if any; nullptr for all other arguments.
const CLI::Option* FlagOf(const CLI::App& app, const std::string& arg) {
  if (!arg.starts_with("-")) return nullptr;
  return app.get_option_no_throw(arg.substr(0, arg.find('=')));
}

bool TakesValue(const CLI::Option* flag) {
  return flag != nullptr && flag->get_items_expected_min() > 0;
}

/// "--flag=" as two arguments, the flag and an empty one. CLI11 takes an empty value for a missing
/// one and would make the next argument the flag's value. Errors: kInvalidArgument for a flag that
/// takes no value, or only one that may be left out.
Result<std::vector<std::string>> SplitEmptyValues(const CLI::App& app,
                                                  const std::vector<std::string>& args) {
  std::vector<std::string> out;
  bool is_value = false;  // the argument belongs to the flag before it
  for (const std::string& arg : args) {
    const CLI::Option* const flag = is_value ? nullptr : FlagOf(app, arg);
    const bool empty = arg.starts_with("--") && arg.find('=') + 1 == arg.size();
    if (flag == nullptr || !empty) {
      is_value = TakesValue(flag) && arg.find('=') == std::string::npos;
      out.push_back(arg);
      continue;
    }
    const std::string name = arg.substr(0, arg.size() - 1);
    if (!TakesValue(flag)) {
      return Error(Code::kInvalidArgument, name, ": nothing follows the '='; leave it out");
    }
    out.insert(out.end(), {name, ""});
  }
  return out;
}

/// "--threads=N  description" instead of CLI11's type names and remarks.
class HelpFormatter : public CLI::Formatter {
 public:
  std::string make_option_opts(const CLI::Option* option) const override {
    const std::string& value = option->get_option_text();
    // "[=SECONDS]" stands for itself.
    return value.empty() || value[0] == '[' ? value : "=" + value;
  }
};

/// "VALUE  description" sets the value's name and the description.
CLI::Option* Describe(CLI::Option* option, const std::string& text) {
  const size_t gap = text.find("  ");
  if (gap == std::string::npos) return option->description(text);
  return option->option_text(text.substr(0, gap))->description(text.substr(gap + 2));
}

std::string HelpText(const CLI::App& app) {
  std::string text = app.help();
  for (size_t at = text.find("\n\n\n"); at != std::string::npos; at = text.find("\n\n\n")) {
    text.erase(at, 1);
  }
  return text;
}

/// The error about an argument that no flag takes. CLI11's own does not suggest the flag that may
/// have been meant.
Status Unexpected(const CLI::App& app, const std::string& arg) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
  }
  const std::string flag = arg.substr(0, arg.find('='));
  const std::string nearest = Nearest(flag, known);
  return Error(
      Code::kInvalidArgument, arg.starts_with("-") ? "unknown flag '" : "unexpected argument '",
      Shorten(flag, 200), "'", nearest.empty() ? "" : StrCat("; did you mean ", nearest, "?"),
      " (--help lists all flags)");
}

std::string OneLine(std::string text) {
  std::replace(text.begin(), text.end(), '\n', ' ');
  return Shorten(text, 400);
}

}  // namespace

CommandLine::CommandLine(std::string_view name, std::string_view description)
    : app(std::string(description) + "\n", std::string(name)) {
  app.set_version_flag("--version", Version(name), "Print the version and exit");
  app.set_help_flag("-h,--help", "Print this help and exit");
  app.formatter(std::make_shared<HelpFormatter>());
  app.get_formatter()->column_width(36);
  // Arguments that no flag takes are collected instead of refused, so that Unexpected can report
  // them and suggest a flag.
  app.allow_extras();
}

CLI::Option* CommandLine::AddValue(const std::string& flags, std::string& value,
                                   const std::string& text) {
  return Describe(app.add_option(flags, value), text);
}

CLI::Option* CommandLine::AddText(const std::string& flags, std::string& value,
                                  const std::string& text) {
  CLI::Option* const option = AddValue(flags, value, text);
  texts_.insert(option);
  return option;
}

CLI::Option* CommandLine::AddList(const std::string& flags, std::vector<std::string>& values,
                                  const std::string& text) {
  return Describe(app.add_option(flags, values)->allow_extra_args(false), text);
}

CLI::Option* CommandLine::AddSwitch(const std::string& flags, std::string& value,
                                    const std::string& text) {
  return Describe(app.add_flag(flags, value), text);
}

/// An empty value would read as a flag that was not given, and so be ignored silently.
Status CommandLine::CheckEmptyValues() const {
  for (const CLI::Option* option : app.get_options()) {
    if (option->get_positional() || texts_.contains(option)) continue;
    if (std::ranges::any_of(option->results(), &std::string::empty)) {
      return Error(Code::kInvalidArgument, option->get_name(), ": its value is empty");
    }
  }
  return OkStatus();
}

Status CommandLine::Parse(const std::vector<std::string>& args,
                          const std::vector<Spelling>& spellings, bool* run) {
  *run = false;
  AICF_ASSIGN_OR_RETURN(std::vector<std::string> words,
                        SplitEmptyValues(app, Respell(args, spellings)));
  std::ranges::reverse(words);  // the order that CLI11 expects
  try {
    app.parse(std::move(words));
  } catch (const CLI::CallForHelp&) {
    Print(HelpText(app));
    return OkStatus();
  } catch (const CLI::CallForVersion& version) {
    Print(StrCat(version.what(), "\n"));
    return OkStatus();
  } catch (const CLI::ParseError& error) {
    const std::vector<std::string> strays = app.remaining();
    if (!strays.empty()) return Unexpected(app, strays.front());
    return Error(Code::kInvalidArgument, OneLine(error.what()), " (--help lists all flags)");
  }
  const std::vector<std::string> strays = app.remaining();
  if (!strays.empty()) return Unexpected(app, strays.front());
  AICF_RETURN_IF_ERROR(CheckEmptyValues());
  *run = true;
  return OkStatus();
}

Result<int64_t> ParseInt(std::string_view flag, std::string_view text, int64_t min, int64_t max) {
  int64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || value < min || value > max) {
    return Error(Code::kInvalidArgument, flag, ": expected an integer from ", min, " to ", max,
                 ", got '", Shorten(text, 60), "'");
  }
  return value;
}

Result<double> ParseReal(std::string_view flag, std::string_view text, double min, double max) {
  double value = 0;
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  if (error != std::errc() || stop != end || !std::isfinite(value) || value < min || value > max) {
    return Error(Code::kInvalidArgument, flag, ": expected a number from ", FormatNumber(min),
                 " to ", FormatNumber(max), ", got '", Shorten(text, 60), "'");
  }
  return value;
}

Result<std::vector<std::string>> SplitItems(std::string_view flag,
                                            const std::vector<std::string>& values) {
  std::vector<std::string> items;
  for (const std::string& value : values) {
    for (std::string& item : Split(value, ',')) {
      if (item.empty()) return Error(Code::kInvalidArgument, flag, ": an item is empty");
      items.push_back(std::move(item));
    }
  }
  return items;
}

Result<std::map<std::string, Dims, std::less<>>> ParseShapes(
    std::string_view flag, const std::vector<std::string>& items) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::string> pieces, SplitItems(flag, items));
  std::map<std::string, Dims, std::less<>> shapes;
  for (const std::string& item : pieces) {
    const size_t colon = item.rfind(':');
    const std::optional<Dims> shape = colon == std::string::npos || colon == 0
                                          ? std::nullopt
                                          : ParseShape(item.substr(colon + 1));
    if (!shape || !ElementCount(*shape)) {
      return Error(Code::kInvalidArgument, flag,
                   ": expected name:1x3x48x320 (a scalar is 'name:'), got '", Shorten(item, 100),
                   "'");
    }
    if (!shapes.emplace(item.substr(0, colon), *shape).second) {
      return Error(Code::kInvalidArgument, flag, ": input '", item.substr(0, colon),
                   "' is given twice");
    }
  }
  return shapes;
}

Result<std::map<std::string, std::string, std::less<>>> ParseNamedFiles(
    std::string_view flag, const std::vector<std::string>& items,
    const std::vector<std::string>& known) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::string> pieces, SplitItems(flag, items));
  std::map<std::string, std::string, std::less<>> files;
  for (const std::string& item : pieces) {
    size_t colon = std::string::npos;
    for (const std::string& name : known) {
      if (item.starts_with(name + ":") && (colon == std::string::npos || name.size() > colon)) {
        colon = name.size();
      }
    }
    if (colon == std::string::npos && item.find(':') != std::string::npos) {
      return Error(Code::kInvalidArgument, flag, ": no tensor is named '",
                   item.substr(0, item.rfind(':')), "'; the artifact has ", Join(known, ", "));
    }
    if (colon == std::string::npos || colon + 1 == item.size()) {
      return Error(Code::kInvalidArgument, flag, ": expected name:file.npy, got '",
                   Shorten(item, 100), "'");
    }
    if (!files.emplace(item.substr(0, colon), item.substr(colon + 1)).second) {
      return Error(Code::kInvalidArgument, flag, ": '", item.substr(0, colon), "' is given twice");
    }
  }
  return files;
}

std::string Nearest(std::string_view word, const std::vector<std::string>& candidates) {
  std::string best;
  size_t best_distance = std::min<size_t>(3, word.size() / 3) + 1;
  if (word.size() > 64) return best;
  for (const std::string& candidate : candidates) {
    const size_t longer = std::max(word.size(), candidate.size());
    const size_t shorter = std::min(word.size(), candidate.size());
    if (longer - shorter >= best_distance) continue;  // the distance is at least this difference
    const size_t distance = EditDistance(word, candidate);
    if (distance < best_distance) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

}  // namespace aicf::tools
