#include "kernels/abi/parameters.h"

#include <algorithm>
#include <charconv>

namespace aicf::abi {
namespace {

char Upper(char c) { return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c; }

// "tile_m=128".
Result<Parameter> ParseOne(std::string_view text) {
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  if (equals == std::string_view::npos || !IsParameterName(name)) {
    return Error(Code::kInvalidArgument, "expected a parameter as NAME=NUMBER, found '",
                 text.substr(0, 2 * kMaxParameterName), "'");
  }
  const std::string_view digits = text.substr(equals + 1);
  Parameter out{std::string(name), 0};
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), out.value);
  if (error != std::errc() || end != digits.data() + digits.size()) {
    return Error(Code::kInvalidArgument, "parameter ", name, ": expected an integer, found '",
                 digits.substr(0, 2 * kMaxParameterName), "'");
  }
  return out;
}

}  // namespace

Parameters::Parameters(std::vector<Parameter> list) : list_(std::move(list)) {
  // Backwards, so that the first of several equal names is the one that is found.
  for (size_t i = std::min(list_.size(), kMaxParameters); i > 0; --i) {
    slots_[SlotOf(list_[i - 1].name)] = static_cast<uint8_t>(i);
  }
}

const Parameter* Parameters::FindInList(std::string_view name) const {
  for (const Parameter& p : list_) {
    if (SameText(p.name, name)) return &p;
  }
  return nullptr;
}

bool operator==(const Parameters& a, const Parameters& b) {
  return std::ranges::equal(a.list_, b.list_, [](const Parameter& x, const Parameter& y) {
    return x.value == y.value && SameText(x.name, y.name);
  });
}

std::string CheckParameters(const Parameters& parameters, std::span<const ParameterRange> ranges) {
  size_t least = ranges.size();
  while (least > 0 && ranges[least - 1].absent) --least;
  if (parameters.size() < least || parameters.size() > ranges.size()) {
    return StrCat("takes ", ranges.size(), " parameters, here are ", parameters.size());
  }
  size_t i = 0;
  for (const Parameter& p : parameters) {
    const ParameterRange& range = ranges[i++];
    if (!SameText(p.name, range.name)) {
      return StrCat("takes parameter ", range.name, " at place ", i, ", here is ", p.name);
    }
    if (p.value < range.least || p.value > range.most) {
      return StrCat("takes ", range.name, " from ", range.least, " to ", range.most, ", here is ",
                    p.value);
    }
  }
  return {};
}

Parameters Completed(const Parameters& parameters, std::span<const ParameterRange> ranges) {
  std::vector<Parameter> list(parameters.begin(), parameters.end());
  for (const ParameterRange& range : ranges.subspan(list.size())) {
    list.push_back({std::string(range.name), range.absent.value_or(0)});
  }
  return Parameters(std::move(list));
}

Parameters Shortened(const Parameters& parameters, std::span<const ParameterRange> ranges) {
  std::vector<Parameter> list(parameters.begin(), parameters.end());
  while (!list.empty() && list.size() <= ranges.size() &&
         ranges[list.size() - 1].absent == list.back().value) {
    list.pop_back();
  }
  return Parameters(std::move(list));
}

std::string ToString(const Parameters& parameters) {
  std::string out;
  for (const Parameter& p : parameters) {
    out += StrCat(out.empty() ? "" : ",", p.name, "=", p.value);
  }
  return out;
}

Result<Parameters> ParseParameters(std::string_view text) {
  std::vector<Parameter> list;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    AICF_ASSIGN_OR_RETURN(Parameter one, ParseOne(text.substr(0, comma)));
    const auto same_name = [&](const Parameter& p) { return p.name == one.name; };
    if (std::ranges::any_of(list, same_name)) {
      return Error(Code::kInvalidArgument, "parameter ", one.name, " is there twice");
    }
    if (list.size() == kMaxParameters) {
      return Error(Code::kInvalidArgument, "more than ", kMaxParameters, " parameters");
    }
    list.push_back(std::move(one));
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
    if (text.empty()) return Error(Code::kInvalidArgument, "expected a parameter after the comma");
  }
  return Parameters(std::move(list));
}

bool IsParameterName(std::string_view name) {
  if (name.empty() || name.size() > kMaxParameterName || name[0] < 'a' || name[0] > 'z') {
    return false;
  }
  return std::ranges::all_of(
      name, [](char c) { return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_'; });
}

std::string ConstantName(std::string_view parameter) {
  std::string out = "k";
  bool first = true;
  for (char c : parameter) {
    if (c != '_') out.push_back(first ? Upper(c) : c);
    first = c == '_';
  }
  return out;
}

}  // namespace aicf::abi
