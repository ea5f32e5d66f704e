#include "tools/aicf-compile/language_options.h"

#include "tools/common/text.h"

namespace aicf::tools {
namespace {

constexpr int64_t kMostPositions = int64_t{1} << 31;

Status ReadNumber(std::string_view flag, const std::string& text, int64_t most, int64_t* out) {
  if (text.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(*out, ParseInt(flag, text, 1, most));
  return OkStatus();
}

// Reads a list of sizes such as "1,2,4".
Status ReadSizes(std::string_view flag, const std::string& text, std::vector<int64_t>* out) {
  if (text.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const std::vector<std::string> items, SplitItems(flag, {text}));
  out->clear();
  for (const std::string& item : items) {
    AICF_ASSIGN_OR_RETURN(const int64_t size, ParseInt(flag, item, 1, kMostPositions));
    out->push_back(size);
  }
  return OkStatus();
}

}  // namespace

void AddLanguageFlags(CommandLine& line, LanguageFlags& flags) {
  const std::string group = "Language models (GGUF files, Hugging Face folders)";
  line.AddValue("--context", flags.context,
                "N  most positions of a request, prompt and answer together; default what the\n"
                "model was trained for, at most 4096")
      ->group(group);
  line.AddValue("--cache", flags.cache,
                "N  positions that the cache of keys and values holds, of all requests\n"
                "together; default two requests of the longest context")
      ->group(group);
  line.AddValue("--cache-precision", flags.cache_precision,
                "TYPE  what keys and values are stored in: fp32, fp16 or bf16; default that of\n"
                "--precision where it has 16 bits, otherwise fp32")
      ->group(group);
  line.AddValue("--page", flags.page,
                "N  positions in a page of the cache; default 32 on a CPU, 64 on a GPU")
      ->group(group);
  line.AddValue("--prefill", flags.prefill,
                "LIST  rows of the entry points that read a prompt; default 128,512,2048,\n"
                "on a CPU also 8, 16, 32 and 64")
      ->group(group);
  line.AddValue("--decode", flags.decode,
                "LIST  requests of the entry points that make a token for each; default\n"
                "1,2,4,8 on a CPU, up to 64 on a GPU")
      ->group(group);
  line.app.add_flag("--logits", flags.logits, "the logits are an output, too")->group(group);
}

std::string_view GivenFlag(const LanguageFlags& flags) {
  if (!flags.context.empty()) return "--context";
  if (!flags.cache.empty()) return "--cache";
  if (!flags.cache_precision.empty()) return "--cache-precision";
  if (!flags.page.empty()) return "--page";
  if (!flags.prefill.empty()) return "--prefill";
  if (!flags.decode.empty()) return "--decode";
  return flags.logits ? "--logits" : "";
}

Status ReadLanguage(const LanguageFlags& flags, CompileOptions* options) {
  language::LanguageOptions& o = options->language;
  AICF_RETURN_IF_ERROR(ReadNumber("--context", flags.context, kMostPositions, &o.context));
  AICF_RETURN_IF_ERROR(ReadNumber("--page", flags.page, 1 << 16, &o.page));
  AICF_RETURN_IF_ERROR(ReadNumber("--cache", flags.cache, kMostPositions, &o.cache));
  AICF_RETURN_IF_ERROR(ReadSizes("--prefill", flags.prefill, &o.prefill));
  AICF_RETURN_IF_ERROR(ReadSizes("--decode", flags.decode, &o.decode));
  if (!flags.cache_precision.empty()) {
    const auto precision = ParsePrecision(flags.cache_precision);
    if (!precision.ok()) return precision.status().WithContext("--cache-precision");
    if (IsQuantized(*precision)) {
      return Error(Code::kUnsupported, "--cache-precision=", flags.cache_precision,
                   ": a cache holds floats of 16 or 32 bits");
    }
    o.cache_dtype = *precision;
  }
  if (flags.logits) o.logits = true;
  return OkStatus();
}

}  // namespace aicf::tools
