// Attribute values of kernels/abi/attrs.h as device code spells them (a test holds the two equal).
#pragma once

namespace aicf {

enum { kFp32, kTf32, kFp16, kBf16, kFp8 };
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

}  // namespace aicf
