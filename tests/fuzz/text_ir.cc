/// Programs as text: graphs, lowered programs, plans, problems and expressions. What is read is
/// printed and read again, which has to give the same text.
#include "compiler/ir/text.h"

#include "kernels/abi/expr.h"
#include "kernels/abi/parameters.h"
#include "kernels/abi/problem.h"
#include "schema/program.h"
#include "schema/verify.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/target.h"
#include "tools/common/lowered.h"

namespace aicf::fuzz {
namespace {

/// Reads what `text` was printed of again.
template <class Read>
void CheckPrint(const std::string& text, const Read& read) {
  const auto again = read(text);
  if (!again.ok())
    Broken(StrCat("printed text is refused: ", again.status().message(), "\n", text));
  if (ToString(*again) != text) Broken("printed text is read as something else:\n" + text);
}

void RunGraph(std::string_view text) {
  const auto graph = ir::ParseGraph(text);
  CheckTyped(graph);
  if (!graph.ok()) return;
  (void)ir::Verify(*graph);
  CheckPrint(ir::ToString(*graph), [](const std::string& t) { return ir::ParseGraph(t); });
}

void RunLowered(std::string_view text) {
  CheckTyped(tools::ReadLowered(text));
  const auto lowered = ir::ParseLowered(text);
  CheckTyped(lowered);
  if (!lowered.ok()) return;
  (void)ir::Verify(*lowered);
  CheckPrint(ir::ToString(*lowered), [](const std::string& t) { return ir::ParseLowered(t); });
}

void RunProgram(std::string_view text) {
  const auto program = schema::ParseProgram(text);
  CheckTyped(program);
  if (!program.ok()) return;
  CheckTyped(schema::VerifyProgram(*program));
  CheckPrint(schema::ToString(*program),
             [](const std::string& t) { return schema::ParseProgram(t); });
}

void RunParts(std::string_view text) {
  const auto expr = abi::ParseExpr(text);
  CheckTyped(expr);
  if (expr.ok())
    CheckPrint(abi::ToString(*expr), [](const std::string& t) { return abi::ParseExpr(t); });
  const auto parameters = abi::ParseParameters(text);
  CheckTyped(parameters);
  const auto problem = abi::ParseProblem(text);
  CheckTyped(problem);
  if (!problem.ok()) return;
  (void)abi::ValidateProblem(*problem);
  CheckPrint(abi::ToString(*problem), [](const std::string& t) { return abi::ParseProblem(t); });
}

void RunTextIr(Input input) {
  const std::string_view text = TextOf(input);
  if (Planted() && (ir::ParseGraph(text).ok() || schema::ParseProgram(text).ok() ||
                    ir::ParseLowered(text).ok())) {
    ReadRarely(input);
  }
  if (text.starts_with("graph")) return RunGraph(text);
  if (text.starts_with("lowered")) return RunLowered(text);
  RunProgram(text);
  RunParts(text);
}

}  // namespace

Target TextIrTarget() { return {"text_ir", &RunTextIr}; }

}  // namespace aicf::fuzz
