/// aicf.ScaledMatMul, which scaled-products and float8-products make: a [.., M, K] times b [K, N],
/// both of one float8 type, with scales sa [.., M, ceil(K / scale_terms)] and
/// sb [ceil(K / scale_terms), ceil(N / scale_columns)] in f32 of their blocks, as abi::GemmAttrs
/// defines them, or without scales. Inputs: a, b, then sa and sb or neither. The result is
/// f32 [.., M, N].
///
/// aicf.CodeConv, which float8-products makes: Conv of a float8 input and weights of the same type,
/// with the attributes of Conv. Inputs: x, w. The result is f32.
#pragma once

#include <string_view>

namespace aicf::ir {

inline constexpr std::string_view kScaledMatMul = "aicf.ScaledMatMul";
inline constexpr std::string_view kCodeConv = "aicf.CodeConv";

}  // namespace aicf::ir
