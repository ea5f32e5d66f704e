/// --policy: what a person prefers, for a family of steps, for nodes by pattern, or for one step.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/status.h"
#include "kernels/abi/kernel.h"
#include "kernels/abi/problem.h"

namespace aicf {

/// One clause, SUBJECT=VALUE: a kernel, a math mode, or "programmatic" or "full" launches.
struct PolicyClause {
  enum class Subject : uint8_t {
    kFamily,  ///< "gemm" (or "matmul"): every step of the family
    kNode,    ///< "node:PATTERN": steps with a source node that the pattern matches; * and ?
    kStep,    ///< "step.N": step N of the plan that the same command makes without this clause
  };
  Subject subject = Subject::kFamily;
  std::string name;    ///< the family, the pattern or the number
  std::string kernel;  ///< a kernel's key or a part of one; empty with `math` or `programmatic`
  std::optional<abi::MathMode> math;      ///< how products are formed
  std::optional<bool> programmatic = {};  ///< how steps are launched on a GPU; false: full launches
  std::vector<std::string> nodes = {};    ///< kStep: the step's source nodes, see Policy::NameSteps
};

/// Of several clauses about one step, step goes before node and node before family; of equals the
/// last one counts. A preference that cannot be honoured is a warning, or with --policy-strict an
/// error.
class Policy {
 public:
  /// "gemm=cublaslt,conv=direct,node:*head*=fp32,step.12=cuda.conv.tensor".
  /// Errors: kInvalidArgument naming the clause.
  static Result<Policy> Parse(std::string_view text);
  /// One clause, whose node pattern may hold commas.
  static Result<Policy> ParseClause(std::string_view text);

  /// Adds the other's clauses after its own. Errors: kInvalidArgument when both say something
  /// about one subject.
  Status Add(const Policy& other);

  bool empty() const { return clauses_.empty(); }
  /// Whether a clause names a step by its number, which only a plan can resolve.
  bool NamesSteps() const;
  /// Fills in the source nodes of steps that clauses name. Errors: kInvalidArgument for a step that
  /// the plan does not have.
  Status NameSteps(const std::vector<std::vector<std::string>>& sources_of_steps);

  /// What kernels are preferred for a step of these source nodes, as the clause says it
  /// (KernelHasName); empty: none.
  std::string_view KernelFor(abi::Family family, const std::vector<std::string>& sources) const;
  /// The math mode preferred for a product of these source nodes, before or after fusion.
  std::optional<abi::MathMode> MathFor(abi::Family family,
                                       const std::vector<std::string>& sources) const;

  /// Whether launches are preferred programmatic or full for a step of these source nodes.
  std::optional<bool> ProgrammaticFor(abi::Family family,
                                      const std::vector<std::string>& sources) const;

  /// The math modes that clauses name, each once.
  std::vector<abi::MathMode> MathModes() const;
  /// The patterns of all clauses about nodes.
  std::vector<std::string> NodePatterns() const;
  /// Every clause as text that ParseClause takes.
  std::vector<std::string> Clauses() const;

 private:
  std::vector<PolicyClause> clauses_;
};

/// Whether a policy that says `name` means the kernel: the name is a part of its key, or is what
/// kernel_names.def calls it ("flash").
bool KernelHasName(const abi::KernelInfo& kernel, std::string_view name);

/// Why the policy's name for a kernel of the family names none, as kernel_names.def says; empty
/// where it says nothing.
std::string_view MissingKernel(abi::Family family, std::string_view name);

/// Whether every element of `part` is in `whole`.
bool IsSubset(const std::vector<std::string>& part, const std::vector<std::string>& whole);

}  // namespace aicf
