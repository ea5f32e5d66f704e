#include "base/scanner.h"

#include <algorithm>
#include <bit>
#include <cctype>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "base/utf8.h"

namespace aicf {

void Scanner::Skip() {
  while (pos_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[pos_]))) ++pos_;
}

bool Scanner::Peek(std::string_view token) {
  Skip();
  return text_.substr(pos_).starts_with(token);
}

bool Scanner::Accept(std::string_view token) {
  if (!Peek(token)) return false;
  pos_ += token.size();
  return true;
}

Status Scanner::Expect(std::string_view token) {
  return Accept(token) ? OkStatus() : Fail(StrCat("'", token, "'"));
}

bool Scanner::AtEnd() {
  Skip();
  return pos_ == text_.size();
}

int Scanner::line() const {
  return 1 + static_cast<int>(std::count(text_.begin(), text_.begin() + pos_, '\n'));
}

Status Scanner::Fail(std::string_view expected) {
  Skip();
  std::string_view found = text_.substr(pos_, 24);
  found = found.substr(0, found.find('\n'));
  return Error(Code::kInvalidArgument, "line ", line(), ": expected ", expected, ", found ",
               found.empty() ? std::string("end of text") : Quote(found));
}

Result<std::string_view> Scanner::Word() {
  Skip();
  size_t end = pos_;
  auto is_word = [&](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.' || c == '-';
  };
  if (end < text_.size() && !std::isalpha(static_cast<unsigned char>(text_[end])) &&
      text_[end] != '_') {
    return Fail("a word");
  }
  while (end < text_.size() && is_word(text_[end])) ++end;
  if (end == pos_) return Fail("a word");
  std::string_view word = text_.substr(pos_, end - pos_);
  pos_ = end;
  return word;
}

Result<int64_t> Scanner::Int() {
  Skip();
  int64_t value = 0;
  const char* begin = text_.data() + pos_;
  auto [next, ec] = std::from_chars(begin, text_.data() + text_.size(), value);
  if (ec != std::errc()) return Fail("an integer");
  pos_ += next - begin;
  return value;
}

Result<double> Scanner::Double() {
  Skip();
  size_t end = pos_;
  while (end < text_.size() && (std::isalnum(static_cast<unsigned char>(text_[end])) ||
                                text_[end] == '+' || text_[end] == '-' || text_[end] == '.')) {
    ++end;
  }
  const std::string token(text_.substr(pos_, end - pos_));
  char* stop = nullptr;
  const double value = std::strtod(token.c_str(), &stop);
  if (token.empty() || *stop != '\0') return Fail("a number");
  pos_ = end;
  return value;
}

Result<std::string> Scanner::Quoted() {
  AICF_RETURN_IF_ERROR(Expect("\""));
  std::string out;
  while (pos_ < text_.size() && text_[pos_] != '"') {
    char c = text_[pos_++];
    if (c == '\\' && pos_ < text_.size()) {
      c = text_[pos_++];
      if (c == 'n') c = '\n';
      if (c == 't') c = '\t';
      if (c == 'x') {
        unsigned byte = 0;
        if (pos_ + 2 > text_.size()) return Fail("two hex digits");
        auto [next, ec] = std::from_chars(text_.data() + pos_, text_.data() + pos_ + 2, byte, 16);
        if (ec != std::errc() || next != text_.data() + pos_ + 2) return Fail("two hex digits");
        pos_ += 2;
        c = static_cast<char>(byte);
      }
    }
    out.push_back(c);
  }
  if (pos_ == text_.size()) return Fail("'\"'");
  ++pos_;
  return out;
}

Result<Dims> Scanner::List() {
  AICF_RETURN_IF_ERROR(Expect("["));
  Dims out;
  if (Accept("]")) return out;
  do {
    AICF_ASSIGN_OR_RETURN(const int64_t v, Int());
    if (out.rank() == kMaxRank) return Fail("at most 8 entries");
    out.push_back(v);
  } while (Accept(","));
  AICF_RETURN_IF_ERROR(Expect("]"));
  return out;
}

Result<Dims> Scanner::Shape() {
  Skip();
  size_t end = pos_;
  while (end < text_.size() && std::isalnum(static_cast<unsigned char>(text_[end]))) ++end;
  std::optional<Dims> shape = ParseShape(text_.substr(pos_, end - pos_));
  if (!shape || end == pos_) return Fail("a shape such as 1x3x224x224");
  pos_ = end;
  return *shape;
}

std::string FormatDouble(double value) {
  if (std::isfinite(value) && value == std::floor(value) && std::fabs(value) < 0x1p53 &&
      !(value == 0 && std::signbit(value))) {
    return std::to_string(static_cast<long long>(value));
  }
  char buffer[40];
  if (!std::isnormal(value)) {
    std::snprintf(buffer, sizeof buffer, "%a", value);
    return buffer;
  }
  // The same as "%a", which takes ten times as long. The shift drops sign and exponent.
  char* to = buffer;
  if (value < 0) *to++ = '-';
  for (char c : {'0', 'x', '1'}) *to++ = c;
  const auto bits = std::bit_cast<uint64_t>(value);
  uint64_t fraction = bits << 12;
  if (fraction != 0) *to++ = '.';
  for (; fraction != 0; fraction <<= 4) *to++ = "0123456789abcdef"[fraction >> 60];
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  *to++ = 'p';
  *to++ = exponent < 0 ? '-' : '+';
  to = std::to_chars(to, buffer + sizeof buffer, std::abs(exponent)).ptr;
  return {buffer, to};
}

std::string Quote(std::string_view text) {
  std::string out = "\"";
  while (!text.empty()) {
    const unsigned char c = static_cast<unsigned char>(text[0]);
    const size_t n = Utf8Length(text);
    if (c == '"' || c == '\\') {
      out += '\\';
      out += text[0];
    } else if (c == '\n') {
      out += "\\n";
    } else if (c == '\t') {
      out += "\\t";
    } else if (n == 0 || c < 0x20 || c == 0x7f) {
      char hex[5];
      std::snprintf(hex, sizeof hex, "\\x%02x", c);
      out += hex;
    } else {
      out += text.substr(0, n);
    }
    text.remove_prefix(std::max<size_t>(n, 1));
  }
  out += '"';
  return out;
}

}  // namespace aicf
