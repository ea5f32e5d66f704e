/// cpu.scatter.elements: updates line by line along their innermost axis.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/scatter/combine.h"
#include "kernels/cpu/scatter/hosts.h"
#include "kernels/cpu/scatter/scatter.h"

namespace aicf::cpu {

void CopyDense(const abi::ArgBlock& args) {
  const abi::TensorArg& data = Input(args, 0);
  const abi::TensorArg& out = Output(args, 0);
  const int64_t bytes = DTypeBytes(data.dtype);
  const auto* from = static_cast<const char*>(data.data) + data.offset * bytes;
  auto* to = static_cast<char*>(out.data) + out.offset * bytes;
  if (from == to) return;
  const int64_t total = ElementCount(ShapeOf(out)).value_or(0) * bytes;
  if (scatter_hosts::RepeatsOne(args.problem->inputs[0])) {
    for (int64_t at = 0; at < total; at += bytes) CopyElement(to + at, from, bytes);
    return;
  }
  ParallelRanges(args, total, int64_t{256} * 1024, [&](int64_t begin, int64_t end) {
    std::memcpy(to + begin, from + begin, static_cast<size_t>(end - begin));
  });
}

namespace {

/// One line of updates: offsets of the first and strides. `out_step` is 0 along the index axis.
struct Line {
  int64_t index = 0, update = 0, out = 0;
  int64_t index_step = 0, update_step = 0, out_step = 0;
  int64_t axis_stride = 0, extent = 0, count = 0;
};

template <abi::ScatterReduction kReduction, class T, class Index>
void ApplyLine(const Line& l, const Index* index, const T* update, T* out) {
  for (int64_t i = 0; i < l.count; ++i) {
    const int64_t at =
        WrappedIndex(static_cast<int64_t>(index[l.index + i * l.index_step]), l.extent);
    if (at < 0) continue;
    T& target = out[l.out + at * l.axis_stride + i * l.out_step];
    target = Combine<kReduction>(target, update[l.update + i * l.update_step]);
  }
}

/// Applies all updates whose coordinates before the axis are those of `prefix`, in row-major order.
/// No other prefix has the same targets, so that prefixes can run in parallel.
template <abi::ScatterReduction kReduction, class T>
void ApplyPrefix(const abi::ArgBlock& args, int axis, const int64_t* prefix) {
  const abi::TensorArg &index = Input(args, 1), &update = Input(args, 2), &out = Output(args, 0);
  const int last = index.rank - 1;
  Line line;
  line.index_step = index.strides[last];
  line.update_step = update.strides[last];
  line.out_step = last == axis ? 0 : out.strides[last];
  line.axis_stride = out.strides[axis];
  line.extent = out.shape[axis];
  line.count = index.shape[last];
  Dims rest = ShapeOf(index);
  for (int d = 0; d < axis; ++d) rest[d] = 1;
  rest[last] = 1;
  ForEachIndex(rest, [&](const int64_t* inner) {
    int64_t at[kMaxRank] = {};
    for (int d = 0; d < index.rank; ++d) at[d] = d < axis ? prefix[d] : inner[d];
    line.index = OffsetAt(index, at);
    line.update = OffsetAt(update, at);
    at[axis] = 0;
    line.out = OffsetAt(out, at);
    const auto* u = static_cast<const T*>(update.data);
    auto* o = static_cast<T*>(out.data);
    if (index.dtype == DType::kI32) {
      ApplyLine<kReduction>(line, static_cast<const int32_t*>(index.data), u, o);
    } else {
      ApplyLine<kReduction>(line, static_cast<const int64_t*>(index.data), u, o);
    }
  });
}

}  // namespace

void ScatterElements(const abi::ArgBlock& args) {
  const auto& attrs = args.problem->as<abi::ScatterAttrs>();
  const int axis = static_cast<int>(attrs.axis);
  const Dims shape = ShapeOf(Input(args, 1));
  CopyDense(args);
  Dims prefixes;
  for (int d = 0; d < axis; ++d) prefixes.push_back(shape[d]);
  const int64_t updates = ElementCount(shape).value_or(0);
  if (updates == 0) return;
  const int64_t count = ElementCount(prefixes).value_or(0);
  VisitCombine(Input(args, 0).dtype, attrs.reduction, [&](auto zero, auto reduction) {
    ParallelRanges(args, count, 8192 * count / updates + 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        int64_t prefix[kMaxRank] = {};
        CoordinatesOf(prefixes, i, prefix);
        ApplyPrefix<decltype(reduction)::value, decltype(zero)>(args, axis, prefix);
      }
    });
  });
}

}  // namespace aicf::cpu
