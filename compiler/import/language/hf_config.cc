#include "compiler/import/language/hf_config.h"

#include <cmath>
#include <set>

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

/// Ends the parsing of text that has too many levels, or a key twice in one object: parsers
/// disagree about which of its values counts.
struct Watch {
  std::vector<std::set<std::string>> open;  ///< keys of the objects around what is read
  std::string repeated;

  bool See(int depth, Json::parse_event_t event, const Json& value) {
    if (depth > kMostDepth) throw std::length_error("depth");
    if (event == Json::parse_event_t::object_start) open.emplace_back();
    if (event == Json::parse_event_t::object_end) open.pop_back();
    if (event == Json::parse_event_t::key && !open.back().insert(value).second) {
      repeated = value;
      throw std::invalid_argument("repeated");
    }
    return true;
  }
};

}  // namespace

Result<HfConfig> HfConfig::Parse(std::string_view text, std::string_view name) {
  if (!IsCleanText(text)) return Error(Code::kBadModel, name, ": the text is not UTF-8");
  Watch watch;
  try {
    Json json = Json::parse(text, [&](int depth, Json::parse_event_t event, Json& value) {
      return watch.See(depth, event, value);
    });
    if (json.is_object()) return HfConfig(std::move(json), std::string(name));
  } catch (const std::exception&) {
    // The error is reported below, with the name of the file.
  }
  if (!watch.repeated.empty()) {
    return Error(Code::kBadModel, name, " has ", Quote(watch.repeated), " twice");
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

HfConfig HfConfig::Over(const HfConfig& defaults) const {
  Json merged = defaults.json_;
  merged.update(json_);
  return HfConfig(std::move(merged), name_);
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

Result<HfConfig> HfConfig::Object(std::string_view key) const {
  const Json* value = Find(key);
  const std::string name = StrCat(name_, ": ", key);
  if (value == nullptr) return HfConfig(Json::object(), name);
  if (value->is_object()) return HfConfig(*value, name);
  return Bad(key, "an object");
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

Result<std::vector<HfConfig>> HfConfig::Objects(std::string_view key) const {
  const Json* value = Find(key);
  std::vector<HfConfig> out;
  if (value == nullptr || !value->is_array()) return Bad(key, "a list of objects");
  for (const Json& item : *value) {
    if (!item.is_object()) return Bad(key, "a list of objects");
    out.push_back(HfConfig(item, StrCat(name_, ": ", key, " ", out.size())));
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
