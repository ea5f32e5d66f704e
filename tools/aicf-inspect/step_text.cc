#include "base/status.h"
#include "tools/aicf-inspect/text.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

std::string OperandTable(const schema::Program& program, const schema::Step& step) {
  Table table({{"operand"},
               {"buffer"},
               {"dtype"},
               {"shape"},
               {"strides"},
               {"offset"},
               {"storage"},
               {"name"}});
  const auto add = [&](const std::string& operand, uint32_t index, const abi::View& view,
                       bool packed) {
    const schema::Buffer& buffer = program.buffers[index];
    table.Add({operand, std::to_string(index), std::string(DTypeName(view.dtype)),
               ToString(view.shape), packed ? "packed" : ToListString(view.strides),
               std::to_string(view.offset), StorageText(buffer), Escape(buffer.name)});
  };
  const abi::Problem& problem = step.problem;
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    const bool core = static_cast<int>(k) < problem.core_inputs;
    add(StrCat(core ? "in " : "extra ", k), step.inputs[k], problem.inputs[k], step.IsPacked(k));
  }
  for (size_t k = 0; k < step.outputs.size(); ++k) {
    add(StrCat("out ", k), step.outputs[k], problem.outputs[k], false);
  }
  return table.ToString("  ");
}

// "in 1 is constant 5f..., packed as cpu.gemm.panels16", for every packed operand with a record.
std::string OriginsText(const schema::Program& program, const schema::Step& step) {
  std::string out;
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    if (!step.IsPacked(k)) continue;
    const auto& origin = program.buffers[schema::RootOf(program, step.inputs[k])].origin;
    if (!origin) continue;
    out += KeyLine(12, "packed",
                   StrCat("in ", k, " as ", Escape(origin->layout), ", of the constant ",
                          ToHex(origin->hash)));
  }
  return out;
}

std::string EntryOf(const schema::Program& program, uint32_t step) {
  for (const schema::EntryPoint& e : program.entry_points) {
    if (step - e.first_step < e.step_count) return e.name;
  }
  return "";
}

std::string LaunchText(const schema::Step& step) {
  std::string out = StrCat("grid ", abi::ExtentText(step.launch.grid), ", block ",
                           abi::ExtentText(step.launch.block));
  if (step.launch.dynamic_shared_bytes > 0) {
    out += StrCat(", shared ", FormatBytes(step.launch.dynamic_shared_bytes));
  }
  return out;
}

// "stream 1, waits for step 3 and step 5".
std::string OrderText(const schema::Step& step) {
  std::string out = StrCat("stream ", step.stream);
  for (uint32_t earlier : step.waits) {
    out += StrCat(earlier == step.waits[0] ? ", waits for step " : " and step ", earlier);
  }
  return out;
}

}  // namespace

std::string StepText(const schema::Artifact& artifact, uint32_t index,
                     const DecisionLines& decisions) {
  const schema::Program& program = artifact.program();
  const schema::Step& step = program.steps[index];
  const abi::Problem& problem = step.problem;
  const std::string entry = EntryOf(program, index);
  std::string out = StrCat("Step ", index, " of ", program.steps.size(), "\n");
  if (program.entry_points.size() > 1) out += KeyLine(12, "entry", Escape(entry));
  out += KeyLine(12, "kernel", Escape(step.kernel));
  if (!step.parameters.empty()) out += KeyLine(12, "parameters", abi::ToString(step.parameters));
  out += KeyLine(12, "family", std::string(abi::FamilyName(problem.family)));
  out += KeyLine(12, "sources", Escape(Join(step.sources, " + ")));
  out += KeyLine(12, "arithmetic",
                 StrCat(FormatNumber(abi::FlopCount(problem) / 1e6), " MFLOP, ",
                        FormatBytes(static_cast<uint64_t>(abi::ByteCount(problem))),
                        " moved, math ", abi::MathModeName(problem.math)));
  if (step.workspace_bytes > 0) {
    out += KeyLine(12, "workspace",
                   StrCat(FormatBytes(step.workspace_bytes), " at arena +", step.workspace_offset));
  }
  if (step.image >= 0) {
    out +=
        KeyLine(12, "launch", StrCat(LaunchText(step), step.programmatic ? ", programmatic" : ""));
    out += KeyLine(12, "symbol", StrCat(Escape(step.symbol), " in image ", step.image));
  }
  if (step.stream != 0 || !step.waits.empty()) out += KeyLine(12, "order", OrderText(step));
  if (!step.algorithm.empty()) {
    out += KeyLine(12, "algorithm",
                   StrCat(step.algorithm.size(), " bytes, recorded with library version ",
                          step.library_version));
  }
  out += OriginsText(program, step);
  if (!problem.prologue.empty()) out += KeyLine(12, "prologue", ToString(problem.prologue));
  if (!problem.epilogue.empty()) out += KeyLine(12, "epilogue", ToString(problem.epilogue));
  if (!problem.score.empty()) out += KeyLine(12, "score", ToString(problem.score));
  out += KeyLine(12, "problem", ToString(problem));
  out += "\n" + OperandTable(program, step) + "\nDecisions\n";
  std::vector<const Decision*> shown;
  for (const Decision& decision : decisions.decisions) {
    if (MadeFor(decision, entry) && Concerns(decision, index, step)) shown.push_back(&decision);
  }
  return out + (shown.empty() ? "  none recorded\n" : DecisionListText(shown, "  "));
}

}  // namespace aicf::tools
