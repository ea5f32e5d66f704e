/// Exported and edited decisions are read, printed and read again. Edits of the sample's decisions
/// are found and compiled. Each line that begins with "set " is a single edit.
#include "compiler/decisions/decisions.h"

#include "compiler/edit/wishes.h"
#include "tests/fuzz/planted.h"
#include "tests/fuzz/sample.h"
#include "tests/fuzz/target.h"
#include "tools/common/decisions.h"

namespace aicf::fuzz {
namespace {

constexpr std::string_view kSet = "set ";

struct Edits {
  std::string lines;
  std::vector<std::string> sets;
};

Edits EditsOf(std::string_view text) {
  Edits out;
  while (!text.empty()) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    if (line.starts_with(kSet)) {
      if (out.sets.size() < 4) out.sets.emplace_back(line.substr(kSet.size()));
    } else {
      out.lines += line;
      out.lines += '\n';
    }
  }
  return out;
}

void CheckPrint(const DecisionLog& log) {
  const std::string text = log.ToJsonLines();
  const auto again = DecisionLog::Parse(text);
  if (!again.ok()) Broken("printed decisions are refused: " + again.status().ToString());
  if (again->ToJsonLines() != text) Broken("printed decisions are read as others:\n" + text);
}

/// The sample compiled once more with these edits.
void Compile(const Edits& edits, const DecisionLog& log) {
  const Sample& sample = TheSample();
  const auto found = FindEdits(sample.decisions, log);
  CheckTyped(found);
  bool asked = found.ok() && !found->empty();
  CompileOptions options = sample.options;
  if (asked) options.decisions = log;
  for (const std::string& text : edits.sets) {
    const auto wish = ParseSet(text, sample.decisions);
    CheckTyped(wish);
    if (!wish.ok()) continue;
    options.sets.push_back(text);
    asked = true;
  }
  if (asked) CheckTyped(Recompile(sample.artifact, options));
}

void RunDecisions(Input input) {
  const Edits edits = EditsOf(TextOf(input));
  const auto log = DecisionLog::Parse(edits.lines);
  CheckTyped(log);
  (void)tools::DecisionsText(tools::ReadDecisions(edits.lines, TheSample().artifact->program()));
  if (!log.ok()) return;
  CheckPrint(*log);
  if (Planted()) ReadRarely(input);
  Compile(edits, *log);
}

}  // namespace

Target DecisionsTarget() { return {"decisions", &RunDecisions}; }

}  // namespace aicf::fuzz
