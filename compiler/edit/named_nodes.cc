#include "compiler/edit/named_nodes.h"

#include <algorithm>

#include "base/log.h"
#include "base/pattern.h"
#include "base/scanner.h"

namespace aicf {
namespace {

// Stops at the first source node for which `wanted` holds.
template <class Wanted>
bool AnyNode(const std::vector<const ir::Lowered*>& programs, const Wanted& wanted) {
  return std::ranges::any_of(programs, [&](const ir::Lowered* program) {
    return std::ranges::any_of(program->steps, [&](const ir::LoweredStep& step) {
      return std::ranges::any_of(step.sources, wanted);
    });
  });
}

std::string NoSuchNode(std::string_view who, std::string_view name) {
  return StrCat(who, ": no step comes from a source node ", Quote(name),
                "; --stop-after=lowered prints the steps with theirs");
}

}  // namespace

Status CheckUnfusedNodes(const std::set<std::string, std::less<>>& no_fusion,
                         const std::vector<const ir::Lowered*>& programs) {
  for (const std::string& name : no_fusion) {
    const auto equals = [&](const std::string& node) { return node == name; };
    if (AnyNode(programs, equals)) continue;
    return Status(Code::kInvalidArgument, NoSuchNode("--disable-fusion", name));
  }
  return OkStatus();
}

Status CheckPolicyNodes(const Policy& policy, bool strict,
                        const std::vector<const ir::Lowered*>& programs) {
  for (const std::string& pattern : policy.NodePatterns()) {
    const auto matches = [&](const std::string& node) { return MatchesPattern(pattern, node); };
    if (AnyNode(programs, matches)) continue;
    std::string message = NoSuchNode("policy", pattern);
    if (strict) return Status(Code::kUnsupported, std::move(message));
    Log(LogLevel::kWarning, message);
  }
  return OkStatus();
}

}  // namespace aicf
