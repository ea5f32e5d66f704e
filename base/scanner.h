/// A cursor over one text for the project's small line formats. Every reader skips blanks first.
/// A failed read of a single token leaves the position before it; Quoted() and List() stop where
/// the text is wrong. Fail() makes an error that names the line and the text found there.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/dims.h"
#include "base/status.h"

namespace aicf {

class Scanner {
 public:
  explicit Scanner(std::string_view text) : text_(text) {}

  /// Consumes `token` when it comes next.
  bool Accept(std::string_view token);
  /// True when `token` comes next; consumes nothing.
  bool Peek(std::string_view token);
  Status Expect(std::string_view token);
  bool AtEnd();

  /// Letters, digits, '_', '.', '-'; starts with a letter or '_'.
  Result<std::string_view> Word();
  Result<int64_t> Int();
  /// Accepts nan, inf, -inf and hexadecimal floats ("0x1.8p+1") as printed by FormatDouble.
  Result<double> Double();
  /// A "double-quoted" string with the escapes of Quote.
  Result<std::string> Quoted();
  /// "[1, -2]".
  Result<Dims> List();
  /// "1x3x48" or "scalar".
  Result<Dims> Shape();

  Status Fail(std::string_view expected);
  size_t position() const { return pos_; }
  int line() const;

 private:
  void Skip();
  std::string_view text_;
  size_t pos_ = 0;
};

/// Exact round trip: hexadecimal significand for finite values, else nan, inf, -inf. Integers below
/// 2^53 print as plain decimals.
std::string FormatDouble(double value);

/// "..." with \" \\ \n \t and \xNN for control bytes and bytes that are not UTF-8.
std::string Quote(std::string_view text);

}  // namespace aicf
