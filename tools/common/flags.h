/// What the tools' command lines have in common: spellings, strict values, one way to fail (usage).
/// Every value stays text until these functions turn it into a number, a shape or a path, so that
/// no value depends on the locale or is cut off silently.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/dims.h"
#include "base/status.h"

namespace aicf::tools {

/// A flag of trtexec and ours with the same meaning: {"--loadInputs", "--load-inputs"}. `ours`
/// empty: the flag's value is our positional argument.
struct Spelling {
  std::string_view theirs;
  std::string_view ours;
};

struct CommandLine {
  CLI::App app;
  explicit CommandLine(std::string_view name, std::string_view description);

  /// A flag with one value; given twice it is an error. `text`: "VALUE  what it does".
  CLI::Option* AddValue(const std::string& flags, std::string& value, const std::string& text);
  /// The same for a flag that may repeat.
  CLI::Option* AddList(const std::string& flags, std::vector<std::string>& values,
                       const std::string& text);
  /// A flag that may have a value, after '=' only: "true" without one. `text`: "[=VALUE]  what it
  /// does".
  CLI::Option* AddSwitch(const std::string& flags, std::string& value, const std::string& text);
  /// --help and --version were answered, or the arguments were read (then `run` is set).
  /// Errors: kInvalidArgument naming the argument, with the nearest known flag.
  Status Parse(const std::vector<std::string>& args, const std::vector<Spelling>& spellings,
               bool* run);
};

/// Errors of all of these: kInvalidArgument naming the flag, the expected form and the value found.
Result<int64_t> ParseInt(std::string_view flag, std::string_view text, int64_t min, int64_t max);
Result<double> ParseReal(std::string_view flag, std::string_view text, double min, double max);

/// "name:1x3x48x320"; the last colon separates; "name:" is a scalar. Items repeat or are separated
/// by commas. A name twice is an error.
Result<std::map<std::string, Dims, std::less<>>> ParseShapes(std::string_view flag,
                                                             const std::vector<std::string>& items);

/// "name:file.npy"; the first colon whose left side is a known name separates, else the last one,
/// so that names and paths may both hold colons. A name twice is an error; unknown names are too.
Result<std::map<std::string, std::string, std::less<>>> ParseNamedFiles(
    std::string_view flag, const std::vector<std::string>& items,
    const std::vector<std::string>& known);

/// Items of repeated flags, split at commas; an empty item is an error.
Result<std::vector<std::string>> SplitItems(std::string_view flag,
                                            const std::vector<std::string>& values);

/// The candidate closest to `word` when it is near enough to be a slip; empty otherwise.
std::string Nearest(std::string_view word, const std::vector<std::string>& candidates);

}  // namespace aicf::tools
