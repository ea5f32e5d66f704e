#include "compiler/source/provenance.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "compiler/source/calibration_json.h"
#include "schema/decision_json.h"

namespace aicf {
namespace {

using Json = nlohmann::ordered_json;

Json ShapesJson(const ShapeMap& shapes) {
  Json out = Json::object();
  for (const auto& [name, shape] : shapes) {
    out[name] = std::vector<int64_t>(shape.begin(), shape.end());
  }
  return out;
}

Json LanguageJson(const language::LanguageOptions& o) {
  return Json{
      {"context", o.context}, {"page", o.page},
      {"cache", o.cache},     {"prefill", o.prefill},
      {"decode", o.decode},   {"cache_dtype", DTypeName(o.cache_dtype.value_or(DType::kF32))},
      {"logits", o.logits}};
}

// "h:hn" for each pair that was asked for, "auto" after them.
Json StatesJson(const CompileOptions& o) {
  Json out = Json::array();
  for (const StatePair& pair : o.states) out.push_back(Json::array({pair.past, pair.present}));
  if (o.auto_states) out.push_back("auto");
  return out;
}

Json WishJson(const Wish& wish) {
  const Decision& d = wish.decision;
  return Json{
      {"kind", KindName(d.kind)}, {"entry", d.subject.entry}, {"subject", ToString(d.subject)},
      {"nodes", d.subject.nodes}, {"into", d.subject.into},   {"occurrence", wish.occurrence},
      {"choice", d.choice},       {"asked_by", wish.origin}};
}

// Versions of the libraries whose algorithms the plan replays.
Json Libraries(const schema::Program& program) {
  Json versions = Json::object();
  for (const schema::Step& step : program.steps) {
    if (step.library_version == 0) continue;
    versions[step.kernel.substr(0, step.kernel.find('.'))] = step.library_version;
  }
  return versions;
}

// Reads one object; nlohmann's exceptions end here.
class Reader {
 public:
  explicit Reader(const Json& object) : object_(object) {}

  template <class T>
  void Read(const char* key, T& out) {
    const auto found = object_.find(key);
    if (found == object_.end()) return Fail(key, "is missing");
    try {
      out = found->get<T>();
    } catch (const Json::exception&) {
      Fail(key, "has another type than expected");
    }
  }
  const Json* Find(const char* key) {
    const auto found = object_.find(key);
    if (found != object_.end() && found->is_object()) return &*found;
    Fail(key, "is no object");
    return nullptr;
  }
  void Fail(std::string_view key, std::string_view why) {
    if (status_.ok()) status_ = Error(Code::kBadArtifact, "provenance: '", key, "' ", why);
  }
  const Status& status() const { return status_; }

 private:
  const Json& object_;
  Status status_;
};

void ReadShapes(Reader& reader, const char* key, const Json& json, ShapeMap& out) {
  for (const auto& [name, extents] : json.items()) {
    try {
      const auto values = extents.get<std::vector<int64_t>>();
      if (values.size() > static_cast<size_t>(kMaxRank)) return reader.Fail(key, "has a bad shape");
      Dims shape;
      for (int64_t v : values) shape.push_back(v);
      out[name] = shape;
    } catch (const Json::exception&) {
      reader.Fail(key, "holds something that is no shape");
    }
  }
}

// Line by line, which reads better than one string.
Json LinesJson(std::string_view text) {
  Json lines = Json::array();
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size() - 1);
    lines.push_back(text.substr(0, end + 1 - (text[end] == '\n')));
    text.remove_prefix(end + 1);
  }
  return lines;
}

// Absent in artifacts without measured times.
void ReadTimings(Reader& reader, const Json& json, std::string& out) {
  if (!json.contains("timings")) return;
  std::vector<std::string> lines;
  reader.Read("timings", lines);
  for (const std::string& line : lines) out += line + "\n";
}

