/// The translation unit of one CUDA instance: the problem as constants, its expressions as
/// functions, the family's device source as an include, and one kernel named after the problem's
/// hash.
#pragma once

#include <string>

#include "kernels/abi/kernel.h"

namespace aicf {

/// What a device source (kernels/cuda/<family>/*.cuh) finds defined, all in namespace aicf:
///   index_t, uindex_t      32-bit integers, or 64-bit when the problem needs them
///   kBlockX, kGridX, ..    the launch configuration, kClusterX and kDynamicShared among it
///   kTileM, kVector, ..    the variant's parameters, named by abi::ConstantName: integers
///   kShortResults          whether 16 bits or 8 are all that is seen of results: functions may
///                          be those of common/functions16.cuh, and sums f32
///   kMath, attr_NAME       math mode and attributes: integers, or functions of an axis for lists
///   In0.., Out0..          operands' views: S (storage type), kRank, kOffset, extent(d),
///                          stride(d), run(d)
///   kOutputCount0..2       elements of the groups of SpacesOf(key, problem).output
///   kDomainCount0..2       the same of the domain
///   kInnerAxis             innermost axis of the output in memory, -1 for a single element
///   OutputPoint(i0, i1, i2)  coordinates .c[axis] of linear indices; DomainPoint(i0, i1)
///   OutputWeight(axis)     what a step along the axis adds to its group's linear index
///   raw_t, element_t       types of the family's raw result and of the prologue's value
///   Args                   the operands' addresses, and `map`: those of the tensor maps
///   Prologue::Load<V>(args, dst, i0, i1)       V values along the domain's first group
///   Epilogue::Operands<V>  what the epilogue reads beside the raw results: Load(args, i0, i1, i2).
///                          It is an OfAllLines<V>, operands that are the same whatever i1 and i2
///                          are, with Load(args, i0), and an OfLine<V>, the others
///   Epilogue::Store<V>(args, raw, operands, i0, i1, i2)  V results along the output's first group
///   Epilogue::Store<V>(args, raw, all, own, i0, i1, i2)  the same, the operands in two parts
///   Epilogue::Store<V>(args, raw, i0, i1, i2)  the same, loading the operands itself
///                                              (elementwise: without raw)
///                          Of a gemm with part_columns the last argument of the first two is
///                          `float (&kept)[V]`, which gets what the first output holds then
///   kDomainVector          vector width for walking the domain's first group
///   Hidden, Gate           excite: what the operands of the two expressions in the middle are, and
///                          the expressions (compiler/codegen/excite_source.h)
///   kRowsInner             gemm, blockgemm and conv: whether the output is contiguous along its
///                          rows
///   kProductHalves         gemm, blockgemm and conv: 2 for a product of two halves (GemmAttrs),
///                          otherwise 1. The raw values of Store are then 2 * V, those of the
///                          second half after the first
///   kNormalizesRows        gemm, blockgemm: whether A's rows are normalised (GemmAttrs), with
///                          GainView, the view of the gain, which is input kGainInput
///   ScalesOfA, ScalesOfB   gemm: views of the scales of blocks (GemmAttrs), which are the inputs
///                          kScalesInput and the next; of the operands where there are none
/// and must define `void Kernel(const Args&)`. With AICF_KERNEL_WAITS defined, every thread that
/// reads or writes memory in Kernel calls WaitForPredecessors before, and one of every block
/// LetSuccessorsStart; where that comes before the wait, several kernels wait at a time, and each
/// may read ahead what no step writes.
///
/// The text is a function of (kernel, problem, variant) alone. REQUIRES: abi::CheckVariant
/// accepted.
std::string WriteCudaSource(const abi::KernelInfo& kernel, const abi::Problem& problem,
                            const abi::Variant& variant);

}  // namespace aicf
