#include "compiler/edit/policy.h"

#include <algorithm>
#include <charconv>

#include "base/pattern.h"

namespace aicf {
namespace {

using Subject = PolicyClause::Subject;

constexpr std::string_view kNodePrefix = "node:", kStepPrefix = "step.";

constexpr std::string_view kProgrammaticValue = "programmatic", kFullValue = "full";

struct KernelName {
  abi::Family family;
  std::string_view name;
  std::string_view key;      // empty: there is no such kernel
  std::string_view missing;  // what it would need
};

constexpr KernelName kKernelNames[] = {
#define AICF_KERNEL_NAME(family, name, key, missing) {abi::Family::family, name, key, missing},
#include "compiler/edit/kernel_names.def"
#undef AICF_KERNEL_NAME
};

bool NamesKernel(const PolicyClause& c) { return !c.math && !c.programmatic; }

Status BadClause(std::string_view clause) {
  return Error(Code::kInvalidArgument, "policy clause '", clause,
               "': expected FAMILY=VALUE, node:PATTERN=VALUE or step.N=VALUE, where VALUE is a "
               "kernel, a part of its name, a math mode, or 'programmatic' or 'full' for launches");
}

bool IsFamily(std::string_view name) {
  for (int f = 0; f < abi::kFamilyCount; ++f) {
    if (abi::FamilyName(static_cast<abi::Family>(f)) == name) return true;
  }
  return false;
}

bool IsNumber(std::string_view text) {
  uint32_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

Result<PolicyClause> ReadClause(std::string_view text) {
  // Node names may hold '='; kernels and modes do not.
  const size_t equals = text.rfind('=');
  if (equals == std::string_view::npos || equals + 1 == text.size()) return BadClause(text);
  const std::string_view subject = text.substr(0, equals), value = text.substr(equals + 1);
  PolicyClause clause;
  if (subject.starts_with(kNodePrefix)) {
    clause.subject = Subject::kNode;
    clause.name = subject.substr(kNodePrefix.size());
  } else if (subject.starts_with(kStepPrefix)) {
    clause.subject = Subject::kStep;
    clause.name = subject.substr(kStepPrefix.size());
    if (!IsNumber(clause.name)) return BadClause(text);
  } else {
    clause.name = subject == "matmul" ? "gemm" : subject;
    if (!IsFamily(clause.name)) return BadClause(text);
  }
  if (clause.name.empty()) return BadClause(text);
  clause.math = abi::ParseMathMode(value);
  if (value == kProgrammaticValue || value == kFullValue)
    clause.programmatic = value == kProgrammaticValue;
  if (NamesKernel(clause)) clause.kernel = value;
  return clause;
}

std::string SubjectText(const PolicyClause& c) {
  if (c.subject == Subject::kNode) return StrCat(kNodePrefix, c.name);
  if (c.subject == Subject::kStep) return StrCat(kStepPrefix, c.name);
  return c.name;
}

bool SameQuestion(const PolicyClause& a, const PolicyClause& b) {
  return a.subject == b.subject && a.name == b.name && a.math.has_value() == b.math.has_value() &&
         a.programmatic.has_value() == b.programmatic.has_value();
}

bool Speaks(const PolicyClause& c, abi::Family family, const std::vector<std::string>& sources) {
  switch (c.subject) {
    case Subject::kFamily:
      return c.name == abi::FamilyName(family);
    case Subject::kNode:
      return std::ranges::any_of(sources,
                                 [&](const std::string& s) { return MatchesPattern(c.name, s); });
    case Subject::kStep:
      // Math is decided before fusion, while the product is one of the step's source nodes.
      return c.math ? !sources.empty() && IsSubset(sources, c.nodes) : sources == c.nodes;
  }
  return false;
}

// The clause that counts, among those for which `wanted` holds.
template <class Wanted>
const PolicyClause* Find(const std::vector<PolicyClause>& clauses, abi::Family family,
                         const std::vector<std::string>& sources, Wanted wanted) {
  const PolicyClause* best = nullptr;
  for (const PolicyClause& c : clauses) {
    if (!wanted(c) || !Speaks(c, family, sources)) continue;
    if (best == nullptr || c.subject >= best->subject) best = &c;
  }
  return best;
}

}  // namespace

Result<Policy> Policy::Parse(std::string_view text) {
  Policy policy;
  while (!text.empty()) {
    const std::string_view clause = text.substr(0, text.find(','));
    text.remove_prefix(std::min(clause.size() + 1, text.size()));
    AICF_ASSIGN_OR_RETURN(const Policy one, ParseClause(clause));
    AICF_RETURN_IF_ERROR(policy.Add(one));
  }
  return policy;
}

Result<Policy> Policy::ParseClause(std::string_view text) {
  AICF_ASSIGN_OR_RETURN(PolicyClause clause, ReadClause(text));
  Policy policy;
  policy.clauses_.push_back(std::move(clause));
  return policy;
}

Status Policy::Add(const Policy& other) {
  for (const PolicyClause& c : other.clauses_) {
    const auto same = [&](const PolicyClause& known) { return SameQuestion(known, c); };
    if (std::ranges::any_of(clauses_, same)) {
      return Error(Code::kInvalidArgument, "policy: '", SubjectText(c), "' is given twice");
    }
    clauses_.push_back(c);
  }
  return OkStatus();
}

bool Policy::NamesSteps() const {
  return std::ranges::any_of(clauses_,
                             [](const PolicyClause& c) { return c.subject == Subject::kStep; });
}

Status Policy::NameSteps(const std::vector<std::vector<std::string>>& sources_of_steps) {
  for (PolicyClause& c : clauses_) {
    if (c.subject != Subject::kStep) continue;
    size_t step = 0;
    std::from_chars(c.name.data(), c.name.data() + c.name.size(), step);
    if (step >= sources_of_steps.size()) {
      return Error(Code::kInvalidArgument, "policy: there is no step ", c.name, ", the plan has ",
                   sources_of_steps.size());
    }
    c.nodes = sources_of_steps[step];
  }
  return OkStatus();
}

std::vector<abi::MathMode> Policy::MathModes() const {
  std::vector<abi::MathMode> modes;
  for (const PolicyClause& c : clauses_) {
    if (c.math && !std::ranges::count(modes, *c.math)) modes.push_back(*c.math);
  }
  return modes;
}

std::vector<std::string> Policy::NodePatterns() const {
  std::vector<std::string> patterns;
  for (const PolicyClause& c : clauses_) {
    if (c.subject == Subject::kNode) patterns.push_back(c.name);
  }
  return patterns;
}

std::string_view Policy::KernelFor(abi::Family family,
                                   const std::vector<std::string>& sources) const {
  const PolicyClause* c = Find(clauses_, family, sources, NamesKernel);
  return c == nullptr ? std::string_view() : std::string_view(c->kernel);
}

std::optional<abi::MathMode> Policy::MathFor(abi::Family family,
                                             const std::vector<std::string>& sources) const {
  const PolicyClause* c = Find(clauses_, family, sources,
                               [](const PolicyClause& clause) { return clause.math.has_value(); });
  return c == nullptr ? std::nullopt : c->math;
}

std::optional<bool> Policy::ProgrammaticFor(abi::Family family,
                                            const std::vector<std::string>& sources) const {
  const PolicyClause* c = Find(clauses_, family, sources, [](const PolicyClause& clause) {
    return clause.programmatic.has_value();
  });
  return c == nullptr ? std::nullopt : c->programmatic;
}

std::vector<std::string> Policy::Clauses() const {
  const auto value = [](const PolicyClause& c) -> std::string_view {
    if (c.math) return abi::MathModeName(*c.math);
    if (c.programmatic) return *c.programmatic ? kProgrammaticValue : kFullValue;
    return c.kernel;
  };
  std::vector<std::string> out;
  for (const PolicyClause& c : clauses_) out.push_back(StrCat(SubjectText(c), "=", value(c)));
  return out;
}

bool KernelHasName(const abi::KernelInfo& kernel, std::string_view name) {
  if (kernel.key.find(name) != std::string_view::npos) return true;
  return std::ranges::any_of(kKernelNames, [&](const KernelName& n) {
    return n.family == kernel.family && n.name == name && n.key == kernel.key;
  });
}

std::string_view MissingKernel(abi::Family family, std::string_view name) {
  for (const KernelName& n : kKernelNames) {
    if (n.family == family && n.name == name) return n.missing;
  }
  return {};
}

bool IsSubset(const std::vector<std::string>& part, const std::vector<std::string>& whole) {
  return std::ranges::all_of(
      part, [&](const std::string& item) { return std::ranges::find(whole, item) != whole.end(); });
}

}  // namespace aicf
