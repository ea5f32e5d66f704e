/// The part of aicf-run's command line that is about language models.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "tools/common/flags.h"

namespace aicf::tools {

/// What aicf-run does with a language model.
enum class GenerateMode : unsigned char {
  kOff,
  kText,   ///< generates text that continues a prompt
  kBench,  ///< --bench-llm
};

struct GenerateOptions {
  GenerateMode mode = GenerateMode::kOff;
  bool batch_invariant = false;

  // kText
  std::string prompt;            ///< the prompt's text, even if a file was named
  std::vector<uint32_t> tokens;  ///< instead of `prompt`: its token ids
  bool chat = false;
  std::string system;
  bool special = false;
  bool show_tokens = false;
  int64_t most_tokens = 128;
  double temperature = 0, top_p = 1, min_p = 0;
  int top_k = 0;
  int64_t seed = 0;
  bool ignore_end = false;
  std::vector<std::string> stops;

  // kBench
  std::vector<int64_t> bench_prompts = {512};
  std::vector<int64_t> bench_tokens = {128};
  std::vector<int64_t> bench_batches = {1};
  std::vector<int64_t> bench_depths = {0};
  int repetitions = 5;
};

/// The flags' values as the user wrote them.
class GenerateFlags {
 public:
  void AddTo(CommandLine& line);
  /// Converts the flags and reads the prompt's file. Errors: kInvalidArgument for values out of
  /// range and for flags that do not belong together; kIo.
  Status Convert(GenerateOptions* options) const;
  /// The name of the first of these flags that was given; empty when there is none.
  std::string FirstGiven() const;

 private:
  void AddPrompt(CommandLine& line);
  void AddDrawing(CommandLine& line);
  void AddBench(CommandLine& line);
  Status CheckTogether() const;
  Status CheckPurpose(bool prompts) const;
  Status RefuseAnyOf(std::span<const char* const> flags, std::string_view why) const;
  Status ConvertDrawing(GenerateOptions* options) const;
  Status ConvertBench(GenerateOptions* options) const;
  bool Given(const std::string& flag) const;

  std::string prompt_, prompt_file_, tokens_, system_, most_, temperature_, top_k_, top_p_, min_p_,
      seed_, bench_prompt_, depth_, batch_, repetitions_;
  std::vector<std::string> stops_;
  bool chat_ = false, special_ = false, show_tokens_ = false, ignore_end_ = false, bench_ = false,
       batch_invariant_ = false;
  std::vector<CLI::Option*> flags_;
};

}  // namespace aicf::tools
