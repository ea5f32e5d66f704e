#include <algorithm>

#include "schema/decision_json.h"
#include "tools/inspect/arena.h"
#include "tools/inspect/story.h"

namespace aicf::tools {
namespace {

Json Shape(const Dims& shape) { return std::vector<int64_t>(shape.begin(), shape.end()); }

Json DecisionsOf(const Evidence& evidence, const Story& story, Stage stage) {
  Json out = Json::array();
  for (size_t i : story.decisions) {
    if (StageOf(evidence.decisions[i]) == stage)
      out.push_back(schema::ToJson(evidence.decisions[i]));
  }
  return out;
}

Json LoweredJson(const Evidence& evidence, const Story& story) {
  Json out = Json::array();
  const RecordedProgram* before = evidence.LoweredOf(story.entry);
  if (before == nullptr) return out;
  for (size_t s : story.lowered) {
    const RecordedStep& step = before->steps[s];
    Json item{{"index", s},
              {"family", abi::FamilyName(step.problem.family)},
              {"sources", step.sources},
              {"problem", abi::ToString(step.problem)},
              {"outputs", Json::array()}};
    for (uint32_t b : step.outputs) {
      const RecordedBuffer& buffer = before->buffers[b];
      item["outputs"].push_back(Json{{"name", buffer.name},
                                     {"dtype", DTypeName(buffer.dtype)},
                                     {"shape", Shape(buffer.shape)}});
    }
    out.push_back(std::move(item));
  }
  return out;
}

Json BufferJson(const schema::Program& program, const std::vector<schema::Lifetime>& lifetimes,
                const BufferUse& use) {
  const schema::Buffer& b = program.buffers[use.buffer];
  Json out{{"value", use.buffer},     {"name", b.name},   {"dtype", DTypeName(b.dtype)},
           {"shape", Shape(b.shape)}, {"bytes", b.bytes}, {"role", schema::RoleName(b.role)}};
  if (b.storage == schema::Storage::kAlias) {
    out["in_place_of"] = program.buffers[b.alias_of].name;
  } else {
    const char* key = b.storage == schema::Storage::kWeights ? "weights_offset"
                      : schema::IsState(b)                   ? "state_offset"
                                                             : "arena_offset";
    out[key] = b.offset;
  }
  out["written_by"] = use.writers;
  out["read_by"] = use.readers;
  for (const schema::Lifetime& l : lifetimes) {
    if (std::ranges::find(l.buffers, use.buffer) == l.buffers.end()) continue;
    out["bytes_taken"] = Json{{"first", l.first}, {"last", l.last}};
  }
  return out;
}

Json BuffersJson(const schema::Program& program, size_t entry,
                 const std::vector<schema::Lifetime>& lifetimes,
                 const std::vector<uint32_t>& buffers) {
  Json out = Json::array();
  for (const BufferUse& use : UsesOf(program, entry, buffers)) {
    out.push_back(BufferJson(program, lifetimes, use));
  }
  return out;
}

Json StepStoryJson(const Evidence& evidence, const Story& story,
                   const std::vector<schema::Lifetime>& lifetimes, uint32_t s) {
  const schema::Program& program = *evidence.program;
  const schema::EntryPoint& entry = program.entry_points[story.entry];
  const schema::Step& step = program.steps[s];
  Json out{{"step", s},
           {"kernel", step.kernel},
           {"sources", step.sources},
           {"problem", abi::ToString(step.problem)},
           {"flop", abi::FlopCount(step.problem)},
           {"bytes", abi::ByteCount(step.problem)},
           {"decisions", Json::array()}};
  for (const Decision& d : evidence.decisions) {
    if (d.subject.step == static_cast<int>(s) && evidence.IsFor(d, story.entry)) {
      out["decisions"].push_back(schema::ToJson(d));
    }
  }
  out["reads"] = BuffersJson(program, story.entry, lifetimes, step.inputs);
  out["writes"] = BuffersJson(program, story.entry, lifetimes, step.outputs);
  out["workspace_bytes"] = step.workspace_bytes;
  if (step.workspace_bytes > 0) out["workspace_offset"] = step.workspace_offset;
  if (s > entry.first_step) out["before"] = s - 1;
  if (s + 1 < entry.first_step + entry.step_count) out["after"] = s + 1;
  if (step.stream != 0) out["stream"] = step.stream;
  if (!step.waits.empty()) out["waits"] = step.waits;
  if (step.programmatic) out["programmatic"] = true;
  for (const schema::Guard& g : step.guards) {
    out["guards"].push_back(
        Json{{"name", program.buffers[g.buffer].name}, {"expected", g.expected}});
  }
  return out;
}

}  // namespace

Json StoryJson(const Evidence& evidence, const Story& story) {
  const schema::Program& program = *evidence.program;
  Json out;
  if (story.node.empty()) {
    out["step"] = story.step;
  } else {
    out["node"] = story.node;
  }
  out["entry"] = program.entry_points[story.entry].name;
  out["fate"] = story.fate;
  out["graph"] = DecisionsOf(evidence, story, Stage::kGraph);
  out["lowered"] = LoweredJson(evidence, story);
  out["lowering"] = DecisionsOf(evidence, story, Stage::kLowering);
  out["fusion"] = DecisionsOf(evidence, story, Stage::kSteps);
  out["steps"] = Json::array();
  const auto lifetimes = schema::LifetimesOf(program, story.entry);
  for (uint32_t s : story.steps) {
    out["steps"].push_back(StepStoryJson(
        evidence, story, lifetimes.ok() ? *lifetimes : std::vector<schema::Lifetime>(), s));
  }
  return out;
}

}  // namespace aicf::tools
