#include "tools/aicf-inspect/json.h"

#include <map>

#include "schema/roots.h"
#include "schema/signature.h"
#include "tools/aicf-inspect/language.h"
#include "tools/aicf-inspect/text.h"

namespace aicf::tools {
namespace {

/// Null for an artifact without a signature.
Json SignatureJson(const schema::Artifact& artifact) {
  if (!artifact.is_signed()) return nullptr;
  const Result<schema::Signer> signer = schema::SignerOf(artifact);
  if (!signer.ok()) return Json{{"error", signer.status().message()}};
  return Json{{"key", schema::KeyName(signer->key)}, {"valid", signer->valid}};
}

Json HeaderJson(const schema::Artifact& artifact) {
  const schema::HeaderInfo& header = artifact.header();
  const schema::Program& program = artifact.program();
  Json out;
  out["format"] = StrCat(header.major, ".", header.minor);
  out["target"] = program.target;
  out["math"] = abi::MathModeName(program.math);
  out["file_bytes"] = header.file_bytes;
  out["peak_device_bytes"] = header.peak_device_bytes;
  out["arena_bytes"] = program.arena_bytes;
  out["arena_lower_bound"] = program.arena_lower_bound;
  out["weights_bytes"] = program.weights_bytes;
  out["state_bytes"] = program.state_bytes;
  out["sections"] = Json::array();
  for (const auto& s : header.sections) {
    out["sections"].push_back(Json{{"kind", SectionName(s.kind)},
                                   {"offset", s.offset},
                                   {"bytes", s.bytes},
                                   {"hash", ToHex(s.hash)}});
  }
  out["signature"] = SignatureJson(artifact);
  out["images"] = Json::array();
  for (const schema::Image& image : program.images) {
    out["images"].push_back(Json{{"arch", image.arch},
                                 {"compiler", image.compiler},
                                 {"bytes", image.bytes},
                                 {"hash", ToHex(image.hash)}});
  }
  Json provenance = Json::parse(artifact.text(schema::SectionKind::kProvenance), nullptr,
                                /*allow_exceptions=*/false);
  out["provenance"] = provenance.is_object() ? std::move(provenance) : Json::object();
  return out;
}

Json PaddingJson(const schema::Padding& padding) {
  Json out{{"min", padding.min}, {"inputs", Json::array()}, {"outputs", Json::array()}};
  for (const schema::PaddedInput& i : padding.inputs) {
    out["inputs"].push_back(Json{{"input", i.input}, {"axis", i.axis}});
  }
  for (const schema::PaddedOutput& o : padding.outputs) {
    out["outputs"].push_back(Json{{"output", o.output}, {"axis", o.axis}, {"factor", o.factor}});
  }
  return out;
}

Json EntryPointsJson(const schema::Program& program) {
  auto out = Json::array();
  for (const schema::EntryPoint& entry : program.entry_points) {
    const auto tensors = [&](const std::vector<uint32_t>& buffers) {
      auto list = Json::array();
      for (const uint32_t index : buffers) {
        const schema::Buffer& b = program.buffers[index];
        list.push_back(Json{{"name", b.name},
                            {"dtype", DTypeName(b.dtype)},
                            {"shape", std::vector<int64_t>(b.shape.begin(), b.shape.end())},
                            {"value", index}});
      }
      return list;
    };
    Json item{{"name", entry.name},
              {"inputs", tensors(entry.inputs)},
              {"outputs", tensors(entry.outputs)},
              {"first_step", entry.first_step},
              {"step_count", entry.step_count}};
    if (!entry.metas.empty()) item["metas"] = tensors(entry.metas);
    for (const schema::OutputExtent& x : entry.extents) {
      item["extents"].push_back(Json{{"output", x.output}, {"axis", x.axis}, {"count", x.count}});
    }
    for (const schema::Loop& l : entry.loops) {
      item["loops"].push_back(Json{
          {"first_step", l.first_step}, {"step_count", l.step_count}, {"condition", l.condition}});
    }
    for (const schema::Padding& p : entry.paddings) item["paddings"].push_back(PaddingJson(p));
    out.push_back(std::move(item));
  }
  return out;
}

Json StatesJson(const schema::Program& program) {
  auto out = Json::array();
  std::map<uint32_t, Json> in_place_of;  // by state: the buffers in its place, by entry point
  const std::vector<uint32_t> roots = schema::RootsOf(program);
  for (uint32_t u = 0; u < roots.size(); ++u) {
    if (roots[u] == u || !schema::IsState(program.buffers[roots[u]])) continue;
    in_place_of.try_emplace(roots[u], Json::array()).first->second.push_back(u);
  }
  for (uint32_t i = 0; i < program.buffers.size(); ++i) {
    const schema::Buffer& b = program.buffers[i];
    if (!schema::IsState(b)) continue;
    Json& updates = in_place_of.try_emplace(i, Json::array()).first->second;
    out.push_back(Json{{"name", b.name},
                       {"dtype", DTypeName(b.dtype)},
                       {"shape", std::vector<int64_t>(b.shape.begin(), b.shape.end())},
                       {"bytes", b.bytes},
                       {"value", i},
                       {"updates", std::move(updates)}});
  }
  return out;
}

Json ValuesJson(const schema::Program& program) {
  constexpr const char* kStorage[] = {"arena", "weights", "alias", "state"};
  auto out = Json::array();
  for (size_t i = 0; i < program.buffers.size(); ++i) {
    const schema::Buffer& b = program.buffers[i];
    Json value = {{"value", i},
                  {"name", b.name},
                  {"dtype", DTypeName(b.dtype)},
                  {"shape", std::vector<int64_t>(b.shape.begin(), b.shape.end())},
                  {"bytes", b.bytes},
                  {"role", schema::RoleName(b.role)},
                  {"storage", kStorage[static_cast<size_t>(b.storage)]}};
    if (b.storage == schema::Storage::kAlias) {
      value["alias_of"] = b.alias_of;
    } else {
      value["offset"] = b.offset;
    }
    if (b.origin) {
      value["origin"] = Json{{"layout", b.origin->layout}, {"hash", ToHex(b.origin->hash)}};
    }
    out.push_back(std::move(value));
  }
  return out;
}

Json StepJson(size_t index, const schema::Step& step) {
  Json out = {{"step", index},
              {"kernel", step.kernel},
              {"family", abi::FamilyName(step.problem.family)},
              {"sources", step.sources},
              {"inputs", step.inputs},
              {"outputs", step.outputs},
              {"problem", abi::ToString(step.problem)},
              {"flop", abi::FlopCount(step.problem)},
              {"bytes", abi::ByteCount(step.problem)},
              {"workspace_bytes", step.workspace_bytes}};
  if (step.workspace_bytes > 0) out["workspace_offset"] = step.workspace_offset;
  if (step.packed_inputs != 0) out["packed_inputs"] = step.packed_inputs;
  for (const abi::Parameter& p : step.parameters) out["parameters"][p.name] = p.value;
  if (step.image >= 0) {
    out["grid"] = step.launch.grid;
    out["block"] = step.launch.block;
    out["cluster"] = step.launch.cluster;
    out["dynamic_shared_bytes"] = step.launch.dynamic_shared_bytes;
    out["image"] = step.image;
    out["symbol"] = step.symbol;
  }
  if (!step.algorithm.empty()) out["library_version"] = step.library_version;
  if (step.stream != 0) out["stream"] = step.stream;
  if (!step.waits.empty()) out["waits"] = step.waits;
  if (step.programmatic) out["programmatic"] = true;
  return out;
}

}  // namespace

Json ArtifactData(const schema::Artifact& artifact, const DecisionLines& decisions) {
  const schema::Program& program = artifact.program();
  Json out;
  out["header"] = HeaderJson(artifact);
  if (Json language = LanguageJson(artifact); !language.is_null()) {
    out["language"] = std::move(language);
  }
  out["entry_points"] = EntryPointsJson(program);
  out["states"] = StatesJson(program);
  out["values"] = ValuesJson(program);
  out["steps"] = Json::array();
  for (size_t i = 0; i < program.steps.size(); ++i) {
    out["steps"].push_back(StepJson(i, program.steps[i]));
  }
  out["decisions"] = DecisionsJson(decisions.decisions);
  for (const DecisionLines::Unread& u : decisions.unread) {
    out["unread_decisions"].push_back(Json{{"line", u.line}, {"why", u.why}});
  }
  return out;
}

std::string ArtifactJson(const schema::Artifact& artifact, const DecisionLines& decisions) {
  return ArtifactData(artifact, decisions).dump(1, ' ', false, Json::error_handler_t::replace) +
         "\n";
}

}  // namespace aicf::tools
