#if !defined(AICF_ISA_baseline)

#include <bit>
#include <limits>

#include "kernels/cpu/blockgemm/layout.h"
#include "kernels/cpu/blockgemm/products.h"
#include "kernels/cpu/blockgemm/wide.h"

AICF_ISA_BEGIN
namespace {

// A group without an element of larger magnitude than kTiny is rounded to zero: 127 over its
// largest magnitude might not be finite.
constexpr float kTiny = 1e-30f, kMost = std::numeric_limits<float>::max();

}  // namespace

void RoundBlockRow(const float* from, const BlockRounding& r, int64_t row, BlockRows& to) {
  int8_t* codes = to.codes + row * to.depth;
  float* scales = to.scales + row * to.depth / kBlockGroup;
  BlockRows::Start* starts = to.starts + row * to.depth / r.run;
  const auto start = [&](float scale, int32_t sum) {
    if (r.minimum) {
      starts++->sum = scale * static_cast<float>(sum);
    } else {
      starts++->correction = -r.offset * sum;
    }
  };
  for (int64_t k = 0; k < to.depth; k += kBlockGroup) {
    const Floats low = LoadFloats(from + k), high = LoadFloats(from + k + 16);
    // As an integer, a NaN is larger than any number: it becomes the group's scale, and so the
    // result becomes NaN.
    const int32_t bits = LargestOf(Larger(MagnitudeBits(low), MagnitudeBits(high)));
    const float largest = std::bit_cast<float>(bits);
    const float scale = largest / 127.0f;
    Words a = RepeatWord(0), b = a;
    if (largest > kTiny && largest <= kMost) {
      const Floats inverse = RepeatFloat(127.0f / largest);
      a = RoundToWords(low * inverse);
      b = RoundToWords(high * inverse);
    }
    StoreBytes(codes + k, a);
    StoreBytes(codes + k + 16, b);
    *scales++ = scale;
    if (r.run == kBlockGroup) {
      start(scale, SumOf(a + b));
    } else {
      start(scale, SumOf(a));
      start(scale, SumOf(b));
    }
  }
}

AICF_ISA_END

#endif
