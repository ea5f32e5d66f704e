#include "kernels/abi/choice.h"

#include <gtest/gtest.h>

#include <set>

namespace aicf::abi {
namespace {

template <Family F>
void AddKeys(std::multiset<std::string_view>& keys) {
  for (const ChoiceRow& r : CpuChoices<F>()) keys.insert(r.key);
  for (const ChoiceRow& r : CudaChoices<F>()) keys.insert(r.key);
}

TEST(Choice, EveryKernelHasOneRow) {
  std::multiset<std::string_view> rows;
#define AICF_FAMILY(id, text, attrs, core, slots) AddKeys<Family::id>(rows);
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  size_t kernels = 0;
  for (int f = 0; f < kFamilyCount; ++f) {
    for (const KernelInfo& k : KernelsOf(static_cast<Family>(f))) {
      EXPECT_EQ(rows.count(k.key), 1u) << k.key;
      ++kernels;
    }
  }
  EXPECT_EQ(rows.size(), kernels) << "a row is of no kernel";
}

}  // namespace
}  // namespace aicf::abi
