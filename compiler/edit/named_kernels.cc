#include "compiler/edit/named_kernels.h"

#include <algorithm>

#include "base/edit_distance.h"
#include "kernels/abi/kernel.h"

namespace aicf {
namespace {

using abi::KernelInfo;

/// A name that a clause prefers for the kernels of a family.
struct KernelWish {
  abi::Family family;
  std::string name;
};

std::vector<abi::Family> AllFamilies() {
  std::vector<abi::Family> all;
  for (int f = 0; f < abi::kFamilyCount; ++f) all.push_back(static_cast<abi::Family>(f));
  return all;
}

// Asks the clause about a step of each family. A pattern for nodes matches itself, and a clause
// about a step, which has no nodes yet, is about those without source nodes.
std::vector<KernelWish> WishesOf(const Policy& clause) {
  std::vector<KernelWish> all;
  for (const abi::Family family : AllFamilies()) {
    const std::string_view name = clause.KernelFor(family, clause.NodePatterns());
    if (!name.empty()) all.push_back({family, std::string(name)});
  }
  return all;
}

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// "64x64" is in the name of every variant that a name can choose (Candidate::row).
bool NamesTile(std::string_view name) {
  for (size_t i = 1; i + 1 < name.size(); ++i) {
    if (name[i] == 'x' && IsDigit(name[i - 1]) && IsDigit(name[i + 1])) return true;
  }
  return false;
}

bool IsKnown(const KernelWish& wanted, const abi::DeviceSpec& device) {
  const bool tile = device.backend == abi::Backend::kCuda && NamesTile(wanted.name);
  return std::ranges::any_of(abi::KernelsOf(wanted.family), [&](const KernelInfo& kernel) {
    return abi::RunsOn(kernel, device) && (tile || KernelHasName(kernel, wanted.name));
  });
}

// How far the name is from the key, or from an end of the key that begins behind a dot.
size_t Distance(std::string_view name, std::string_view key) {
  size_t least = EditDistance(name, key);
  for (size_t dot = key.find('.'); dot != std::string_view::npos; dot = key.find('.')) {
    key.remove_prefix(dot + 1);
    least = std::min(least, EditDistance(name, key));
  }
  return least;
}

// "; did you mean A or B?" for the kernels with the nearest names. Without any, and for a clause
// about a family: "; there are A, B, C", all that the target has.
std::string Suggestion(const std::vector<KernelWish>& wanted, const abi::DeviceSpec& device) {
  constexpr size_t kMostShown = 3, kLongestName = 100;
  std::vector<std::pair<size_t, std::string_view>> near;
  std::string all;
  for (const KernelWish& w : wanted) {
    for (const KernelInfo& kernel : abi::KernelsOf(w.family)) {
      if (!abi::RunsOn(kernel, device)) continue;
      all += StrCat(all.empty() ? "" : ", ", kernel.key);
      if (w.name.size() > kLongestName) continue;
      const size_t distance = Distance(w.name, kernel.key);
      if (distance * 3 <= w.name.size()) near.emplace_back(distance, kernel.key);
    }
  }
  std::ranges::stable_sort(near, {}, [](const auto& n) { return n.first; });
  near.resize(std::min(near.size(), kMostShown));
  if (near.empty()) return wanted.size() == 1 ? StrCat("; there are ", all) : "";
  std::string shown;
  for (size_t i = 0; i < near.size(); ++i) {
    const std::string_view gap = i == 0 ? "" : i + 1 < near.size() ? ", " : " or ";
    shown += StrCat(gap, near[i].second);
  }
  return StrCat("; did you mean ", shown, "?");
}

const KernelInfo* FirstNamed(abi::Family family, std::string_view name) {
  const std::span<const KernelInfo> all = abi::KernelsOf(family);
  const auto found = std::ranges::find_if(
      all, [&](const KernelInfo& kernel) { return KernelHasName(kernel, name); });
  return found == all.end() ? nullptr : &*found;
}

// Why no kernel of the wanted families that runs on the device has the name.
std::string WhyNone(const std::vector<KernelWish>& wanted, const abi::DeviceSpec& device) {
  for (const KernelWish& w : wanted) {
    const KernelInfo* const other = FirstNamed(w.family, w.name);
    if (other == nullptr) continue;
    const bool cpu = other->backend == abi::Backend::kCpu;
    return StrCat(other->key, " is a kernel for ", cpu ? "CPUs" : "GPUs", ", and the target is ",
                  device.name);
  }
  for (const abi::Family family : AllFamilies()) {
    const KernelInfo* const other = FirstNamed(family, wanted.front().name);
    if (other == nullptr) continue;
    return StrCat(other->key, " is a kernel of the family ", abi::FamilyName(family));
  }
  return "no kernel has this in its name";
}

Status CheckClause(const std::string& text, const abi::DeviceSpec& device) {
  AICF_ASSIGN_OR_RETURN(const Policy clause, Policy::ParseClause(text));
  const std::vector<KernelWish> wanted = WishesOf(clause);
  const auto known = [&](const KernelWish& w) { return IsKnown(w, device); };
  if (wanted.empty() || std::ranges::any_of(wanted, known)) return OkStatus();
  for (const KernelWish& w : wanted) {
    const std::string_view missing = MissingKernel(w.family, w.name);
    if (missing.empty()) continue;
    return Error(Code::kUnsupported, "policy asks for ", w.name, ", ", missing);
  }
  return Error(Code::kInvalidArgument, "policy clause '", text, "': ", WhyNone(wanted, device),
               Suggestion(wanted, device));
}

}  // namespace

Status CheckPolicyKernels(const Policy& policy, const abi::DeviceSpec& device) {
  for (const std::string& clause : policy.Clauses()) {
    AICF_RETURN_IF_ERROR(CheckClause(clause, device));
  }
  return OkStatus();
}

}  // namespace aicf
