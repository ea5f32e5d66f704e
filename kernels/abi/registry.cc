#include "kernels/abi/registry.h"

#include <array>
#include <vector>

namespace aicf::abi {
namespace {

template <Family F>
std::vector<KernelInfo> Join() {
  std::vector<KernelInfo> all;
  for (const KernelInfo& k : CudaKernels<F>()) all.push_back(k);
  for (const KernelInfo& k : CpuKernels<F>()) all.push_back(k);
  return all;
}

const std::array<std::vector<KernelInfo>, kFamilyCount>& Tables() {
  static const std::array<std::vector<KernelInfo>, kFamilyCount> tables = {
#define AICF_FAMILY(id, text, attrs, core, slots) Join<Family::id>(),
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  };
  return tables;
}

}  // namespace

std::span<const KernelInfo> KernelsOf(Family family) {
  return Tables()[static_cast<size_t>(family)];
}

const KernelInfo* FindKernel(std::string_view key) {
  for (const auto& table : Tables()) {
    for (const KernelInfo& k : table) {
      if (k.key == key) return &k;
    }
  }
  return nullptr;
}

std::string ReferenceKey(Family family) { return StrCat("cpu.", FamilyName(family), ".ref"); }

}  // namespace aicf::abi
