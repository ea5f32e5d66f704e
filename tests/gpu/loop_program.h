/// A program with a loop inside a loop and a guarded step in the inner one.
#pragma once

#include <cmath>
#include <string_view>

namespace aicf::gpu {

// for (c = 0; c < limit; ++c) {
//   for (d = 0; d < c; ++d) { x = flag ? sqrt(x) : x; y = y + x }
// }
inline constexpr std::string_view kLoopProgram = R"(
lowered "loops"
%0 = input "limit" f32 1
%1 = input "flag" bool 1
%2 = input "x" f32 256
%3 = constant "zero" f32 1 [0]
%4 = carried "c" f32 1
%5 = carried "outer" bool 1
%6 = carried "d" f32 1
%7 = carried "inner" bool 1
%8 = carried "x.state" f32 256
%9 = carried "sum" f32 256
%10 = temp "root" f32 256
%11 = temp "x.next" f32 256
%12 = temp "sum.next" f32 256
%13 = temp "d.next" f32 1
%14 = temp "inner.next" bool 1
%15 = temp "c.next" f32 1
%16 = temp "outer.next" bool 1
%17 = output "y" f32 256
inputs %0, %1, %2
outputs %17
loop 0 while %5
loop 1 while %7 in 0
step ["c0"] (%3) -> (%4) : copy math=fp32 starts={[0]} has_fill=0 fill=0 core=1
  in(f32 1 [1]+0) out(f32 1 [1]+0) pro id epi id
step ["x0"] (%2) -> (%8) : copy math=fp32 starts={[0]} has_fill=0 fill=0 core=1
  in(f32 256 [1]+0) out(f32 256 [1]+0) pro id epi id
step ["sum0"] (%3) -> (%9) : copy math=fp32 starts={[0]} has_fill=0 fill=0 core=1
  in(f32 256 [0]+0) out(f32 256 [1]+0) pro id epi id
step ["outer0"] (%4, %0) -> (%5) : elementwise math=fp32 core=2 in(f32 1 [1]+0, f32 1 [1]+0)
  out(bool 1 [1]+0) pro id
  epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = lt %0 %1 : bool) -> %2
step ["d0"] loop 0 (%3) -> (%6) : copy math=fp32 starts={[0]} has_fill=0 fill=0 core=1
  in(f32 1 [1]+0) out(f32 1 [1]+0) pro id epi id
step ["inner0"] loop 0 (%6, %4) -> (%7) : elementwise math=fp32 core=2
  in(f32 1 [1]+0, f32 1 [1]+0) out(bool 1 [1]+0) pro id
  epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = lt %0 %1 : bool) -> %2
step ["root"] loop 1 if %1 (%8) -> (%10) : elementwise math=fp32 core=1 in(f32 256 [1]+0)
  out(f32 256 [1]+0) pro id epi (%0 = in 0 : f32; %1 = sqrt %0 : f32) -> %1
step ["choice"] loop 1 (%1, %10, %8) -> (%11) : elementwise math=fp32 core=3
  in(bool 256 [0]+0, f32 256 [1]+0, f32 256 [1]+0) out(f32 256 [1]+0) pro id
  epi (%0 = in 0 : bool; %1 = in 1 : f32; %2 = in 2 : f32; %3 = select %0 %1 %2 : f32) -> %3
step ["sum"] loop 1 (%9, %11) -> (%12) : elementwise math=fp32 core=2
  in(f32 256 [1]+0, f32 256 [1]+0) out(f32 256 [1]+0) pro id
  epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = add %0 %1 : f32) -> %2
step ["d"] loop 1 (%6) -> (%13) : elementwise math=fp32 core=1 in(f32 1 [1]+0) out(f32 1 [1]+0)
  pro id epi (%0 = in 0 : f32; %1 = const 1 : f32; %2 = add %0 %1 : f32) -> %2
step ["inner"] loop 1 (%13, %4) -> (%14) : elementwise math=fp32 core=2
  in(f32 1 [1]+0, f32 1 [1]+0) out(bool 1 [1]+0) pro id
  epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = lt %0 %1 : bool) -> %2
step ["x="] loop 1 (%11) -> (%8) : copy math=fp32 starts={[0]} has_fill=0 fill=0 core=1
  in(f32 256 [1]+0) out(f32 256 [1]+0) pro id epi id
step ["sum="] loop 1 (%12) -> (%9) : copy math=fp32 starts={[0]} has_fill=0 fill=0 core=1
  in(f32 256 [1]+0) out(f32 256 [1]+0) pro id epi id
step ["d="] loop 1 (%13) -> (%6) : copy math=fp32 starts={[0]} has_fill=0 fill=0 core=1
  in(f32 1 [1]+0) out(f32 1 [1]+0) pro id epi id
step ["inner="] loop 1 (%14) -> (%7) : copy math=fp32 starts={[0]} has_fill=0 fill=0 core=1
  in(bool 1 [1]+0) out(bool 1 [1]+0) pro id epi id
step ["c"] loop 0 (%4) -> (%15) : elementwise math=fp32 core=1 in(f32 1 [1]+0) out(f32 1 [1]+0)
  pro id epi (%0 = in 0 : f32; %1 = const 1 : f32; %2 = add %0 %1 : f32) -> %2
step ["outer"] loop 0 (%15, %0) -> (%16) : elementwise math=fp32 core=2
  in(f32 1 [1]+0, f32 1 [1]+0) out(bool 1 [1]+0) pro id
  epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = lt %0 %1 : bool) -> %2
step ["c="] loop 0 (%15) -> (%4) : copy math=fp32 starts={[0]} has_fill=0 fill=0 core=1
  in(f32 1 [1]+0) out(f32 1 [1]+0) pro id epi id
step ["outer="] loop 0 (%16) -> (%5) : copy math=fp32 starts={[0]} has_fill=0 fill=0 core=1
  in(bool 1 [1]+0) out(bool 1 [1]+0) pro id epi id
step ["y"] (%9, %8) -> (%17) : elementwise math=fp32 core=2 in(f32 256 [1]+0, f32 256 [1]+0)
  out(f32 256 [1]+0) pro id epi (%0 = in 0 : f32; %1 = in 1 : f32; %2 = add %0 %1 : f32) -> %2
)";

/// The value of an element of y for the corresponding element of x.
inline float LoopProgramExpected(float x, int limit, bool flag) {
  float sum = 0;
  for (int c = 0; c < limit; ++c) {
    for (int d = 0; d < c; ++d) {
      if (flag) x = std::sqrt(x);
      sum += x;
    }
  }
  return sum + x;
}

}  // namespace aicf::gpu
