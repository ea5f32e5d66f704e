#include "tools/inspect/provenance.h"

#include <algorithm>
#include <span>

#include "base/hash.h"
#include "base/status.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

constexpr size_t kLong = 8;             // most items that are still listed one by one
constexpr size_t kLongestObject = 200;  // bytes of JSON that are still shown
constexpr size_t kHashDigits = 12;

std::string Dump(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

std::string HashOf(const std::string& json) {
  return "hash " + ToHex(HashBytes(std::as_bytes(std::span(json)))).substr(0, kHashDigits);
}

/// JSON, or what is left of it where that is too long to be read.
std::string JsonText(const Json& value) {
  const std::string all = Dump(value);
  if (!value.is_structured() || all.size() <= kLongestObject) return all;
  return StrCat(value.size(), " entries, ", HashOf(all));
}

std::string ListText(const Json& list) {
  if (list.size() > kLong) return StrCat(list.size(), " entries, ", HashOf(Dump(list)));
  std::vector<std::string> items;
  for (const Json& item : list) {
    items.push_back(item.is_array() ? JsonText(item) : ProvenanceText(item));
  }
  return Join(items, ", ");
}

// An artifact may hold any JSON as its provenance, so that every part of a calibration may be
// missing or be something else.

/// nullptr: there is no such list.
const Json* ListAt(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_array() ? &*found : nullptr;
}

std::string NumberAt(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  if (found == object.end() || !found->is_number()) return "?";
  return found->is_number_float() ? FormatNumber(found->get<double>()) : Dump(*found);
}

std::string TextAt(const Json& object, const char* key) {
  const auto found = object.is_object() ? object.find(key) : object.end();
  return found != object.end() && found->is_string() ? found->get<std::string>() : "?";
}

bool IsCalibration(const Json& value) {
  return ListAt(value, "entries") != nullptr && value.contains("method") &&
         value.contains("max_error");
}

bool StaysWide(const Json& product) {
  const auto found = product.is_object() ? product.find("wide") : product.end();
  return found != product.end() && found->is_boolean() && found->get<bool>();
}

std::string EntryText(const Json& entry, const std::string& allowed) {
  const Json* const products = ListAt(entry, "products");
  const size_t all = products == nullptr ? 0 : products->size();
  const auto wide = all == 0 ? 0 : std::ranges::count_if(*products, StaysWide);
  return StrCat(TextAt(entry, "entry"), ": ", NumberAt(entry, "samples"), " samples, error ",
                NumberAt(entry, "error"), " of ", allowed, " allowed, ", wide, " of ", all,
                " products stay in floats");
}

/// The ranges of all values, which make a calibration long, are only in its hash.
std::vector<std::string> CalibrationLines(const Json& calibration) {
  std::vector<std::string> lines = {
      StrCat(TextAt(calibration, "method"), ", ", HashOf(Dump(calibration)))};
  for (const Json& entry : *ListAt(calibration, "entries")) {
    lines.push_back(EntryText(entry, NumberAt(calibration, "max_error")));
  }
  return lines;
}

}  // namespace

std::vector<std::string> ProvenanceLines(const Json& value) {
  if (value.is_string()) return {value.get<std::string>()};
  if (value.is_object() && value.contains("asked_by") && value["asked_by"].is_string()) {
    return {value["asked_by"].get<std::string>()};
  }
  if (IsCalibration(value)) return CalibrationLines(value);
  return {value.is_array() ? ListText(value) : JsonText(value)};
}

std::string ProvenanceText(const Json& value) { return Join(ProvenanceLines(value), "; "); }

}  // namespace aicf::tools
