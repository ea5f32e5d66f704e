#include "tools/aicf-inspect/text.h"

#include <algorithm>
#include <map>
#include <set>

#include "base/status.h"
#include "schema/roots.h"
#include "tools/aicf-inspect/language.h"
#include "tools/common/keys.h"
#include "tools/common/text.h"
#include "tools/inspect/provenance.h"

namespace aicf::tools {
namespace {

using enum Table::Align;

/// The lines of a value stand below each other, the first one beside its key.
std::string KeyLines(const std::string& key, const std::vector<std::string>& lines) {
  std::string out;
  for (const std::string& line : lines) out += KeyLine(18, out.empty() ? key : "", Escape(line));
  return out;
}

std::string ProvenanceSection(std::string_view text) {
  const Json provenance = Json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!provenance.is_object() || provenance.empty()) return "";
  std::string out = "\nProvenance\n";
  for (const auto& [key, value] : provenance.items()) {
    const std::vector<std::string> lines = ProvenanceLines(value);
    const std::string& first = lines[0];
    if (first.empty() || first == "[]" || first == "{}" || first == "null") continue;
    out += KeyLines(Escape(key), lines);
  }
  return out;
}

std::string SectionTable(const schema::HeaderInfo& header) {
  Table table({{"section"}, {"offset", kRight}, {"bytes", kRight}, {"xxh3-128"}});
  for (const auto& section : header.sections) {
    table.Add({SectionName(section.kind), std::to_string(section.offset),
               std::to_string(section.bytes), ToHex(section.hash)});
  }
  return table.ToString("  ");
}

uint64_t CountWhere(const schema::Program& program, schema::Storage storage, schema::Role role) {
  return static_cast<uint64_t>(
      std::count_if(program.buffers.begin(), program.buffers.end(),
                    [&](const auto& b) { return b.storage == storage && b.role == role; }));
}

}  // namespace

std::string SectionName(schema::SectionKind kind) {
  switch (kind) {
    case schema::SectionKind::kProgram:
      return "program";
    case schema::SectionKind::kWeights:
      return "weights";
    case schema::SectionKind::kImages:
      return "images";
    case schema::SectionKind::kDecisions:
      return "decisions";
    case schema::SectionKind::kLowered:
      return "lowered";
    case schema::SectionKind::kLoweredWeights:
      return "lowered-weights";
    case schema::SectionKind::kGolden:
      return "golden";
    case schema::SectionKind::kProvenance:
      return "provenance";
    case schema::SectionKind::kLanguage:
      return "language";
    case schema::SectionKind::kSignature:
      return "signature";
  }
  return StrCat("section ", static_cast<uint32_t>(kind));
}

std::string StorageText(const schema::Buffer& buffer) {
  switch (buffer.storage) {
    case schema::Storage::kArena:
      return StrCat("arena +", buffer.offset);
    case schema::Storage::kWeights:
      return StrCat("weights +", buffer.offset);
    case schema::Storage::kState:
      return StrCat("state +", buffer.offset);
    default:
      return StrCat("in place of ", buffer.alias_of);
  }
}

std::string HeaderText(const schema::Artifact& artifact) {
  const schema::HeaderInfo& header = artifact.header();
  const schema::Program& program = artifact.program();
  std::string out = "Header\n";
  out += KeyLine(14, "format", StrCat(header.major, ".", header.minor));
  out += KeyLine(14, "target",
                 StrCat(Escape(program.target), ", math ", abi::MathModeName(program.math)));
  out += KeyLine(14, "file", FormatBytes(header.file_bytes));
  out += KeyLine(
      14, "peak memory",
      FormatBytes(header.peak_device_bytes) +
          (program.state_bytes == 0 ? "  arena and weights" : "  arena, weights and state"));
  out += KeyLine(14, "signed", SignedText(artifact));
  if (!program.images.empty()) {
    out += KeyLine(14, "images",
                   StrCat(program.images.size(), " for ", Escape(program.images[0].arch), ", ",
                          Escape(program.images[0].compiler)));
  }
  out += "\n" + SectionTable(header);
  return out + ProvenanceSection(artifact.text(schema::SectionKind::kProvenance)) + "\n";
}

namespace {

std::string Least(const schema::Program& program, uint32_t buffer, uint32_t axis, uint64_t lost) {
  return std::to_string(program.buffers[buffer].shape[static_cast<int>(axis)] -
                        static_cast<int64_t>(lost));
}

/// One line per padding: which axes, down to where, and what the outputs lose.
std::string PaddingsText(const schema::Program& program, const schema::EntryPoint& entry) {
  std::string out;
  for (const schema::Padding& p : entry.paddings) {
    const schema::PaddedInput& first = p.inputs[0];
    const schema::Buffer& buffer = program.buffers[entry.inputs[first.input]];
    const auto whole = static_cast<uint64_t>(buffer.shape[static_cast<int>(first.axis)]);
    std::string line;
    for (const schema::PaddedInput& i : p.inputs) {
      line += StrCat(line.empty() ? "" : ", ", "axis ", i.axis, " of ",
                     Escape(program.buffers[entry.inputs[i.input]].name));
    }
    line += StrCat(" may be padded from ", p.min, " positions");
    for (const schema::PaddedOutput& o : p.outputs) {
      const uint32_t output = entry.outputs[o.output];
      line += StrCat(", axis ", o.axis, " of ", Escape(program.buffers[output].name), " is then ",
                     Least(program, output, o.axis, (whole - p.min) * o.factor));
    }
    out += "  " + line + "\n";
  }
  return out;
}

}  // namespace

