#include "tools/aicf-compile/decision_files.h"

#include <algorithm>

#include "compiler/edit/named_kernels.h"
#include "compiler/passes/lowered/choose_math.h"
#include "tools/common/files.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

Result<std::string> ReadText(const std::string& path) {
  AICF_ASSIGN_OR_RETURN(const std::vector<std::byte> bytes, ReadFile(path));
  return std::string(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

// Where a comment begins on a line: at a '#' that starts the line or follows a blank, because a '#'
// inside a word is part of a node's name.
size_t CommentIn(const std::string& line) {
  size_t at = line.find('#');
  while (at != std::string::npos && at > 0 && line[at - 1] != ' ' && line[at - 1] != '\t') {
    at = line.find('#', at + 1);
  }
  return std::min(at, line.size());
}

// Reads a file with one clause on a line and comments after '#'.
Status ReadPolicyFile(const std::string& path, Policy* policy) {
  AICF_ASSIGN_OR_RETURN(const std::string text, ReadText(path));
  for (std::string line : Split(text, '\n')) {
    line.erase(CommentIn(line));
    line.erase(line.find_last_not_of(" \t\r") + 1);
    line.erase(0, line.find_first_not_of(" \t"));
    if (line.empty()) continue;
    AICF_ASSIGN_OR_RETURN(const Policy clause, Policy::ParseClause(line));
    AICF_RETURN_IF_ERROR(policy->Add(clause));
  }
  return OkStatus();
}

}  // namespace

Status ReadPolicy(const std::vector<std::string>& values, const std::string& target,
                  Policy* policy) {
  if (values.empty()) return OkStatus();
  *policy = Policy();
  for (const std::string& value : values) {
    if (value.find('=') == std::string::npos) {
      AICF_RETURN_IF_ERROR(ReadPolicyFile(value, policy));
      continue;
    }
    AICF_ASSIGN_OR_RETURN(const Policy clauses, Policy::Parse(value));
    AICF_RETURN_IF_ERROR(policy->Add(clauses));
  }
  const Result<abi::DeviceSpec> device = abi::FindDevice(target);
  if (!device.ok()) return OkStatus();  // the compiler refuses an unknown target
  for (const abi::MathMode mode : policy->MathModes()) WarnOfUnusedMath(*device, mode);
  return CheckPolicyKernels(*policy, *device);
}

Status ReadDecisions(const std::string& path, std::optional<DecisionLog>* decisions) {
  if (path.empty()) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const std::string text, ReadText(path));
  Result<DecisionLog> log = DecisionLog::Parse(text);
  if (!log.ok()) return log.status().WithContext(path);
  *decisions = *std::move(log);
  return OkStatus();
}

}  // namespace aicf::tools
