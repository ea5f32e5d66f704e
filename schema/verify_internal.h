/// The parts of VerifyProgram (schema/verify.h), in the order in which they run. Each may rely on
/// what the ones before it proved.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/scanner.h"
#include "base/status.h"
#include "kernels/abi/kernel.h"
#include "schema/loop_tree.h"
#include "schema/program.h"

namespace aicf::schema {

/// Where a buffer's bytes are once aliases are followed.
struct Placement {
  uint64_t begin = 0;  ///< bytes into arena, weights or state block
  uint64_t end = 0;
  uint32_t root = 0;                ///< the buffer at the end of the alias chain
  Storage space = Storage::kArena;  ///< which of the three; never kAlias
};

struct VerifyContext {
  const Program& program;
  abi::DeviceSpec device;
  std::vector<Placement> placements;            ///< per buffer; filled by VerifyStorage
  std::vector<const abi::KernelInfo*> kernels;  ///< per step; filled by VerifySteps
  std::vector<LoopTree> loops;                  ///< per entry point; filled by VerifyCounts
};

/// Limits, target, I/O lists, buffers' bytes, partition of the steps, loops. Fills `device` and
/// `loops`.
Status VerifyCounts(VerifyContext& context);
/// An entry point's lists of tensors, extents and paddings; part of VerifyCounts.
Status VerifyInterface(const Program& program, const EntryPoint& entry);
/// Offsets, alias chains. Fills `placements`.
Status VerifyStorage(VerifyContext& context);
/// Every step by itself. Fills `kernels`.
Status VerifySteps(VerifyContext& context);
/// Streams, waits and programmatic launches; per entry point.
Status VerifyStreams(const VerifyContext& context);
/// Definition before use, roles, complete writes; per entry point.
Status VerifyOrder(const VerifyContext& context);
/// States: their block, and per entry point that no old value is read after it was overwritten.
Status VerifyState(const VerifyContext& context);
/// Metas: next to each other, per entry point.
Status VerifyMetas(const VerifyContext& context);
/// Bytes live at once, per entry point; the arena's size.
Status VerifyMemory(const VerifyContext& context);
/// Steps that may run at the same time touch no common byte that one of them writes.
Status VerifyRaces(const VerifyContext& context);

/// Number of elements of the buffer's shape. REQUIRES: VerifyCounts accepted it.
inline int64_t ElementsOf(const Buffer& b) {
  return static_cast<int64_t>(b.bytes) / DTypeBytes(b.dtype);
}
/// abi::ExtentOf without its checks. REQUIRES: a validated view.
inline abi::Extent ExtentOfValid(const abi::View& view) {
  int64_t low = view.offset, high = view.offset;
  for (int d = 0; d < view.shape.rank(); ++d) {
    if (view.shape[d] == 0) return {};
    const int64_t reach = (view.shape[d] - 1) * view.strides[d];
    (reach < 0 ? low : high) += reach;
  }
  const int64_t bytes = DTypeBytes(view.dtype);
  return {low * bytes, (high + 1) * bytes};
}

/// Counts against the limits of verify.h. Errors: kResource.
Status CheckCountLimits(uint64_t steps, uint64_t buffers, uint64_t entry_points);
/// The architecture's limits. A launch equals its kernel's own before this is asked, so it guards
/// against a defect of the kernel's host function. Errors: kBadArtifact.
Status CheckLaunchLimits(const abi::LaunchConfig& launch, const abi::DeviceSpec& device);

/// "buffer 3 "relu_1.out"", escaped.
std::string Describe(const Program& program, uint32_t buffer);
/// "step 17 (cpu.gemm.ref)", escaped.
std::string DescribeStep(const Program& program, uint32_t step);

/// The status of an entry point's checks; an error names the entry point.
inline Status InEntryPoint(const EntryPoint& entry, const Status& status) {
  return status.ok() ? OkStatus() : status.WithContext(StrCat("entry point ", Quote(entry.name)));
}

/// Whether a step may overwrite its inputs[input] with outputs[output]: this output is the one that
/// may take the input's place (abi::OutputInPlaceOf), the kernel allows it, and both views name the
/// same bytes.
bool MayOverwrite(const abi::KernelInfo& kernel, const abi::Problem& problem, size_t input,
                  size_t output);

}  // namespace aicf::schema
