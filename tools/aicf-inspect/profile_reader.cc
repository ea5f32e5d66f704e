#include "tools/aicf-inspect/profile_reader.h"

#include <cmath>
#include <set>

#include "kernels/abi/kernel.h"
#include "tools/common/files.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

std::string TextAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : "";
}

double NumberAt(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_number() ? found->get<double>() : NAN;
}

const Json& ArgsOf(const Json& event) {
  static const Json kNone = Json::object();
  const auto args = event.find("args");
  return args != event.end() && args->is_object() ? *args : kNone;
}

Status Mismatch(const std::string& what) {
  return Error(Code::kInvalidArgument, what, "; the profile belongs to another artifact");
}

/// The step has the size that was measured. A step of the same nodes and kernel has another where
/// the model was compiled for other shapes. Numbers in the trace are read back exactly as they were
/// exported.
Status CheckSize(const Json& args, size_t index, const schema::Step& step) {
  const double bytes = abi::ByteCount(step.problem), flop = abi::FlopCount(step.problem);
  const double measured_bytes = NumberAt(args, "bytes"), measured_flop = NumberAt(args, "flop");
  if (measured_bytes == bytes && measured_flop == flop) return OkStatus();
  return Mismatch(StrCat("step ", index, " has ", FormatNumber(measured_bytes), " bytes and ",
                         FormatNumber(measured_flop), " FLOP, the artifact's has ",
                         FormatNumber(bytes), " and ", FormatNumber(flop)));
}

/// The event's step, checked against the plan.
Result<Json> StepOf(const Json& event, const schema::Program& program) {
  const Json& args = ArgsOf(event);
  const double number = NumberAt(args, "step");
  const double us = NumberAt(event, "dur");
  if (!(number >= 0 && number < static_cast<double>(program.steps.size()))) {
    return Mismatch(StrCat("it has a step ", args.at("step").dump(), ", the artifact has ",
                           program.steps.size(), " steps"));
  }
  const auto index = static_cast<size_t>(number);
  const schema::Step& step = program.steps[index];
  if (!(us >= 0 && std::isfinite(us))) {
    return Error(Code::kInvalidArgument, "step ", index, ": a duration was expected");
  }
  const std::string kernel = TextAt(args, "kernel");
  const std::string nodes = step.sources.empty() ? step.kernel : Join(step.sources, " + ");
  const bool reference = kernel == abi::ReferenceKey(step.problem.family);
  if (TextAt(event, "name") != nodes || (kernel != step.kernel && !reference)) {
    return Mismatch(StrCat("step ", index, " is ", Shorten(Escape(TextAt(event, "name")), 60),
                           " with ", Escape(kernel), ", the artifact's is ",
                           Shorten(Escape(nodes), 60), " with ", step.kernel));
  }
  AICF_RETURN_IF_ERROR(CheckSize(args, index, step));
  Json out{{"step", index}, {"us", us}};
  if (kernel != step.kernel) out["kernel"] = kernel;
  return out;
}

Result<Json> ReadTrace(const Json& trace, const schema::Program& program) {
  const auto events = trace.is_object() ? trace.find("traceEvents") : trace.end();
  if (events == trace.end() || !events->is_array()) {
    return Error(Code::kInvalidArgument, "no trace of aicf-run --export-profile");
  }
  Json out{{"device", ""}, {"steps", Json::array()}};
  std::set<size_t> seen;
  for (const Json& event : *events) {
    if (!event.is_object()) continue;
    if (TextAt(event, "name") == "thread_name") out["device"] = TextAt(ArgsOf(event), "name");
    if (TextAt(event, "ph") != "X" || !ArgsOf(event).contains("step")) continue;
    AICF_ASSIGN_OR_RETURN(Json step, StepOf(event, program));
    if (!seen.insert(step["step"].get<size_t>()).second) {
      return Error(Code::kInvalidArgument, "step ", step["step"].dump(), " is there twice");
    }
    out["steps"].push_back(std::move(step));
  }
  if (seen.empty()) return Error(Code::kInvalidArgument, "the trace names no steps");
  const auto other = trace.find("otherData");
  if (other != trace.end() && other->is_object()) {
    const double replay = NumberAt(*other, "replay_us");
    if (replay > 0) out["replay_us"] = replay;
  }
  return out;
}

}  // namespace

Result<Json> ReadProfile(const std::string& path, const schema::Program& program) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path));
  const auto* text = reinterpret_cast<const char*>(bytes.data());
  const Json trace = Json::parse(text, text + bytes.size(), nullptr, /*allow_exceptions=*/false);
  Result<Json> profile = ReadTrace(trace, program);
  if (!profile.ok()) return profile.status().WithContext(StrCat("--profile: ", Escape(path)));
  return profile;
}

}  // namespace aicf::tools
