/// What the tools' command lines have in common: spellings, strict values, one way to fail (usage).
/// Every value stays text until these functions turn it into a number, a shape or a path, so that
/// no value depends on the locale or is cut off silently.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dims.h"
#include "base/status.h"

namespace aicf::tools {

/// A flag of trtexec and the flag of aicf with the same meaning: {"--loadInputs", "--load-inputs"}.
/// If `ours` is empty, the flag's value becomes the positional argument.
struct Spelling {
  std::string_view theirs;
  std::string_view ours;
};

struct CommandLine {
  CLI::App app;
  explicit CommandLine(std::string_view name, std::string_view description);

  /// Adds a flag with one value, which may not be empty; giving it twice is an error. `text` is
  /// "VALUE  what it does".
  CLI::Option* AddValue(const std::string& flags, std::string& value, const std::string& text);
  /// Like AddValue, for a flag whose value is any text, an empty one too.
  CLI::Option* AddText(const std::string& flags, std::string& value, const std::string& text);
  /// Like AddValue, for a flag that may be given several times.
  CLI::Option* AddList(const std::string& flags, std::vector<std::string>& values,
                       const std::string& text);
  /// Adds a flag whose value is optional and can only follow '='. Without one, `value` becomes
  /// "true". `text` is "[=VALUE]  what it does".
  CLI::Option* AddSwitch(const std::string& flags, std::string& value, const std::string& text);
  /// Answers --help and --version, which leaves `run` false, or reads the arguments and sets `run`.
  /// Errors: kInvalidArgument naming the argument, with the nearest known flag.
  Status Parse(const std::vector<std::string>& args, const std::vector<Spelling>& spellings,
               bool* run);

 private:
  Status CheckEmptyValues() const;

  std::set<const CLI::Option*> texts_;  ///< those of AddText
};

/// Errors of all of these: kInvalidArgument naming the flag, the expected form and the value found.
Result<int64_t> ParseInt(std::string_view flag, std::string_view text, int64_t min, int64_t max);
Result<double> ParseReal(std::string_view flag, std::string_view text, double min, double max);

/// Reads items such as "name:1x3x48x320", where the last colon ends the name; "name:" is a scalar.
/// Several items are separated by commas or given by repeating the flag. Giving a name twice is an
/// error.
Result<std::map<std::string, Dims, std::less<>>> ParseShapes(std::string_view flag,
                                                             const std::vector<std::string>& items);

/// Reads items such as "name:file.npy". Names and paths may both hold colons, so the name is the
/// longest of the `known` names that the item starts with, followed by a colon. Unknown names and
/// names that are given twice are errors.
Result<std::map<std::string, std::string, std::less<>>> ParseNamedFiles(
    std::string_view flag, const std::vector<std::string>& items,
    const std::vector<std::string>& known);

/// Items of repeated flags, split at commas; an empty item is an error.
Result<std::vector<std::string>> SplitItems(std::string_view flag,
                                            const std::vector<std::string>& values);

/// The candidate closest to `word` when it is near enough to be a slip; empty otherwise.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace aicf::tools
