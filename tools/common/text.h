/// Text that goes to a terminal or a log: escaping, sizes, durations, aligned tables.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace aicf::tools {

/// Control bytes, C1 controls, DEL and bytes that are not UTF-8 become \xNN (newline and tab \n,
/// \t), so that a name from a file can neither move the cursor nor forge a line of a log.
std::string Escape(std::string_view text);

/// Lines for stderr are abridged to this many bytes, which is enough for a list of a hundred gaps.
inline constexpr size_t kLongestLine = 16'000;

/// "1.50 MiB"; bytes below 1 KiB are exact.
std::string FormatBytes(uint64_t bytes);
/// Four significant digits without exponent: "0.01234", "12.34", "1234"; all digits of a larger
/// whole number. Below 1e-6 and from 1e15 on with one: "1.000e-09".
std::string FormatNumber(double value);
/// The text cut to at most `width` columns, with "..." in place of the rest.
std::string Shorten(std::string_view text, size_t width);
/// The pieces with `separator` between them.
std::string Join(const std::vector<std::string>& pieces, std::string_view separator);
/// "a, b, c and 4 more", escaped.
std::string ShortList(const std::vector<std::string>& names, size_t shown = 3);
/// Pieces of `text` between separators; an empty text has one empty piece.
std::vector<std::string> Split(std::string_view text, char separator);

/// "  key       value" and a newline; values of keys shorter than `width` stand in one column.
std::string KeyLine(size_t width, std::string_view key, std::string_view value);

/// A table with aligned columns, each as wide as its widest cell. The caller escapes the cells.
/// Trailing blanks of a line are dropped.
class Table {
 public:
  enum class Align : unsigned char { kLeft, kRight };
  struct Column {
    std::string title;
    Align align = Align::kLeft;
  };
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// REQUIRES: as many cells as columns.
  void Add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }
  bool empty() const { return rows_.empty(); }
  /// Title line, rule, rows; every line starts with `indent` and ends with a newline.
  std::string ToString(std::string_view indent = "") const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

/// Terminal columns of a UTF-8 text, counting one per code point.
size_t DisplayWidth(std::string_view text);

}  // namespace aicf::tools
