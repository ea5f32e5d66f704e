/// cpu.gather.rows: whole rows of the table, copied as bytes.
#include <algorithm>
#include <cstring>

#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/gather/gather.h"

namespace aicf::cpu {
namespace {

constexpr int64_t kPieceBytes = 64 * 1024;

/// A row of `bytes` bytes; 4 is by far the most common length that a call would be wasted on.
void CopyRow(char* to, const char* from, int64_t bytes) {
  if (bytes == 4) {
    std::memcpy(to, from, 4);
  } else {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
}

}  // namespace

void GatherRows(const abi::ArgBlock& args) {
  const int axis = static_cast<int>(args.problem->as<abi::GatherAttrs>().axis);
  const abi::TensorArg& data = Input(args, 0);
  const abi::TensorArg& indices = Input(args, 1);
  const abi::TensorArg& out = Output(args, 0);
  const int64_t element = DTypeBytes(data.dtype);
  int64_t row = element;
  for (int d = axis + 1; d < data.rank; ++d) row *= data.shape[d];
  // One point per row: the axes before `axis`, then those of the indices.
  Dims points;
  for (int d = 0; d < axis + indices.rank; ++d) points.push_back(out.shape[d]);
  const int64_t count = row == 0 ? 0 : ElementCount(points).value_or(0);
  const int64_t grain = std::max<int64_t>(1, kPieceBytes / std::max<int64_t>(row, 64));
  ParallelRanges(args, count, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t at[kMaxRank] = {};
      for (int64_t rest = i, d = points.rank() - 1; d >= 0; --d) {
        at[d] = rest % points[static_cast<int>(d)];
        rest /= points[static_cast<int>(d)];
      }
      int64_t index = LoadAt(indices, at + axis).i;
      if (index < 0) index += data.shape[axis];
      char* to = static_cast<char*>(ElementAt(out, at));
      if (index < 0 || index >= data.shape[axis]) {
        std::memset(to, 0, static_cast<size_t>(row));
        continue;
      }
      int64_t from = data.offset + index * data.strides[axis];
      for (int d = 0; d < axis; ++d) from += at[d] * data.strides[d];
      CopyRow(to, static_cast<const char*>(data.data) + from * element, row);
    }
  });
}

}  // namespace aicf::cpu
