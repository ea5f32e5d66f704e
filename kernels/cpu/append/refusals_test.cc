// What the vector kernel of appends refuses, each once.
#include "kernels/abi/append.h"
#include "kernels/abi/kernel.h"
#include "kernels/abi/validate_faults.h"

namespace aicf {
namespace {

using namespace abi;           // NOLINT(google-build-using-namespace)
using namespace abi::testing;  // NOLINT(google-build-using-namespace)

Problem HeadsProblem(int64_t head) {
  const View cache = F32({5, 8, 2, head});
  return ProblemOf(Family::kAppend, AppendAttrs{4}, 8,
                   {F32({1, 3, 2, head}), F32({1, 3, 2, head}), DenseView(DType::kI32, {1, 3, 2}),
                    cache, cache, F32({1, 3, 4, head}), F32({1, 3, 4}), F32({1, 3, 4})},
                   {cache, cache, F32({1, 3, 4, head})});
}

std::string HeadsRefusal(const Problem& p) {
  EXPECT_EQ(ValidateProblem(p).message(), "");
  return FindKernel("cpu.append.heads_baseline")->supports(p, *FindDevice("cpu:baseline"));
}

// The elements of the last axis two apart.
View Apart(View v) {
  for (int64_t& stride : v.strides) stride *= 2;
  return v;
}

TEST(CpuRefusals, OfAppends) {
  EXPECT_EQ(HeadsRefusal(HeadsProblem(10)), "");
  EXPECT_EQ(HeadsRefusal(HeadsProblem(1024)), "");
  EXPECT_NE(HeadsRefusal(HeadsProblem(1025)).find("at most 1024"), std::string::npos);
  Problem places = HeadsProblem(10);
  places.inputs[kAppendPlaces] = Apart(places.inputs[kAppendPlaces]);
  EXPECT_EQ(HeadsRefusal(places), "");
  for (size_t k = 0; k < 8; ++k) {
    Problem p = HeadsProblem(10);
    p.inputs[k] = Apart(p.inputs[k]);
    const bool fine = k == kAppendPlaces;
    EXPECT_EQ(HeadsRefusal(p), fine ? "" : StrCat("needs the last axis of operand ", k, " dense"));
    if (k < kAppendCosine) continue;
    p = HeadsProblem(10);
    p.inputs[k].dtype = DType::kF16;
    EXPECT_EQ(HeadsRefusal(p), "needs cosines and sines of f32, not f16");
  }
  for (size_t o = 0; o < 3; ++o) {
    Problem p = HeadsProblem(10);
    p.outputs[o] = Apart(p.outputs[o]);
    EXPECT_EQ(HeadsRefusal(p), "needs the last axis of its outputs dense") << o;
  }
}

}  // namespace
}  // namespace aicf
