/// Text to pieces by regular expressions.
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "schema/tokenizer.h"

namespace aicf::text {

/// A compiled expression (PCRE2, interpreted). Immutable; many threads may split at once.
class Splitter {
 public:
  /// Errors: kBadModel with the library's sentence where it does not compile; kUnsupported for
  /// references back to groups and for repetitions a thousand times or more.
  static Result<Splitter> Make(const schema::SplitPattern& pattern);

  /// The pieces of `texts`, one text after the other: views of them, none of them empty. Bytes that
  /// are not UTF-8 match nothing.
  /// Errors: kResource where matching walks over more than some hundreds of bytes for each byte of
  /// all texts.
  Result<std::vector<std::string_view>> Split(const std::vector<std::string_view>& texts) const;

 private:
  class Matcher;
  Status SplitOne(std::string_view text, Matcher* matcher,
                  std::vector<std::string_view>* pieces) const;

  struct Code;
  std::shared_ptr<const Code> code_;
  schema::SplitKeep keep_ = schema::SplitKeep::kMatchesAndGaps;
};

}  // namespace aicf::text
