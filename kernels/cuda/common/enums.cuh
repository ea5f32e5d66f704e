// Attribute values of kernels/abi/attrs.h and formats of base/block_format.def as device code
// spells them (a test holds the two equal).
#pragma once

namespace aicf {

enum { kFp32, kTf32, kFp16, kBf16, kFp8, kInt8 };
enum { kReduceSum, kReduceProd, kReduceMin, kReduceMax, kReduceMean, kReduceArgMin, kReduceArgMax };
enum { kPoolMax, kPoolAverage, kPoolLp };
enum { kSoftmax, kLogSoftmax, kLayerNorm, kRmsNorm };
enum { kNearest, kLinear, kCubic };
enum {
  kHalfPixel,
  kPytorchHalfPixel,
  kAlignCorners,
  kAsymmetric,
  kHalfPixelSymmetric,
  kTfHalfPixelForNN
};
enum { kRoundPreferFloor, kRoundPreferCeil, kFloor, kCeil };
enum { kGatherTake, kGatherElements, kGatherPoints };
enum { kScatterElements, kScatterPoints };
enum { kScatterNone, kScatterAdd, kScatterMul, kScatterMin, kScatterMax };
enum { kScanSum, kScanProd };
enum { kPadZeros, kPadBorder, kPadReflection };
enum { kRoiAlignAverage, kRoiAlignMax, kRoiPoolMax };
enum { kCellRnn, kCellGru, kCellLstm };
enum { kRowsFixed, kRowsAtLastKeys, kRowsByOperand };
enum { kForwardDirection, kReverseDirection, kBothDirections };
enum {
  kTanhFunction,
  kSigmoidFunction,
  kReluFunction,
  kAffineFunction,
  kLeakyReluFunction,
  kThresholdedReluFunction,
  kScaledTanhFunction,
  kHardSigmoidFunction,
  kEluFunction,
  kSoftsignFunction,
  kSoftplusFunction
};
namespace block_format {
enum { kF32, kF16, kQ4_0, kQ4_1, kQ5_0, kQ5_1, kQ8_0, kQ2_K, kQ3_K, kQ4_K, kQ5_K, kQ6_K, kBF16 };
}

}  // namespace aicf
