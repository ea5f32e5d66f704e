/// config.json of a Hugging Face model: a JSON object whose values are read by name and checked.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"

namespace aicf::language {

class HfConfig {
 public:
  /// Errors: kBadModel for text that is no JSON object, is nested too deep, or has a key twice.
  static Result<HfConfig> Parse(std::string_view text, std::string_view name);

  bool Has(std::string_view key) const;  ///< there, and not null
  /// This configuration, with the values of `defaults` for keys that it does not have, not even as
  /// null.
  HfConfig Over(const HfConfig& defaults) const;

  // Errors: kBadModel naming the key when it is missing (without a fallback) or has another type.
  Result<int64_t> Int(std::string_view key, std::optional<int64_t> fallback = {}) const;  ///< >= 0
  Result<double> Real(std::string_view key, std::optional<double> fallback = {}) const;
  Result<std::string> Text(std::string_view key, std::optional<std::string> fallback = {}) const;
  Result<bool> Flag(std::string_view key, bool fallback) const;
  Result<HfConfig> Object(std::string_view key) const;  ///< empty where there is none
  Result<std::vector<double>> Reals(std::string_view key) const;
  Result<std::vector<std::string>> Texts(std::string_view key) const;
  Result<std::vector<HfConfig>> Objects(std::string_view key) const;
  /// A number or a list of numbers; empty where there is none.
  Result<std::vector<uint32_t>> Ids(std::string_view key) const;

 private:
  HfConfig(nlohmann::json json, std::string name)
      : json_(std::move(json)), name_(std::move(name)) {}
  const nlohmann::json* Find(std::string_view key) const;
  Status Bad(std::string_view key, std::string_view expected) const;

  nlohmann::json json_;
  std::string name_;
};

}  // namespace aicf::language
