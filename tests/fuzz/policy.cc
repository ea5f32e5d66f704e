/// A policy, as a file of clauses and as the flag's value; the sample compiled with it.
#include "compiler/edit/policy.h"

#include "tests/fuzz/planted.h"
#include "tests/fuzz/sample.h"
#include "tests/fuzz/scratch.h"
#include "tests/fuzz/target.h"
#include "tools/aicf-compile/decision_files.h"

namespace aicf::fuzz {
namespace {

void ReadNames(const Policy& policy) {
  for (const std::string& clause : policy.Clauses()) ReadWord(clause.substr(0, clause.find('=')));
}

void CheckPrint(const Policy& policy) {
  for (const std::string& clause : policy.Clauses()) {
    const auto again = Policy::ParseClause(clause);
    if (!again.ok()) Broken("a printed clause is refused: " + again.status().ToString());
    if (again->Clauses() != std::vector{clause}) Broken("a printed clause is another: " + clause);
  }
}

void Compile(const Policy& policy) {
  const Sample& sample = TheSample();
  CompileOptions options = sample.options;
  options.policy = policy;
  CheckTyped(Recompile(sample.artifact, options));
}

void RunPolicy(Input input) {
  const std::string text(TextOf(input));
  const Result<Policy> parsed = Policy::Parse(text);
  CheckTyped(parsed);
  TheScratch().Put("policy", text);
  Policy policy;
  const Status read =
      tools::ReadPolicy({TheScratch().Path("policy")}, TheSample().options.target, &policy);
  CheckTyped(read);
  if (!read.ok()) {
    // Names of no kernel are refused there, but an artifact may hold a policy with them.
    if (!parsed.ok()) return;
    policy = *parsed;
  }
  if (policy.empty()) return;
  if (Planted()) ReadNames(policy);
  CheckPrint(policy);
  Compile(policy);
}

}  // namespace

Target PolicyTarget() { return {"policy", &RunPolicy}; }

}  // namespace aicf::fuzz
