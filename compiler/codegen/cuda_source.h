/// The translation unit of one CUDA instance: the problem as constants, its expressions as functions,
/// the family's device source as an include, and one kernel named after the problem's hash.
#pragma once

#include <string>

#include "kernels/abi/kernel.h"

namespace aicf {

/// What a device source (kernels/cuda/<family>/*.cuh) finds defined, all in namespace aicf:
///   index_t, uindex_t      32-bit integers, or 64-bit when the problem needs them
///   kBlockX.. kGridX.. kClusterX   the launch configuration
///   kMath, attr_NAME       math mode and attributes: integers, or functions of an axis for lists
///   In0.. Out0..           S (storage type), kRank, kOffset, extent(d), stride(d), run(d) of every view
///   kOutputCount0..2, kDomainCount0..1   elements of the groups of SpacesOf(key, problem)
///   kInnerAxis             innermost axis of the output in memory, -1 for a single element
///   OutputPoint(i0, i1, i2), DomainPoint(i0, i1)   coordinates .c[axis] of linear indices
///   kTileM.., kRowsInner   gemm and conv: the variant's tile (kernels/cuda/common/tiles.def); whether the
///                          output is contiguous along its rows
///   raw_t, Args            type of the family's raw result; the operands' addresses
///   Prologue::Load<V>(args, dst, i0, i1)           V values along the domain's first group
///   Epilogue::Store<V>(args, raw, i0, i1, i2)      V results along the output's first group
///                                                  (elementwise: without raw)
///   element_t, kDomainVector  type of the prologue's value; vector width for walking the domain
///   kVector                vector width for walking the output's first group
/// and must define `void Kernel(const Args&)`.
///
/// The text is a function of (kernel, problem, device) alone. REQUIRES: kernel.supports accepted.
std::string WriteCudaSource(const abi::KernelInfo& kernel, const abi::Problem& problem,
                            const abi::DeviceSpec& device);

}  // namespace aicf