namespace {

/// A table of the states, which all entry points share, with the steps that give each its next
/// value. Empty without states.
std::string StatesText(const schema::Program& program) {
  Table table(
      {{"state"}, {"dtype"}, {"shape"}, {"bytes", kRight}, {"offset", kRight}, {"changed by"}});
  bool any = false;
  const std::vector<uint32_t> roots = schema::RootsOf(program);
  std::map<uint32_t, std::vector<std::string>> writers_of;  // by state
  for (size_t s = 0; s < program.steps.size(); ++s) {
    std::set<uint32_t> states;
    for (uint32_t out : program.steps[s].outputs) {
      if (schema::IsState(program.buffers[roots[out]])) states.insert(roots[out]);
    }
    for (uint32_t state : states) writers_of[state].push_back(std::to_string(s));
  }
  for (uint32_t b = 0; b < program.buffers.size(); ++b) {
    const schema::Buffer& state = program.buffers[b];
    if (!schema::IsState(state)) continue;
    any = true;
    const std::vector<std::string>& writers = writers_of[b];
    table.Add({Escape(state.name), std::string(DTypeName(state.dtype)), ToString(state.shape),
               std::to_string(state.bytes), std::to_string(state.offset),
               writers.empty() ? "no step"
                               : StrCat(writers.size() == 1 ? "step " : "steps ",
                                        Shorten(Join(writers, ", "), 60))});
  }
  return any ? "States\n" + table.ToString("  ") + "\n" : "";
}

}  // namespace

std::string EntryPointText(const schema::Artifact& artifact) {
  const schema::Program& program = artifact.program();
  std::string out = "Entry points\n";
  for (const schema::EntryPoint& entry : program.entry_points) {
    out += StrCat("  ", Escape(entry.name), "  steps ", entry.first_step, " to ",
                  entry.first_step + std::max(entry.step_count, 1u) - 1, "\n");
    Table table({{"tensor"}, {"dtype"}, {"shape"}, {"bytes", kRight}, {"role"}});
    const auto add = [&](uint32_t index, const std::string& role) {
      const schema::Buffer& b = program.buffers[index];
      table.Add({Escape(b.name), std::string(DTypeName(b.dtype)), ToString(b.shape),
                 std::to_string(b.bytes), role});
    };
    for (const uint32_t index : entry.inputs) add(index, "input");
    for (const uint32_t index : entry.metas) add(index, "meta");
    for (size_t o = 0; o < entry.outputs.size(); ++o) {
      const schema::OutputExtent* extent = entry.ExtentOf(o);
      std::string role = o < entry.model_outputs() ? "output" : "count";
      if (extent != nullptr) {
        const schema::Buffer& count = program.buffers[entry.outputs[extent->count]];
        role += StrCat(", axis ", extent->axis, " ends at ", Escape(count.name));
      }
      add(entry.outputs[o], role);
    }
    out += table.ToString("  ") + PaddingsText(program, entry);
    for (const schema::Loop& l : entry.loops) {
      out += StrCat("  loop: steps ", l.first_step, " to ", l.first_step + l.step_count - 1,
                    " repeat while ", Escape(program.buffers[l.condition].name), " holds\n");
    }
  }
  return out + "\n" + StatesText(program);
}

std::string MemoryText(const schema::Artifact& artifact) {
  const schema::Program& program = artifact.program();
  using schema::Role;
  using schema::Storage;
  uint64_t workspace = 0, in_place = 0;
  for (const schema::Step& step : program.steps) {
    workspace = std::max(workspace, step.workspace_bytes);
  }
  for (const schema::Buffer& b : program.buffers) in_place += b.storage == Storage::kAlias;
  std::string out = "Memory\n";
  out += KeyLine(14, "weights",
                 StrCat(FormatBytes(program.weights_bytes), " in ",
                        CountWhere(program, Storage::kWeights, Role::kConstant), " buffers"));
  std::string arena = FormatBytes(program.arena_bytes);
  if (program.arena_lower_bound > 0) {
    arena += StrCat(", ",
                    FormatNumber(static_cast<double>(program.arena_bytes) /
                                 static_cast<double>(program.arena_lower_bound)),
                    " x the lower bound of ", FormatBytes(program.arena_lower_bound));
  }
  out += KeyLine(14, "arena", arena);
  out += KeyLine(14, "temporaries",
                 StrCat(CountWhere(program, Storage::kArena, Role::kTemp),
                        " with memory of their own, ", in_place, " buffers in place"));
  if (program.state_bytes > 0) {
    out += KeyLine(14, "state",
                   StrCat(FormatBytes(program.state_bytes),
                          " of each session: ", ShortList(schema::StateNames(program), 5)));
    const std::string cache = CacheText(artifact);
    if (!cache.empty()) out += KeyLine(14, "cache", cache);
  }
  out += KeyLine(14, "workspace", StrCat(FormatBytes(workspace), " at most in one step"));
  return out + "\n";
}

std::string StepsText(const schema::Artifact& artifact) {
  const schema::Program& program = artifact.program();
  size_t nodes = 0;
  for (const schema::Step& step : program.steps) nodes += step.sources.size();
  std::string out = StrCat("Steps (", program.steps.size(), " for ", nodes, " source nodes)\n");
  Table table({{"step", kRight}, {"kernel"}, {"output"}, {"source nodes"}});
  for (size_t i = 0; i < program.steps.size(); ++i) {
    const schema::Step& step = program.steps[i];
    std::string output;
    if (!step.problem.outputs.empty()) {
      const abi::View& view = step.problem.outputs[0];
      output = StrCat(DTypeName(view.dtype), " ", ToString(view.shape));
    }
    table.Add({std::to_string(i), Escape(step.kernel), output,
               Shorten(Escape(Join(step.sources, " + ")), 100)});
  }
  return out + table.ToString("  ") + "\n";
}

}  // namespace aicf::tools
