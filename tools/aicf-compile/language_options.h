/// The flags about language models.
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/compiler.h"
#include "tools/common/flags.h"

namespace aicf::tools {

/// As written; empty: not given.
struct LanguageFlags {
  std::string context, page, cache, prefill, decode, cache_precision;
  bool logits = false;
};

void AddLanguageFlags(CommandLine& line, LanguageFlags& flags);

/// The first one that was given; empty: none.
std::string_view GivenFlag(const LanguageFlags& flags);

/// Errors: kInvalidArgument naming the flag.
Status ReadLanguage(const LanguageFlags& flags, CompileOptions* options);

}  // namespace aicf::tools
