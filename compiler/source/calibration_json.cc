#include "compiler/source/calibration_json.h"

namespace aicf {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::string_view kDigits = "0123456789abcdef";

// Two digits for each, so that channels take one line.
std::string HexOf(const std::vector<uint8_t>& bytes) {
  std::string text;
  for (const uint8_t b : bytes) {
    text += kDigits[b >> 4];
    text += kDigits[b & 15];
  }
  return text;
}

// What is no digit becomes an exponent that CheckFits refuses.
std::vector<uint8_t> BytesOf(const std::string& text) {
  std::vector<uint8_t> bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    const size_t high = kDigits.find(text[i]), low = kDigits.find(text[i + 1]);
    const bool digits = high != std::string_view::npos && low != std::string_view::npos;
    bytes.push_back(static_cast<uint8_t>(digits ? high << 4 | low : 255));
  }
  return bytes;
}

Json ValueJson(const CalibratedValue& v) {
  Json j{{"buffer", v.buffer},
         {"name", v.name},
         {"low", v.low},
         {"high", v.high},
         {"limits", v.limits}};
  if (!v.channels.empty()) j["channels"] = HexOf(v.channels);
  if (!v.infinite.empty()) j["infinite"] = v.infinite;
  if (v.few != 0) j["few"] = v.few;
  return j;
}

Json ProductJson(const CalibratedProduct& p) {
  return Json{{"step", p.step}, {"name", p.name}, {"effect", p.effect}, {"wide", p.wide}};
}

Json EntryJson(const CalibratedEntry& e) {
  Json j{{"entry", e.entry}, {"samples", e.samples}, {"error", e.error}};
  j["values"] = Json::array();
  for (const CalibratedValue& v : e.values) j["values"].push_back(ValueJson(v));
  j["products"] = Json::array();
  for (const CalibratedProduct& p : e.products) j["products"].push_back(ProductJson(p));
  return j;
}

// What follows throws where a key is missing or has another type, which CalibrationFromJson
// catches.

CalibratedValue ValueFrom(const Json& j) {
  CalibratedValue v;
  v.buffer = j.at("buffer").get<ir::BufferId>();
  v.name = j.at("name").get<std::string>();
  v.low = j.at("low").get<double>();
  v.high = j.at("high").get<double>();
  v.limits = j.at("limits").get<std::array<double, kRangeMethods>>();
  v.channels = BytesOf(j.value("channels", ""));
  v.infinite = j.value("infinite", "");
  v.few = j.value("few", int64_t{0});
  return v;
}

CalibratedProduct ProductFrom(const Json& j) {
  CalibratedProduct p;
  p.step = j.at("step").get<int>();
  p.name = j.at("name").get<std::string>();
  p.effect = j.at("effect").get<double>();
  p.wide = j.at("wide").get<bool>();
  return p;
}

CalibratedEntry EntryFrom(const Json& j) {
  CalibratedEntry e;
  e.entry = j.at("entry").get<std::string>();
  e.samples = j.at("samples").get<int>();
  e.error = j.at("error").get<double>();
  for (const Json& v : j.at("values")) e.values.push_back(ValueFrom(v));
  for (const Json& p : j.at("products")) e.products.push_back(ProductFrom(p));
  return e;
}

}  // namespace

Json CalibrationJson(const Calibration& calibration) {
  Json j{{"method", RangeMethodName(calibration.method)}, {"max_error", calibration.max_error}};
  j["entries"] = Json::array();
  for (const CalibratedEntry& e : calibration.entries) j["entries"].push_back(EntryJson(e));
  return j;
}

Result<Calibration> CalibrationFromJson(const Json& json, DType precision) {
  Calibration out;
  out.precision = precision;
  try {
    const Result<RangeMethod> method = ParseRangeMethod(json.at("method").get<std::string>());
    if (!method.ok()) return Status(Code::kBadArtifact, "provenance: " + method.status().message());
    out.method = *method;
    out.max_error = json.at("max_error").get<double>();
    for (const Json& e : json.at("entries")) out.entries.push_back(EntryFrom(e));
  } catch (const Json::exception& error) {
    return Error(Code::kBadArtifact, "provenance: 'calibration': ", error.what());
  }
  return out;
}

}  // namespace aicf
