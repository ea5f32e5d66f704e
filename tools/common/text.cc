#include "tools/common/text.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "base/status.h"
#include "base/utf8.h"

namespace aicf::tools {
namespace {

void AppendHex(std::string& out, unsigned char byte) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += "\\x";
  out += kDigits[byte >> 4];
  out += kDigits[byte & 15];
}

bool IsControl(std::string_view sequence) {
  const unsigned char lead = sequence[0];
  if (sequence.size() == 1) return lead < 0x20 || lead == 0x7f;
  return lead == 0xc2 && static_cast<unsigned char>(sequence[1]) < 0xa0;  // C1 controls
}

}  // namespace

std::string Escape(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const size_t length = Utf8Length(text);
    const std::string_view piece = text.substr(0, std::max<size_t>(length, 1));
    text.remove_prefix(piece.size());
    if (piece == "\n") {
      out += "\\n";
    } else if (piece == "\t") {
      out += "\\t";
    } else if (length == 0 || IsControl(piece)) {
      for (char c : piece) AppendHex(out, c);
    } else {
      out += piece;
    }
  }
  return out;
}

std::string FormatBytes(uint64_t bytes) {
  constexpr const char* kUnits[] = {"KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  if (bytes < 1024) return std::to_string(bytes) + " B";
  double value = static_cast<double>(bytes) / 1024;
  size_t unit = 0;
  while (value >= 1024 && unit + 1 < std::size(kUnits)) {
    value /= 1024;
    ++unit;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.2f %s", value, kUnits[unit]);
  return text;
}

std::string FormatNumber(double value) {
  if (!std::isfinite(value)) return std::isnan(value) ? "nan" : value > 0 ? "inf" : "-inf";
  if (value == 0) return "0";
  const int exponent = static_cast<int>(std::floor(std::log10(std::fabs(value))));
  if (exponent < -6 || exponent >= 15) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3e", value);
    return text;
  }
  char text[32];
  std::snprintf(text, sizeof text, "%.*f", std::clamp(3 - exponent, 0, 9), value);
  return text;
}

std::string Shorten(std::string_view text, size_t width) {
  if (DisplayWidth(text) <= width) return std::string(text);
  std::string out;
  for (size_t columns = 0; columns + 3 < width && !text.empty(); ++columns) {
    const size_t length = std::max<size_t>(Utf8Length(text), 1);
    out += text.substr(0, length);
    text.remove_prefix(length);
  }
  return out + "...";
}

std::string Join(const std::vector<std::string>& pieces, std::string_view separator) {
  std::string out;
  for (size_t i = 0; i < pieces.size(); ++i) {
    if (i > 0) out += separator;
    out += pieces[i];
  }
  return out;
}

std::string ShortList(const std::vector<std::string>& names, size_t shown) {
  std::string out;
  // "and 1 more" would be no shorter than the name.
  const size_t all = names.size() <= shown + 1 ? names.size() : shown;
  for (size_t i = 0; i < all; ++i) out += (i == 0 ? "" : ", ") + Escape(names[i]);
  if (all < names.size()) out += StrCat(" and ", names.size() - all, " more");
  return out;
}

std::vector<std::string> Split(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (true) {
    const size_t at = text.find(separator);
    pieces.emplace_back(text.substr(0, at));
    if (at == std::string_view::npos) return pieces;
    text.remove_prefix(at + 1);
  }
}

size_t DisplayWidth(std::string_view text) {
  return static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string Table::ToString(std::string_view indent) const {
  std::vector<size_t> widths;
  for (const Column& column : columns_) widths.push_back(DisplayWidth(column.title));
  for (const auto& row : rows_) {
    for (size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], DisplayWidth(row[c]));
  }
  std::string out;
  const auto add_line = [&](auto&& cell_of) {
    out += indent;
    for (size_t c = 0; c < columns_.size(); ++c) {
      const std::string cell = cell_of(c);
      const std::string blanks(widths[c] - std::min(widths[c], DisplayWidth(cell)), ' ');
      if (c > 0) out += "  ";
      if (columns_[c].align == Align::kRight) out += blanks + cell;
      if (columns_[c].align == Align::kLeft) out += c + 1 < columns_.size() ? cell + blanks : cell;
    }
    out.erase(out.find_last_not_of(' ') + 1);
    out += '\n';
  };
  add_line([&](size_t c) { return columns_[c].title; });
  add_line([&](size_t c) { return std::string(widths[c], '-'); });
  for (const auto& row : rows_) add_line([&](size_t c) { return row[c]; });
  return out;
}

std::string KeyLine(size_t width, std::string_view key, std::string_view value) {
  const size_t gap = key.size() < width ? width - key.size() : 1;
  return StrCat("  ", key, std::string(gap, ' '), value, "\n");
}

}  // namespace aicf::tools
