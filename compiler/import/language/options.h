/// What a user may say about the program that a language model becomes.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/dtype.h"

namespace aicf::language {

/// What 0, empty and nullopt stand for follows from the model, the target and the precision
/// (compiler/source/language.cc).
struct LanguageOptions {
  int64_t context = 0;               ///< most positions of a request
  int64_t page = 0;                  ///< positions in a page of the cache
  int64_t cache = 0;                 ///< positions that the cache holds, of all requests together
  std::vector<int64_t> prefill;      ///< rows of the prefill entry points, ascending
  std::vector<int64_t> decode;       ///< requests of the decode entry points, ascending
  std::optional<DType> cache_dtype;  ///< what keys and values are stored in
  bool logits = false;               ///< the logits are an output, too
  friend bool operator==(const LanguageOptions&, const LanguageOptions&) = default;
};

}  // namespace aicf::language
