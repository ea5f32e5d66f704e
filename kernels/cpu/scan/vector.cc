/// The vector variants: x as [outer, extent, inner]; neighbouring lines run side by side, so that
/// memory is read and written in rows. Where the axis is innermost, the lines of several outer
/// positions do.
#include <algorithm>

#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/scan/loops.h"
#include "kernels/cpu/scan/scan.h"

namespace aicf::cpu {
namespace {

/// Number of lines that run side by side where their elements are far apart: enough to hide the
/// latency of an addition.
constexpr int64_t kApart = 8;

void Scan(const abi::ArgBlock& args, ScanLoop loop) {
  const auto& attrs = args.problem->as<abi::ScanAttrs>();
  const int axis = static_cast<int>(attrs.axis);
  const abi::TensorArg &x = Input(args, 0), &out = Output(args, 0);
  int64_t outer = 1, inner = 1;
  for (int d = 0; d < axis; ++d) outer *= x.shape[d];
  for (int d = axis + 1; d < x.rank; ++d) inner *= x.shape[d];
  const int64_t extent = x.shape[axis], bytes = DTypeBytes(x.dtype);
  if (outer * inner * extent == 0) return;
  const char* from = static_cast<const char*>(x.data) + x.offset * bytes;
  char* to = static_cast<char*>(out.data) + out.offset * bytes;
  ScanLines lines;
  lines.dtype = x.dtype;
  lines.product = attrs.kind == abi::ScanKind::kProd;
  lines.exclusive = attrs.exclusive;
  lines.extent = extent;
  lines.step = attrs.reverse ? -inner : inner;
  const bool apart = inner == 1;
  lines.line_step = apart ? extent : 1;
  // Groups of lines: along the outer positions, or along the inner ones of each outer position.
  const int64_t most = apart ? kApart : kScanWidth;
  const int64_t side = apart ? outer : inner, groups = (side - 1) / most + 1;
  const int64_t start = attrs.reverse ? (extent - 1) * inner : 0;
  const int64_t grain = 8192 / std::max<int64_t>(1, extent * std::min(side, most)) + 1;
  ParallelRanges(args, groups * (apart ? 1 : outer), grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % groups * most;
      const int64_t at = i / groups * extent * inner + first * lines.line_step + start;
      ScanLines own = lines;
      own.x = from + at * bytes;
      own.out = to + at * bytes;
      own.width = std::min(most, side - first);
      loop(own);
    }
  });
}

}  // namespace

void baseline::Scan(const abi::ArgBlock& args) { cpu::Scan(args, RunScan); }
void avx2::Scan(const abi::ArgBlock& args) { cpu::Scan(args, RunScan); }
void avx512::Scan(const abi::ArgBlock& args) { cpu::Scan(args, RunScan); }

}  // namespace aicf::cpu
