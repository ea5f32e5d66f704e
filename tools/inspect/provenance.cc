#include "tools/inspect/provenance.h"

#include <span>

#include "base/hash.h"
#include "base/status.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

constexpr size_t kLong = 8;  // most items that are still listed one by one
constexpr size_t kHashDigits = 12;

std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

}  // namespace

std::string ProvenanceText(const Json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_object() && value.contains("asked_by") && value["asked_by"].is_string()) {
    return value["asked_by"].get<std::string>();
  }
  if (!value.is_array()) return Dump(value);
  if (value.size() > kLong) {
    const std::string all = Dump(value);
    return StrCat(value.size(), " entries, hash ",
                  ToHex(HashBytes(std::as_bytes(std::span(all)))).substr(0, kHashDigits));
  }
  std::vector<std::string> items;
  for (const Json& item : value)
    items.push_back(item.is_array() ? Dump(item) : ProvenanceText(item));
  return Join(items, ", ");
}

}  // namespace aicf::tools
