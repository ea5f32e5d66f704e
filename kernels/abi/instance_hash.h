/// The hash in the symbol of a device kernel's instance.
///
/// It is XXH3-128 of bytes that say everything the device code was compiled for. Integers are
/// little-endian and have the width given below. Reals are their 64 bits, so that -0 differs from
/// 0. Enumerations are one byte: the number that artifacts store (schema/README.md, Evolution). A
/// list is its length (u32), then its elements; a text is the list of its characters; dims are
/// their rank (u8), then an i64 for each axis. The pieces follow one another without gaps:
///
///   u32                kKernelAbiVersion
///   text               kernel key
///   list               values of the parameters, i64, in the kernel's order
///   u8 u8 u8           family, alternative of the attributes (the same number), math mode
///   u32                bit k: added field k of the attributes (AddedInt, AddedReal) differs from
///                      the value that stands for its absence
///   ..                 attributes in the order of their Visit: integers i64, bools u8, reals,
///                      enumerations, dims, lists of reals or dims; added fields only where the bit
///                      is set, so that existing instances keep their hash when a family gains
///                      another field
///   i32                core inputs
///   list, list         inputs, outputs: u8 dtype, dims shape, dims strides, i64 offset
///   3 times list, list prologue, epilogue, score: nodes (u8 operator, u8 dtype, u16 x 3 arguments,
///                      u64 immediate), u16 results
///
/// Every piece says where it ends, so two instances that differ in anything listed have different
/// bytes. The names of the parameters, the launch and the tensor maps are left out, because
/// CheckVariant proves that they follow from what is listed. The size of the workspace is left out,
/// because the device function only gets its address.
#pragma once

#include <string_view>

#include "base/hash.h"
#include "kernels/abi/parameters.h"
#include "kernels/abi/problem.h"

namespace aicf::abi {

Hash128 InstanceHash(std::string_view kernel_key, const Problem& problem,
                     const Parameters& parameters);

}  // namespace aicf::abi