Status ReadWish(const Json& json, Wishes& wishes) {
  if (!json.is_object()) return Status(Code::kBadArtifact, "provenance: an edit is no object");
  Result<Decision> decision = schema::DecisionFromJson(json);
  if (!decision.ok()) {
    return Error(Code::kBadArtifact, "provenance: an edit: ", decision.status().message());
  }
  Reader reader(json);
  Wish wish{*std::move(decision), 0, {}};
  reader.Read("occurrence", wish.occurrence);
  reader.Read("asked_by", wish.origin);
  wishes.Add(std::move(wish));
  return reader.status();
}

// Absent where nothing was asked for.
Status ReadStates(const Json& json, CompileOptions& o) {
  const auto states = json.find("states");
  if (states != json.end()) {
    for (const Json& state : *states) {
      if (state == "auto") {
        o.auto_states = true;
      } else if (state.is_array() && state.size() == 2 && state[0].is_string() &&
                 state[1].is_string()) {
        o.states.push_back({state[0].get<std::string>(), state[1].get<std::string>()});
      } else {
        return Status(Code::kBadArtifact, "provenance: 'states' holds no pair of names");
      }
    }
  }
  if (!json.contains("metas")) return OkStatus();
  Reader reader(json);
  reader.Read("metas", o.metas);
  return reader.status();
}

// Absent for other than language models.
Status ReadLanguage(const Json& json, CompileOptions& o) {
  const auto found = json.find("language");
  if (found == json.end()) return OkStatus();
  if (!found->is_object()) return Status(Code::kBadArtifact, "provenance: 'language' is no object");
  Reader reader(*found);
  language::LanguageOptions& l = o.language;
  std::string dtype;
  reader.Read("context", l.context);
  reader.Read("page", l.page);
  reader.Read("cache", l.cache);
  reader.Read("prefill", l.prefill);
  reader.Read("decode", l.decode);
  reader.Read("cache_dtype", dtype);
  reader.Read("logits", l.logits);
  AICF_RETURN_IF_ERROR(reader.status());
  const std::optional<DType> parsed = ParseDType(dtype);
  if (!parsed) return Error(Code::kBadArtifact, "provenance: dtype '", dtype, "' is unknown");
  l.cache_dtype = *parsed;
  o.math_given = true;
  return OkStatus();
}

Status ReadOptions(const Json& json, Provenance& out) {
  Reader reader(json);
  CompileOptions& o = out.options;
  std::string math;
  std::vector<std::string> policy, edits;
  reader.Read("target", o.target);
  reader.Read("math", math);
  reader.Read("deterministic", o.deterministic);
  // Absent where it was not asked for.
  std::string precision = "fp32";
  if (json.contains("precision")) reader.Read("precision", precision);
  if (json.contains("nan_branches")) reader.Read("nan_branches", o.nan_branches);
  reader.Read("policy", policy);
  reader.Read("policy_strict", o.policy_strict);
  reader.Read("disabled_passes", o.passes.disabled);
  reader.Read("disabled_fusion", o.no_fusion);
  reader.Read("device_code", o.images);
  reader.Read("stripped", o.strip);
  reader.Read("values", out.values);
  if (const Json* shapes = reader.Find("shapes")) ReadShapes(reader, "shapes", *shapes, o.shapes);
  if (const Json* buckets = reader.Find("buckets")) {
    for (const auto& [name, shapes] : buckets->items()) {
      o.buckets.push_back({name, {}});
      ReadShapes(reader, "buckets", shapes, o.buckets.back().shapes);
    }
  }
  AICF_RETURN_IF_ERROR(reader.status());
  AICF_RETURN_IF_ERROR(ReadStates(json, o));
  AICF_RETURN_IF_ERROR(ReadLanguage(json, o));
  const std::optional<abi::MathMode> mode = abi::ParseMathMode(math);
  if (!mode) return Error(Code::kBadArtifact, "provenance: math mode '", math, "' is unknown");
  o.math = *mode;
  const Result<DType> stored = ParsePrecision(precision);
  if (!stored.ok()) {
    return Error(Code::kBadArtifact, "provenance: precision '", precision, "' is unknown");
  }
  o.precision = *stored;
  if (json.contains("calibration")) {
    AICF_ASSIGN_OR_RETURN(o.calibration, CalibrationFromJson(json["calibration"], o.precision));
  }
  for (const std::string& clause : policy) {
    AICF_ASSIGN_OR_RETURN(const Policy one, Policy::ParseClause(clause));
    AICF_RETURN_IF_ERROR(o.policy.Add(one));
  }
  const auto found = json.find("edits");
  if (found == json.end() || !found->is_array()) {
    return Status(Code::kBadArtifact, "provenance: 'edits' is no list");
  }
  for (const Json& edit : *found) AICF_RETURN_IF_ERROR(ReadWish(edit, o.wishes));
  return OkStatus();
}

}  // namespace

