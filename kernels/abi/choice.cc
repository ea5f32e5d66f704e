#include "kernels/abi/choice.h"

#include <algorithm>
#include <map>

namespace aicf::abi {
namespace {

using Rows = std::map<std::string_view, const ChoiceRow*>;

void Add(Rows& rows, std::span<const ChoiceRow> more) {
  for (const ChoiceRow& row : more) rows.emplace(row.key, &row);
}

const Rows& AllRows() {
  static const Rows rows = [] {
    Rows all;
#define AICF_FAMILY(id, text, attrs, core, slots) \
  Add(all, CpuChoices<Family::id>());             \
  Add(all, CudaChoices<Family::id>());
#include "kernels/abi/family.def"
#undef AICF_FAMILY
    return all;
  }();
  return rows;
}

}  // namespace

std::vector<Candidate> CandidatesOf(const KernelInfo& kernel, const Problem& problem,
                                    const DeviceSpec& device) {
  std::vector<Candidate> all = AllRows().at(kernel.key)->candidates(problem, device);
  for (Candidate& c : all) {
    if (c.row.empty()) c.row = kernel.key;
  }
  return all;
}

std::optional<Candidate> BestCandidate(const KernelInfo& kernel, const Problem& problem,
                                       const DeviceSpec& device) {
  const std::vector<Candidate> all = CandidatesOf(kernel, problem, device);
  if (all.empty()) return std::nullopt;
  return *std::ranges::min_element(all, {}, &Candidate::cost_us);
}

}  // namespace aicf::abi
