#include "tools/aicf-run/generate_options.h"

#include <algorithm>
#include <limits>

#include "tools/aicf-run/prompt_file.h"

namespace aicf::tools {
namespace {

constexpr const char* kGroup = "Text of a language model";
constexpr int64_t kMostTokens = 1 << 30;

// What each flag is for. Those that are in none of these lists are for text and for --bench-llm.
constexpr const char* kPromptFlags[] = {"--chat", "--system", "--special"};
constexpr const char* kTextFlags[] = {"--show-tokens", "--seed",  "--temperature", "--top-k",
                                      "--top-p",       "--min-p", "--stop",        "--ignore-eos"};
constexpr const char* kBenchFlags[] = {"--bench-prompt", "--depth", "--repetitions", "--batch"};
constexpr const char* kDrawFlags[] = {"--top-k", "--top-p", "--min-p", "--seed"};

Status ReadReal(std::string_view flag, const std::string& text, double most, double* value) {
  if (text.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(*value, ParseReal(flag, text, 0, most));
  return OkStatus();
}

Status ReadInt(std::string_view flag, const std::string& text, int64_t least, int64_t most,
               int64_t* value) {
  if (text.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(*value, ParseInt(flag, text, least, most));
  return OkStatus();
}

/// "512" or "128,512".
Status ReadInts(std::string_view flag, const std::string& text, int64_t least, int64_t most,
                std::vector<int64_t>* values) {
  if (text.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const auto items, SplitItems(flag, {text}));
  values->clear();
  for (const std::string& item : items) {
    AICF_ASSIGN_OR_RETURN(const int64_t value, ParseInt(flag, item, least, most));
    values->push_back(value);
  }
  return OkStatus();
}

Status ReadIds(const std::string& text, std::vector<uint32_t>* ids) {
  std::vector<int64_t> values;
  constexpr int64_t kMost = std::numeric_limits<int32_t>::max();
  AICF_RETURN_IF_ERROR(ReadInts("--tokens", text, 0, kMost, &values));
  ids->assign(values.begin(), values.end());
  return OkStatus();
}

}  // namespace

void GenerateFlags::AddPrompt(CommandLine& line) {
  const auto add = [&](CLI::Option* option) { flags_.push_back(option->group(kGroup)); };
  add(line.AddText("--prompt", prompt_,
                   "TEXT  go on with this text; it streams to stdout. Of an embedding "
                   "model: its vector"));
  add(line.AddValue("--prompt-file", prompt_file_,
                    "FILE  the prompt is the file's text, without a newline at its end;\n"
                    "-: what comes from standard input"));
  add(line.AddValue("--tokens", tokens_, "IDS  the prompt as token ids, e.g. 1,9038,2501"));
  add(line.app.add_flag("--chat", chat_, "the prompt is what a user says; answer it"));
  add(line.AddText("--system", system_, "TEXT  what the model is told before, with --chat"));
  add(line.app.add_flag("--special", special_,
                        "special tokens spelled out in the prompt become those tokens"));
  add(line.app.add_flag("--show-tokens", show_tokens_,
                        "the ids of prompt and text too, on stderr"));
}

void GenerateFlags::AddDrawing(CommandLine& line) {
  const auto add = [&](CLI::Option* option) { flags_.push_back(option->group(kGroup)); };
  add(line.AddValue("-n,--max-tokens", most_,
                    "N  tokens at most; default 128, 0: all there is\n"
                    "room for"));
  add(line.AddValue("--temperature", temperature_, "X  default 0: always the most probable token"));
  add(line.AddValue("--top-k", top_k_, "K  draw among the K most probable; default 0: all"));
  add(line.AddValue("--top-p", top_p_,
                    "X  draw among the most probable that make up X; default 1"));
  add(line.AddValue("--min-p", min_p_,
                    "X  draw among those X times as probable as the first; default 0"));
  add(line.AddValue("--seed", seed_, "N  same seed, same text; default 0"));
  add(line.AddList("--stop", stops_, "TEXT  end before this text; repeats"));
  add(line.app.add_flag("--ignore-eos", ignore_end_, "go on after the model's own end"));
  add(line.app.add_flag("--batch-invariant", batch_invariant_,
                        "results do not depend on what else runs, bit for bit"));
}

void GenerateFlags::AddBench(CommandLine& line) {
  const auto add = [&](CLI::Option* option) { flags_.push_back(option->group(kGroup)); };
  add(line.app.add_flag("--bench-llm", bench_,
                        "tokens per second of prompts (-p) and of text (-n)"));
  add(line.AddValue("-p,--bench-prompt", bench_prompt_,
                    "LIST  tokens of the prompts; default 512, 0: none"));
  add(line.AddValue("-d,--depth", depth_,
                    "LIST  tokens in the cache before a text is timed;\n"
                    "default 0"));
  add(line.AddValue("-r,--repetitions", repetitions_, "N  of each measurement; default 5"));
  add(line.AddValue("--batch", batch_, "LIST  requests at once; default 1"));
}

void GenerateFlags::AddTo(CommandLine& line) {
  AddPrompt(line);
  AddDrawing(line);
  AddBench(line);
}

std::string GenerateFlags::FirstGiven() const {
  for (const CLI::Option* option : flags_) {
    if (option->count() > 0) return option->get_name();
  }
  return {};
}

bool GenerateFlags::Given(const std::string& flag) const {
  return std::ranges::any_of(flags_, [&](const CLI::Option* option) {
    return option->count() > 0 && option->check_name(flag);
  });
}

Status GenerateFlags::RefuseAnyOf(std::span<const char* const> flags, std::string_view why) const {
  for (const char* flag : flags) {
    if (Given(flag)) return Error(Code::kInvalidArgument, flag, why);
  }
  return OkStatus();
}

/// Refuses flags that lack the flag that they are for.
Status GenerateFlags::CheckPurpose(bool prompts) const {
  if (!bench_) AICF_RETURN_IF_ERROR(RefuseAnyOf(kBenchFlags, " is for --bench-llm"));
  if (bench_) {
    AICF_RETURN_IF_ERROR(RefuseAnyOf(kPromptFlags, " is not for --bench-llm"));
    return RefuseAnyOf(kTextFlags, " is not for --bench-llm");
  }
  if (prompts) return OkStatus();
  AICF_RETURN_IF_ERROR(RefuseAnyOf(kPromptFlags, " is for --prompt or --prompt-file"));
  AICF_RETURN_IF_ERROR(RefuseAnyOf(kTextFlags, " is for --prompt, --prompt-file or --tokens"));
  return Error(Code::kInvalidArgument, FirstGiven(),
               " is for --prompt, --prompt-file, --tokens or --bench-llm");
}

/// Refuses flags that would have no effect, so that none is silently ignored.
Status GenerateFlags::CheckTogether() const {
  const int prompts = Given("--prompt") + Given("--prompt-file") + Given("--tokens");
  if (prompts > 1) {
    return Error(Code::kInvalidArgument,
                 "--prompt, --prompt-file and --tokens are three ways to say the same: give one");
  }
  if (prompts > 0 && bench_) {
    return Error(Code::kInvalidArgument, "--bench-llm makes up its own prompts");
  }
  AICF_RETURN_IF_ERROR(CheckPurpose(prompts > 0));
  if (Given("--system") && !chat_) return Error(Code::kInvalidArgument, "--system needs --chat");
  for (const char* flag : {"--chat", "--special"}) {
    if (Given("--tokens") && Given(flag)) {
      return Error(Code::kInvalidArgument, flag, " is for text, and --tokens gives ids");
    }
  }
  return OkStatus();
}

Status GenerateFlags::ConvertDrawing(GenerateOptions* options) const {
  AICF_RETURN_IF_ERROR(ReadInt("--max-tokens", most_, 0, kMostTokens, &options->most_tokens));
  AICF_RETURN_IF_ERROR(ReadReal("--temperature", temperature_, 1000, &options->temperature));
  AICF_RETURN_IF_ERROR(ReadReal("--top-p", top_p_, 1, &options->top_p));
  AICF_RETURN_IF_ERROR(ReadReal("--min-p", min_p_, 1, &options->min_p));
  int64_t top_k = 0;
  AICF_RETURN_IF_ERROR(ReadInt("--top-k", top_k_, 0, kMostTokens, &top_k));
  options->top_k = static_cast<int>(top_k);
  using Limits = std::numeric_limits<int64_t>;
  AICF_RETURN_IF_ERROR(ReadInt("--seed", seed_, Limits::min(), Limits::max(), &options->seed));
  if (options->temperature == 0) {
    AICF_RETURN_IF_ERROR(
        RefuseAnyOf(kDrawFlags, " draws tokens, which needs --temperature above 0"));
  }
  options->stops = stops_;
  options->ignore_end = ignore_end_;
  return OkStatus();
}

Status GenerateFlags::ConvertBench(GenerateOptions* options) const {
  AICF_RETURN_IF_ERROR(
      ReadInts("--bench-prompt", bench_prompt_, 0, kMostTokens, &options->bench_prompts));
  AICF_RETURN_IF_ERROR(ReadInts("--max-tokens", most_, 0, kMostTokens, &options->bench_tokens));
  AICF_RETURN_IF_ERROR(ReadInts("--depth", depth_, 0, kMostTokens, &options->bench_depths));
  AICF_RETURN_IF_ERROR(ReadInts("--batch", batch_, 1, 1 << 20, &options->bench_batches));
  int64_t repetitions = options->repetitions;
  AICF_RETURN_IF_ERROR(ReadInt("--repetitions", repetitions_, 1, 1 << 20, &repetitions));
  options->repetitions = static_cast<int>(repetitions);
  return OkStatus();
}

Status GenerateFlags::Convert(GenerateOptions* options) const {
  if (FirstGiven().empty()) return OkStatus();
  AICF_RETURN_IF_ERROR(CheckTogether());
  options->batch_invariant = batch_invariant_;
  options->mode = bench_ ? GenerateMode::kBench : GenerateMode::kText;
  if (bench_) return ConvertBench(options);
  options->chat = chat_;
  options->system = system_;
  options->special = special_;
  options->show_tokens = show_tokens_;
  options->prompt = prompt_;
  AICF_RETURN_IF_ERROR(ConvertDrawing(options));
  if (!tokens_.empty()) return ReadIds(tokens_, &options->tokens);
  if (prompt_file_.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(options->prompt, ReadPrompt(prompt_file_));
  return OkStatus();
}

}  // namespace aicf::tools
