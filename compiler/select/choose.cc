#include "compiler/select/choose.h"

#include <algorithm>
#include <span>

#include "base/hash.h"
#include "base/log.h"

namespace aicf {
namespace {

struct Candidate {
  const abi::KernelInfo* kernel;
  std::string refusal;
  double cost_us = -1;
  LibraryAlgorithm algorithm;
};

bool RunsOn(const abi::KernelInfo& kernel, const abi::DeviceSpec& device) {
  return (kernel.backend == abi::Backend::kCpu) == (device.backend == abi::Backend::kCpu);
}

// A kernel with its own weight layout needs the weights at compile time.
std::string RefusePacking(const abi::KernelInfo& kernel, const ir::Lowered& lowered,
                          const ir::LoweredStep& step) {
  if (kernel.packed_bytes == nullptr) return "";
  for (size_t i = 0; i < step.inputs.size(); ++i) {
    if (kernel.packed_bytes(step.problem, static_cast<int>(i)) == 0) continue;
    const ir::LoweredBuffer& buffer = lowered.buffers[step.inputs[i]];
    if (!buffer.constant.has_data()) {
      return StrCat("packs operand ", i, " ('", buffer.name,
                    "') at compile time, which is not constant");
    }
  }
  return "";
}

bool IsNamed(const abi::KernelInfo& kernel, std::string_view preferred) {
  return kernel.key.find(preferred) != std::string_view::npos;
}

// What the policy prefers for a family; empty: nothing.
std::string_view Preferred(const CompileOptions& options, abi::Family family) {
  const auto wish = options.policy.find(abi::FamilyName(family));
  return wish == options.policy.end() ? std::string_view() : std::string_view(wish->second);
}

// Asks for the algorithm of a library's kernel; the sentence that refuses the kernel without one.
std::string FindAlgorithm(const CompileOptions& options, const abi::KernelInfo& kernel,
                          const ir::LoweredStep& step, const abi::DeviceSpec& device,
                          LibraryAlgorithm* algorithm) {
  const std::string_view preferred = Preferred(options, step.problem.family);
  if (preferred.empty() || !IsNamed(kernel, preferred)) {
    return "is used only where the policy names it: it ties the artifact to one library version";
  }
  if (options.library_algorithms == nullptr) {
    return "has no algorithm for this problem; compile on a machine with the library and the "
           "target's GPU";
  }
  Result<LibraryAlgorithm> found = options.library_algorithms->For(step.problem);
  if (!found.ok()) return StrCat("has no algorithm for this problem: ", found.status().message());
  const uint64_t most = kernel.workspace_bytes(step.problem, device);
  if (found->workspace_bytes > most) {
    return StrCat("got an algorithm that needs ", found->workspace_bytes,
                  " bytes of workspace, at most ", most, " are allowed");
  }
  *algorithm = *std::move(found);
  return "";
}

std::vector<Candidate> Rate(const ir::Lowered& lowered, const ir::LoweredStep& step,
                            const CompileOptions& options, const abi::DeviceSpec& device) {
  std::vector<Candidate> candidates;
  for (const abi::KernelInfo& kernel : abi::KernelsOf(step.problem.family)) {
    if (!RunsOn(kernel, device)) continue;
    Candidate c{&kernel, kernel.supports(step.problem, device), -1, {}};
    if (c.refusal.empty()) c.refusal = RefusePacking(kernel, lowered, step);
    if (c.refusal.empty() && options.deterministic && !kernel.deterministic) {
      c.refusal = "is not deterministic";
    }
    if (c.refusal.empty() && kernel.backend == abi::Backend::kLibrary) {
      c.refusal = FindAlgorithm(options, kernel, step, device, &c.algorithm);
    }
    if (c.refusal.empty()) c.cost_us = kernel.cost_us(step.problem, device);
    candidates.push_back(std::move(c));
  }
  return candidates;
}

const Candidate* Cheapest(const std::vector<Candidate>& candidates, std::string_view preferred) {
  const Candidate* best = nullptr;
  for (const Candidate& c : candidates) {
    if (!c.refusal.empty() || !IsNamed(*c.kernel, preferred)) continue;
    if (best == nullptr || c.cost_us < best->cost_us) best = &c;
  }
  return best;
}

std::string PolicyFailure(const std::vector<Candidate>& candidates, std::string_view preferred) {
  for (const Candidate& c : candidates) {
    if (IsNamed(*c.kernel, preferred)) {
      return StrCat("policy asks for ", c.kernel->key, ", which ", c.refusal);
    }
  }
  return StrCat("policy asks for '", preferred, "', which names no kernel for this target");
}

std::string ReasonOf(const std::vector<Candidate>& candidates, const Candidate& chosen) {
  int legal = 0, equal = 0;
  for (const Candidate& c : candidates) {
    if (!c.refusal.empty()) continue;
    ++legal;
    if (c.cost_us == chosen.cost_us) ++equal;
  }
  if (legal == 1) return "only-legal";
  return equal > 1 ? "tie-break" : "predicted";
}

void Record(PassContext& context, std::string subject, const std::vector<Candidate>& candidates,
            const Candidate& chosen, std::string reason) {
  Decision d{"kernel",
             std::move(subject),
             std::string(chosen.kernel->key),
             std::move(reason),
             "choose-kernels",
             chosen.cost_us,
             {}};
  for (const Candidate& c : candidates) {
    if (&c == &chosen) continue;
    d.alternatives.push_back({std::string(c.kernel->key), c.refusal, c.cost_us});
  }
  context.decisions->Record(std::move(d));
}

std::string ShortHash(const std::vector<uint8_t>& bytes) {
  return ToHex(HashBytes(std::as_bytes(std::span(bytes)))).substr(0, 16);
}

void RecordAlgorithm(PassContext& context, std::string subject, const Candidate& chosen) {
  const std::string_view library = chosen.kernel->key.substr(0, chosen.kernel->key.find('.'));
  std::string choice =
      StrCat(library, " ", chosen.algorithm.library_version, ", algorithm ",
             ShortHash(chosen.algorithm.bytes), ", workspace ", chosen.algorithm.workspace_bytes);
  context.decisions->Record({"algorithm",
                             std::move(subject),
                             std::move(choice),
                             "rule: the library's first deterministic choice for this problem",
                             "choose-kernels",
                             -1,
                             {}});
}

// The policy's kernel where it names one that can run the step; nullptr where there is no such
// wish. Errors: kUnsupported when the wish cannot be honoured and the policy is strict.
Result<const Candidate*> ByPolicy(const std::vector<Candidate>& candidates,
                                  std::string_view preferred, const CompileOptions& options,
                                  const std::string& subject) {
  if (preferred.empty()) return nullptr;
  const Candidate* best = Cheapest(candidates, preferred);
  if (best != nullptr) return best;
  const std::string failure = PolicyFailure(candidates, preferred);
  if (options.policy_strict) return Error(Code::kUnsupported, subject, ": ", failure);
  Log(LogLevel::kWarning, StrCat(subject, ": ", failure));
  return nullptr;
}

Status NoKernel(const std::vector<Candidate>& candidates, const std::string& subject,
                const abi::DeviceSpec& device) {
  std::string why;
  for (const Candidate& c : candidates) why += StrCat("; ", c.kernel->key, " ", c.refusal);
  return Error(Code::kUnsupported, subject, ": no kernel for ", device.name, why);
}

}  // namespace

std::string StepSubject(size_t index, const ir::LoweredStep& step) {
  std::string out = StrCat("step ", index, " [");
  for (size_t i = 0; i < step.sources.size(); ++i) out += (i == 0 ? "" : ", ") + step.sources[i];
  return out + "]";
}

Result<std::vector<KernelChoice>> ChooseKernels(const ir::Lowered& lowered,
                                                const CompileOptions& options,
                                                PassContext& context) {
  std::vector<KernelChoice> chosen;
  for (size_t i = 0; i < lowered.steps.size(); ++i) {
    const ir::LoweredStep& step = lowered.steps[i];
    const std::string subject = StepSubject(i, step);
    const std::vector<Candidate> candidates = Rate(lowered, step, options, context.device);
    AICF_ASSIGN_OR_RETURN(
        const Candidate* best,
        ByPolicy(candidates, Preferred(options, step.problem.family), options, subject));
    std::string reason = "policy";
    if (best == nullptr) {
      best = Cheapest(candidates, "");
      if (best == nullptr) return NoKernel(candidates, subject, context.device);
      reason = ReasonOf(candidates, *best);
    }
    Record(context, subject, candidates, *best, std::move(reason));
    if (best->kernel->backend == abi::Backend::kLibrary) RecordAlgorithm(context, subject, *best);
    chosen.push_back({best->kernel, best->algorithm});
  }
  return chosen;
}

Result<Policy> ParsePolicy(std::string_view text) {
  Policy policy;
  while (!text.empty()) {
    const size_t comma = text.find(',');
    const std::string_view clause = text.substr(0, comma);
    text = comma == std::string_view::npos ? std::string_view() : text.substr(comma + 1);
    const size_t equals = clause.find('=');
    std::string_view family = clause.substr(0, equals);
    if (family == "matmul") family = "gemm";
    bool known = false;
    for (int f = 0; f < abi::kFamilyCount; ++f)
      known |= abi::FamilyName(static_cast<abi::Family>(f)) == family;
    if (equals == std::string_view::npos || equals + 1 == clause.size() || !known) {
      return Error(Code::kInvalidArgument, "policy clause '", clause, "': expected FAMILY=KERNEL");
    }
    policy[std::string(family)] = std::string(clause.substr(equals + 1));
  }
  return policy;
}

}  // namespace aicf