std::string DescribeValue(const ir::Tensor& value) {
  return StrCat(DTypeName(value.dtype()), " ", ToString(value.shape()), " ",
                ToHex(HashBytes(value.bytes())));
}

std::string WriteProvenance(const Provenance& provenance, const schema::Program& program) {
  const CompileOptions& o = provenance.options;
  Json j;
  j["tool"] = "aicf-compile " AICF_VERSION;
  j["kernel_abi"] = abi::kKernelAbiVersion;
  j["model_xxh3_128"] = provenance.model_hash;
  j["target"] = program.target;
  j["math"] = abi::MathModeName(o.math);
  if (o.precision != DType::kF32) j["precision"] = PrecisionName(o.precision);
  if (!o.calibration.empty()) j["calibration"] = CalibrationJson(o.calibration);
  if (o.language != language::LanguageOptions()) j["language"] = LanguageJson(o.language);
  j["shapes"] = ShapesJson(o.shapes);
  j["buckets"] = Json::object();
  for (const Bucket& b : o.buckets) j["buckets"][b.name] = ShapesJson(b.shapes);
  if (!o.states.empty() || o.auto_states) j["states"] = StatesJson(o);
  if (!o.metas.empty()) j["metas"] = o.metas;
  j["values"] = Json::object();
  for (const auto& [name, value] : provenance.values) j["values"][name] = value;
  j["deterministic"] = o.deterministic;
  if (o.nan_branches) j["nan_branches"] = true;
  j["policy"] = o.policy.Clauses();
  j["policy_strict"] = o.policy_strict;
  j["disabled_passes"] = o.passes.disabled;
  j["disabled_fusion"] = o.no_fusion;
  j["edits"] = Json::array();
  for (const Wish& wish : o.wishes.all()) j["edits"].push_back(WishJson(wish));
  // A CPU artifact has none either way, and one for a GPU made from it shall have some.
  j["device_code"] = o.images || !program.target.starts_with("cuda");
  j["stripped"] = o.strip;
  j["device_compiler"] = program.images.empty() ? "" : program.images[0].compiler;
  j["libraries"] = Libraries(program);
  const std::string timings = o.costs != nullptr ? o.costs->UsedTimings() : provenance.timings;
  if (!timings.empty()) j["timings"] = LinesJson(timings);
  return j.dump(2, ' ', false, Json::error_handler_t::replace);
}

Result<Provenance> ReadProvenance(std::string_view text) {
  const Json json = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!json.is_object()) return Status(Code::kBadArtifact, "provenance: it is no JSON object");
  Provenance out;
  Reader reader(json);
  reader.Read("tool", out.tool);
  reader.Read("model_xxh3_128", out.model_hash);
  reader.Read("device_compiler", out.device_compiler);
  ReadTimings(reader, json, out.timings);
  AICF_RETURN_IF_ERROR(reader.status());
  AICF_RETURN_IF_ERROR(ReadOptions(json, out));
  return out;
}

}  // namespace aicf
