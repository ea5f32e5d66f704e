// The recurrent kernel's ways of placing states and weights, each met on purpose: one block or a
// cluster, weights kept in shared memory or read again, states in shared memory or in the
// workspace.
#include <gtest/gtest.h>

#include <optional>

#include "kernels/abi/choice.h"
#include "kernels/abi/recurrent.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"

namespace aicf::conformance {
namespace {

struct Placement {
  const char* name;
  bool cluster;    ///< several blocks share a direction
  bool keeps;      ///< weights stay in shared memory
  bool in_shared;  ///< states are in shared memory
};

/// The kernel's choice for the problem with its states and weights placed so; nullopt where the
/// problem does not come to it.
std::optional<abi::Variant> Placed(const abi::KernelInfo& k, const abi::Problem& p,
                                   const Placement& want) {
  const abi::DeviceSpec device = *abi::FindDevice("cuda");
  const abi::Variant chosen = abi::BestCandidate(k, p, device)->variant;
  const bool cluster = chosen.launch.cluster[0] > 1;
  if (cluster != want.cluster || p.inputs[0].shape[0] < 2) return std::nullopt;
  std::vector<abi::Parameter> parameters(chosen.parameters.begin(), chosen.parameters.end());
  for (abi::Parameter& x : parameters) {
    if (x.name == "storage") x.value = want.keeps ? 2 : want.in_shared ? 1 : 0;
  }
  const abi::Parameters wanted(std::move(parameters));
  if (!k.refuse(p, wanted, device).empty()) return std::nullopt;
  return k.variant(p, wanted);
}

void CheckPlacement(abi::CellKind cell, const Placement& want) {
  const abi::KernelInfo& kernel = *abi::FindKernel("cuda.recurrent.cluster");
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    CaseOptions o;
    o.whole_numbers = false;
    const Case c = RandomCase(abi::Family::kRecurrent, seed, o);
    if (c.problem.as<abi::RecurrentAttrs>().cell != cell) continue;
    const std::optional<abi::Variant> variant = Placed(kernel, c.problem, want);
    if (!variant) continue;
    EXPECT_EQ(variant->launch.dynamic_shared_bytes > 0, want.in_shared);
    EXPECT_EQ(variant->workspace_bytes > 0, !want.in_shared);
    const Result<Buffers> got = EmulatedBuffers(kernel, c, *variant);
    ASSERT_TRUE(got.ok()) << c.name << "\n" << got.status().ToString();
    EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << want.name << "\n" << c.name;
    return;
  }
  FAIL() << "no case takes the placement " << want.name;
}

TEST(EmulatedRecurrent, EveryPlacementOfStatesAndWeights) {
  if (!CanEmulate()) {
    GTEST_SKIP() << "needs a C++ compiler (c++) at test time";
  }
  constexpr Placement kPlacements[] = {
      {"one block", false, true, true},
      {"one block, weights read again", false, false, true},
      {"one block, workspace", false, false, false},
      {"cluster", true, true, true},
      {"cluster, weights read again", true, false, true},
      {"cluster, workspace", true, false, false},
  };
  for (const Placement& p : kPlacements) {
    for (auto cell : {abi::CellKind::kRnn, abi::CellKind::kGru, abi::CellKind::kLstm}) {
      SCOPED_TRACE(StrCat(p.name, ", cell ", static_cast<int>(cell)));
      CheckPlacement(cell, p);
    }
  }
}

}  // namespace
}  // namespace aicf::conformance
