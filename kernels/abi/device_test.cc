#include "kernels/abi/device.h"

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

namespace aicf::abi {
namespace {

TEST(Device, CudaStandsForTheMeasuredTarget) {
  const DeviceSpec h200 = *FindDevice("cuda");
  EXPECT_EQ(h200.name, "cuda:sm_90a");
  // What was measured, and what committed predictions and timing caches are made with.
  EXPECT_EQ(h200.sm_count, 132);
  EXPECT_EQ(h200.max_shared_bytes, 232448);
  EXPECT_EQ(h200.bytes_per_us, 4.2e6);
  EXPECT_EQ(h200.fp32_flops_per_us, 50e6);
  EXPECT_EQ(h200.tensor_flops_per_us, 650e6);
  EXPECT_EQ(h200.tf32_flops_per_us, 325e6);
  for (const CudaTarget& t : CudaTargets()) EXPECT_EQ(t.measured, t.arch == "sm_90a") << t.arch;
}

TEST(Device, EveryCudaTargetHasASpecThatHangsTogether) {
  ASSERT_GE(CudaTargets().size(), 6u);
  for (const CudaTarget& t : CudaTargets()) {
    const auto d = FindDevice(StrCat("cuda:", t.arch));
    ASSERT_TRUE(d.ok()) << d.status().ToString();
    EXPECT_EQ(d->name, StrCat("cuda:", t.arch));
    EXPECT_TRUE(t.arch.starts_with(StrCat("sm_", d->sm))) << t.arch;
    // Clusters and programmatic launches came together, with compute capability 9.0.
    EXPECT_EQ(d->max_cluster > 1, d->sm >= 90) << t.arch;
    EXPECT_EQ(d->programmatic, d->sm >= 90) << t.arch;
    EXPECT_EQ(d->warpgroup_products, t.arch == "sm_90a") << t.arch;
    // The system keeps 1 KiB of every block.
    EXPECT_EQ(d->shared_bytes_per_sm, d->max_shared_bytes + 1024) << t.arch;
    EXPECT_GT(d->tensor_flops_per_us, d->tf32_flops_per_us) << t.arch;
    EXPECT_GE(d->tf32_flops_per_us, d->fp32_flops_per_us * 0.8) << t.arch;
    EXPECT_LT(d->bytes_per_us, t.gbytes_per_s * 1e3) << "no more than the data sheet's";
  }
}

TEST(Device, UnknownTargetsListTheKnown) {
  EXPECT_TRUE(FindDevice("cpu").ok());
  for (const char* name : {"cuda:sm_75", "cuda:sm_90", "cuda:", "cuda:native", "native", "sm_80"}) {
    const auto unknown = FindDevice(name);
    ASSERT_FALSE(unknown.ok()) << name;
    EXPECT_EQ(unknown.status().code(), Code::kUnsupported);
    for (const CudaTarget& t : CudaTargets()) {
      const std::string known = StrCat("cuda:", t.arch, " (", t.model, ")");
      EXPECT_NE(unknown.status().message().find(known), std::string::npos) << known;
    }
  }
}

TEST(Device, TheDocumentationHasTheTable) {
  std::stringstream text;
  text << std::ifstream(AICF_SOURCE_DIR "/docs/targets.md").rdbuf();
  EXPECT_NE(text.str().find(CudaTargetsMarkdown()), std::string::npos)
      << "docs/targets.md should hold this table:\n"
      << CudaTargetsMarkdown();
}

}  // namespace
}  // namespace aicf::abi
