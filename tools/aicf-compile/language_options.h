/// The flags about language models.
#pragma once

#include <string>

#include "base/status.h"
#include "compiler/compiler.h"
#include "tools/common/flags.h"

namespace aicf::tools {

/// The flags' values as the user wrote them; empty for a flag that was not given.
struct LanguageFlags {
  std::string context, page, cache, prefill, decode, cache_precision;
  bool logits = false;
};

void AddLanguageFlags(CommandLine& line, LanguageFlags& flags);

/// The name of the first of these flags that was given; empty when there is none.
std::string_view GivenFlag(const LanguageFlags& flags);

/// Errors: kInvalidArgument naming the flag.
Status ReadLanguage(const LanguageFlags& flags, CompileOptions* options);

}  // namespace aicf::tools
