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
///   kShortResults          whether all results are floats of 16 or 8 bits and no operator makes a
///                          small error large, so that last digits do not show: functions may be
///                          the short ones of common/functions16.cuh, and sums may be f32
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
///                          It derives from OfAllLines<V>, which holds the operands that do not
///                          depend on i1 and i2 and has Load(args, i0), and from OfLine<V>, which
///                          holds the others
///   Epilogue::Store<V>(args, raw, operands, i0, i1, i2)  V results along the output's first group
///   Epilogue::Store<V>(args, raw, all, own, i0, i1, i2)  the same, the operands in two parts
///   Epilogue::Store<V>(args, raw, i0, i1, i2)  the same, loading the operands itself
///                                              (elementwise: without raw)
///                          For a gemm with part_columns, the first two have one more argument
///                          after i2, `float (&kept)[V]`, which gets the values as the first
///                          output holds them, that is, rounded to its dtype
///   kDomainVector          vector width for walking the domain's first group
///   Hidden, Gate           excite: the expressions that follow its two products, each with the
///                          operands that it reads (compiler/codegen/excite_source.h)
///   kRowsInner             gemm, blockgemm and conv: whether the output is contiguous along its
///                          rows
///   kProductHalves         gemm, blockgemm and conv: 2 for a product of two halves (GemmAttrs),
///                          otherwise 1. The raw values of Store are then 2 * V, those of the
///                          second half after the first
///   kNormalizesRows        gemm, blockgemm: whether A's rows are normalised (GemmAttrs), with
///                          GainView, the view of the gain, which is input kGainInput
///   ScalesOfA, ScalesOfB   gemm: views of the scales of A's and B's blocks (GemmAttrs), which are
///                          the inputs kScalesInput and kScalesInput + 1. Without such scales they
///                          are the views of A and B themselves
/// and must define `void Kernel(const Args&)`. A source that defines AICF_KERNEL_WAITS does the
/// waiting itself: in Kernel, every thread calls WaitForPredecessors before it reads or writes
/// memory, and one thread of every block calls LetSuccessorsStart. Where that call comes before the
/// wait, several kernels wait at a time. Before its wait, each may read what no step writes.
///
/// The text is a function of (kernel, problem, variant) alone. REQUIRES: abi::CheckVariant
/// accepted.
std::string WriteCudaSource(const abi::KernelInfo& kernel, const abi::Problem& problem,
                            const abi::Variant& variant);

}  // namespace aicf
