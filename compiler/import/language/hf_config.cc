#include "compiler/import/language/hf_config.h"

#include <cmath>

#include "base/scanner.h"
#include "base/utf8.h"

namespace aicf::language {
namespace {

using Json = nlohmann::json;

constexpr int64_t kMostOfNumber = int64_t{1} << 31;
/// Configurations have a handful of levels; a parser that recurses needs a bound.
constexpr int kMostDepth = 32;

bool IsIndex(const Json& value) {
  return value.is_number_unsigned() &&
         value.get<uint64_t>() <= static_cast<uint64_t>(kMostOfNumber);
}

}  // namespace

Result<HfConfig> HfConfig::Parse(std::string_view text, std::string_view name) {
  if (!IsCleanText(text)) return Error(Code::kBadModel, name, ": the text is not UTF-8");
  const auto shallow = [](int depth, Json::parse_event_t, Json&) {
    if (depth > kMostDepth) throw std::length_error("depth");
    return true;
  };
  try {
    Json json = Json::parse(text, shallow);
    if (json.is_object()) return HfConfig(std::move(json), std::string(name));
  } catch (const std::exception&) {
    // Said below, with the file's name.
  }
  return Error(Code::kBadModel, name, " is no JSON object of at most ", kMostDepth, " levels");
}

const Json* HfConfig::Find(std::string_view key) const {
  const auto found = json_.find(key);
  return found == json_.end() || found->is_null() ? nullptr : &*found;
}

Status HfConfig::Bad(std::string_view key, std::string_view expected) const {
  return Error(Code::kBadModel, name_, ": ", Quote(key), " is missing or not ", expected);
}

bool HfConfig::Has(std::string_view key) const { return Find(key) != nullptr; }

HfConfig HfConfig::Child(std::string_view key) const {
  const Json* child = Find(key);
  return child != nullptr && child->is_object() ? HfConfig(*child, StrCat(name_, ": ", key))
                                                : *this;
}

std::vector<std::string> HfConfig::Keys() const {
  std::vector<std::string> keys;
  for (const auto& item : json_.items()) keys.push_back(item.key());
  return keys;
}

Result<int64_t> HfConfig::Int(std::string_view key, std::optional<int64_t> fallback) const {
  const Json* value = Find(key);
  if (value == nullptr && fallback) return *fallback;
  if (value != nullptr && IsIndex(*value)) return value->get<int64_t>();
  return Bad(key, "a number from 0 to 2^31");
}

Result<double> HfConfig::Real(std::string_view key, std::optional<double> fallback) const {
  const Json* value = Find(key);
  if (value == nullptr && fallback) return *fallback;
  if (value != nullptr && value->is_number() && std::isfinite(value->get<double>())) {
    return value->get<double>();
  }
  return Bad(key, "a finite number");
}

Result<std::string> HfConfig::Text(std::string_view key,
                                   std::optional<std::string> fallback) const {
  const Json* value = Find(key);
  if (value == nullptr && fallback) return *fallback;
  if (value != nullptr && value->is_string()) return value->get<std::string>();
  return Bad(key, "a text");
}

Result<bool> HfConfig::Flag(std::string_view key, bool fallback) const {
  const Json* value = Find(key);
  if (value == nullptr) return fallback;
  if (value->is_boolean()) return value->get<bool>();
  return Bad(key, "true or false");
}

Result<std::vector<double>> HfConfig::Reals(std::string_view key) const {
  const Json* value = Find(key);
  std::vector<double> out;
  if (value == nullptr || !value->is_array()) return Bad(key, "a list of numbers");
  for (const Json& item : *value) {
    if (!item.is_number() || !std::isfinite(item.get<double>())) {
      return Bad(key, "a list of finite numbers");
    }
    out.push_back(item.get<double>());
  }
  return out;
}

Result<std::vector<std::string>> HfConfig::Texts(std::string_view key) const {
  const Json* value = Find(key);
  std::vector<std::string> out;
  if (value == nullptr || !value->is_array()) return Bad(key, "a list of texts");
  for (const Json& item : *value) {
    if (!item.is_string()) return Bad(key, "a list of texts");
    out.push_back(item.get<std::string>());
  }
  return out;
}

Result<std::vector<uint32_t>> HfConfig::Ids(std::string_view key) const {
  const Json* value = Find(key);
  std::vector<uint32_t> out;
  if (value == nullptr) return out;
  const Json list = value->is_array() ? *value : Json::array({*value});
  for (const Json& item : list) {
    if (!IsIndex(item)) return Bad(key, "an id or a list of ids");
    out.push_back(item.get<uint32_t>());
  }
  return out;
}

}  // namespace aicf::language
