/// The vector variants: kElements in lines along the innermost axis, elements moved as words.
#include <algorithm>
#include <cstdint>

#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/gather/gather.h"
#include "kernels/cpu/gather/loops.h"

namespace aicf::cpu {
namespace {

void Elements(const abi::ArgBlock& args, GatherLoop move) {
  const int axis = static_cast<int>(args.problem->as<abi::GatherAttrs>().axis);
  const abi::TensorArg& data = Input(args, 0);
  const abi::TensorArg& index = Input(args, 1);
  const abi::TensorArg& out = Output(args, 0);
  const int last = out.rank - 1;
  GatherLine line;
  line.element = static_cast<int>(DTypeBytes(data.dtype));
  line.narrow_index = index.dtype == DType::kI32;
  line.data_step = last == axis ? 0 : data.strides[last];
  line.index_step = index.strides[last];
  line.out_step = out.strides[last];
  line.axis_stride = data.strides[axis];
  line.extent = data.shape[axis];
  line.count = out.shape[last];
  Dims lines = ShapeOf(out);
  lines[last] = 1;
  const int64_t count = line.count == 0 ? 0 : ElementCount(lines).value_or(0);
  ParallelRanges(
      args, count, 8192 / std::max<int64_t>(line.count, 1) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          int64_t at[kMaxRank] = {};
          CoordinatesOf(lines, i, at);
          GatherLine l = line;
          l.index =
              static_cast<const char*>(index.data) + OffsetAt(index, at) * DTypeBytes(index.dtype);
          l.out = ElementAt(out, at);
          at[axis] = 0;
          l.data = ElementAt(data, at);
          move(l);
        }
      });
}

}  // namespace

void baseline::GatherElements(const abi::ArgBlock& args) { Elements(args, MoveElements); }
void avx2::GatherElements(const abi::ArgBlock& args) { Elements(args, MoveElements); }
void avx512::GatherElements(const abi::ArgBlock& args) { Elements(args, MoveElements); }

}  // namespace aicf::cpu
