/// cpu.gather.elements: kElements in lines along the innermost axis, elements moved as words.
#include <algorithm>
#include <cstdint>

#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/gather/gather.h"

namespace aicf::cpu {
namespace {

/// One line of the output: `count` elements, each operand walked with its stride.
struct Line {
  int64_t data = 0, index = 0, out = 0;  ///< offsets of the first
  int64_t data_step = 0;  ///< along the innermost axis; 0 when that is the index axis
  int64_t index_step = 0, out_step = 0;
  int64_t axis_stride = 0, extent = 0, count = 0;
};

template <class Word, class Index>
void MoveLine(const Line& l, const Word* data, const Index* index, Word* out) {
  for (int64_t i = 0; i < l.count; ++i) {
    const int64_t at =
        WrappedIndex(static_cast<int64_t>(index[l.index + i * l.index_step]), l.extent);
    out[l.out + i * l.out_step] =
        at < 0 ? Word{} : data[l.data + at * l.axis_stride + i * l.data_step];
  }
}

template <class Word>
void MoveLine(const Line& l, const abi::TensorArg& data, const abi::TensorArg& index,
              const abi::TensorArg& out) {
  const auto* from = static_cast<const Word*>(data.data);
  auto* to = static_cast<Word*>(out.data);
  if (index.dtype == DType::kI32) {
    MoveLine(l, from, static_cast<const int32_t*>(index.data), to);
  } else {
    MoveLine(l, from, static_cast<const int64_t*>(index.data), to);
  }
}

void MoveLine(const Line& l, const abi::TensorArg& data, const abi::TensorArg& index,
              const abi::TensorArg& out) {
  switch (DTypeBytes(data.dtype)) {
    case 1:
      return MoveLine<uint8_t>(l, data, index, out);
    case 2:
      return MoveLine<uint16_t>(l, data, index, out);
    case 4:
      return MoveLine<uint32_t>(l, data, index, out);
    default:
      return MoveLine<uint64_t>(l, data, index, out);
  }
}

}  // namespace

void GatherElements(const abi::ArgBlock& args) {
  const int axis = static_cast<int>(args.problem->as<abi::GatherAttrs>().axis);
  const abi::TensorArg& data = Input(args, 0);
  const abi::TensorArg& index = Input(args, 1);
  const abi::TensorArg& out = Output(args, 0);
  const int last = out.rank - 1;
  Line line;
  line.data_step = last == axis ? 0 : data.strides[last];
  line.index_step = index.strides[last];
  line.out_step = out.strides[last];
  line.axis_stride = data.strides[axis];
  line.extent = data.shape[axis];
  line.count = out.shape[last];
  Dims lines = ShapeOf(out);
  lines[last] = 1;
  const int64_t count = line.count == 0 ? 0 : ElementCount(lines).value_or(0);
  ParallelRanges(args, count, 8192 / std::max<int64_t>(line.count, 1) + 1,
                 [&](int64_t begin, int64_t end) {
                   for (int64_t i = begin; i < end; ++i) {
                     int64_t at[kMaxRank] = {};
                     CoordinatesOf(lines, i, at);
                     Line l = line;
                     l.index = OffsetAt(index, at);
                     l.out = OffsetAt(out, at);
                     at[axis] = 0;
                     l.data = OffsetAt(data, at);
                     MoveLine(l, data, index, out);
                   }
                 });
}

}  // namespace aicf::cpu
