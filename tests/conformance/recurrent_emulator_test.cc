// The recurrent kernel's ways of placing states and weights, each met on purpose: one block or a
// cluster, weights kept in shared memory or read again, states in shared memory or in the
// workspace.
#include <gtest/gtest.h>

#include <cstdlib>
#include <cstring>

#include "kernels/abi/recurrent.h"
#include "tests/conformance/cases.h"
#include "tests/conformance/compare.h"
#include "tests/conformance/emulator.h"

namespace aicf::conformance {
namespace {

struct FreeAligned {
  void operator()(void* p) const { std::free(p); }
};

Result<Buffers> Emulate(const abi::KernelInfo& kernel, const Case& c,
                        const abi::DeviceSpec& device) {
  AICF_ASSIGN_OR_RETURN(auto emulated, EmulatedKernel::Make(kernel, c.problem, device));
  std::vector<std::unique_ptr<void, FreeAligned>> memory;
  std::vector<void*> addresses;
  for (const auto& b : c.buffers) {
    memory.emplace_back(std::aligned_alloc(256, (b.size() + 511) / 256 * 256));
    std::memcpy(memory.back().get(), b.data(), b.size());
    addresses.push_back(memory.back().get());
  }
  AICF_RETURN_IF_ERROR(emulated->Run(addresses));
  Buffers got = c.buffers;
  for (size_t i = 0; i < got.size(); ++i) std::memcpy(got[i].data(), addresses[i], got[i].size());
  return got;
}

struct Placement {
  const char* name;
  bool cluster;    ///< several blocks share a direction
  bool keeps;      ///< weights stay in shared memory
  bool in_shared;  ///< states are in shared memory
};

/// A device with as much shared memory as makes the problem take the placement; 0: none does.
int SharedBytesFor(const abi::Problem& p, const abi::KernelInfo& k, const Placement& want) {
  abi::DeviceSpec device = *abi::FindDevice("cuda");
  const uint32_t most = k.launch(p, device).dynamic_shared_bytes;
  const bool cluster = k.launch(p, device).cluster[0] > 1;
  if (cluster != want.cluster || p.inputs[0].shape[0] < 2) return 0;
  if (want.keeps) return static_cast<int>(most);
  device.max_shared_bytes = static_cast<int>(most) - 1;
  const uint32_t states = k.launch(p, device).dynamic_shared_bytes;
  if (want.in_shared) return static_cast<int>(states);
  return 256;  // holds no states of more than a few units
}

void CheckPlacement(abi::CellKind cell, const Placement& want) {
  const abi::KernelInfo& kernel = *abi::FindKernel("cuda.recurrent.cluster");
  for (uint64_t seed = 0; seed < 3000; ++seed) {
    CaseOptions o;
    o.whole_numbers = false;
    const Case c = RandomCase(abi::Family::kRecurrent, seed, o);
    if (c.problem.as<abi::RecurrentAttrs>().cell != cell) continue;
    abi::DeviceSpec device = *abi::FindDevice("cuda");
    device.max_shared_bytes = SharedBytesFor(c.problem, kernel, want);
    if (device.max_shared_bytes == 0) continue;
    const abi::LaunchConfig launch = kernel.launch(c.problem, device);
    if ((launch.dynamic_shared_bytes > 0) != want.in_shared) continue;
    EXPECT_EQ(kernel.workspace_bytes(c.problem, device) > 0, !want.in_shared);
    const Result<Buffers> got = Emulate(kernel, c, device);
    ASSERT_TRUE(got.ok()) << c.name << "\n" << got.status().ToString();
    EXPECT_EQ(Difference(c, *got, RunReference(c)), "") << want.name << "\n" << c.name;
    return;
  }
  FAIL() << "no case takes the placement " << want.name;
}

TEST(EmulatedRecurrent, EveryPlacementOfStatesAndWeights) {
  if (std::system("c++ --version > /dev/null 2>&1") != 0) {
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
