/// What an importer leaves to shape inference, because the meaning of an older op depends on ranks
/// or dtypes that are not known when a file is read. InferAndFold rewrites every node that carries
/// one of these (compiler/passes/graph/modernize.h); no pass or lowering sees them.
#pragma once

#include <string_view>

namespace aicf::ir {

/// Int, on binary ops: input 1's axes line up with input 0's from this axis on (opset < 7).
inline constexpr std::string_view kLegacyAxis = "legacy_axis";
/// Int 1, on Softmax, LogSoftmax and Hardmax: normalises over all axes from `axis` on (opset < 13).
inline constexpr std::string_view kLegacyFlatten = "legacy_flatten";
/// Int 1, on PRelu: a vector of slopes runs along axis 1 (opset < 7).
inline constexpr std::string_view kLegacyChannelSlope = "legacy_channel_slope";
/// Ints: the numbers of inputs that are f32 constants (attributes that became inputs) and take the
/// dtype of input 0.
inline constexpr std::string_view kLegacyScalars = "legacy_scalars";
/// Int 1, on Resize: nearest rounds up where it shrinks and down where it grows (opset 10).
inline constexpr std::string_view kLegacyNearest = "legacy_nearest";
/// Op: Cast to the dtype of input 1.
inline constexpr std::string_view kCastLike = "CastLike";

}  // namespace aicf::ir
