#include "schema/decision.h"

#include <algorithm>

#include "kernels/abi/kernel.h"

namespace aicf::schema {
namespace {

constexpr std::string_view kReasonNames[] = {
    "",
#define AICF_DECISION_REASON(id, name, when) name,
#include "schema/decision_reasons.def"
#undef AICF_DECISION_REASON
};

std::string OrList(const std::vector<std::string_view>& words) {
  std::string out;
  for (size_t i = 0; i < words.size(); ++i) {
    out += StrCat(i == 0 ? "" : i + 1 == words.size() ? " or " : ", ", words[i]);
  }
  return out;
}

// The family of a kernel's decision. Alternatives tell it, too, where the choice was changed to
// something that is no kernel.
std::string_view FamilyOf(const Decision& d) {
  if (d.kind != DecisionKind::kKernel) return {};
  const abi::KernelInfo* kernel = abi::FindKernel(d.choice);
  for (const Alternative& a : d.alternatives) {
    if (kernel == nullptr) kernel = abi::FindKernel(a.choice);
  }
  return kernel == nullptr ? std::string_view() : abi::FamilyName(kernel->family);
}

std::string Identity(std::string_view kind, const Decision& d) {
  Subject subject = d.subject;
  subject.step = -1;
  return StrCat(kind, "\n", subject.entry, "\n", ToString(subject), "\n", FamilyOf(d));
}

}  // namespace

const std::vector<DecisionKindInfo>& DecisionKinds() {
  static const std::vector<DecisionKindInfo> kKinds = {
#define AICF_DECISION_KIND(id, ...) {DecisionKind::k##id, __VA_ARGS__},
#include "schema/decision_kinds.def"
#undef AICF_DECISION_KIND
  };
  return kKinds;
}

const DecisionKindInfo& InfoOf(DecisionKind kind) {
  return DecisionKinds()[static_cast<size_t>(kind)];
}

std::string_view KindName(DecisionKind kind) { return InfoOf(kind).name; }

std::optional<DecisionKind> ParseKind(std::string_view name) {
  for (const DecisionKindInfo& info : DecisionKinds()) {
    if (info.name == name) return info.kind;
  }
  return std::nullopt;
}

std::optional<DecisionKind> ParseEditedKind(std::string_view name) {
  for (const DecisionKindInfo& info : DecisionKinds()) {
    if (!name.empty() && info.edit == name) return info.kind;
  }
  return std::nullopt;
}

std::string KindList() {
  std::vector<std::string_view> names;
  for (const DecisionKindInfo& info : DecisionKinds()) names.push_back(info.name);
  return OrList(names);
}

std::string EditedKindList() {
  std::vector<std::string_view> names;
  for (const DecisionKindInfo& info : DecisionKinds()) {
    if (!info.edit.empty()) names.push_back(info.edit);
  }
  return OrList(names);
}

bool IsFusion(DecisionKind kind) {
  return kind == DecisionKind::kFusion || kind == DecisionKind::kEpilogue ||
         kind == DecisionKind::kPrologue;
}

std::string_view ReasonName(Reason reason) { return kReasonNames[static_cast<size_t>(reason)]; }

std::optional<Reason> ParseReason(std::string_view name) {
  const auto found = std::ranges::find(kReasonNames, name);
  if (found == std::end(kReasonNames)) return std::nullopt;
  return static_cast<Reason>(found - std::begin(kReasonNames));
}

Decision& Decision::Because(Reason why, std::string more) {
  reason = why;
  sentence = std::move(more);
  return *this;
}

std::string ReasonText(const Decision& decision) {
  const std::string_view name = ReasonName(decision.reason);
  return decision.sentence.empty() ? std::string(name) : StrCat(name, ": ", decision.sentence);
}

std::string IdentityOf(const Decision& decision) {
  return Identity(KindName(decision.kind), decision);
}

std::string QuestionOf(const Decision& decision) {
  return Identity(IsFusion(decision.kind) ? "edge" : KindName(decision.kind), decision);
}

}  // namespace aicf::schema
