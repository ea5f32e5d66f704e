/// cpu.gather.rows: whole rows of the table, copied as bytes. A row is what follows the index: the
/// axes after `axis` (kTake), or after the last coordinate (kPoints).
#include <algorithm>
#include <cstring>

#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/parallel.h"
#include "kernels/cpu/common/reference.h"
#include "kernels/cpu/gather/gather.h"

namespace aicf::cpu {
namespace {

constexpr int64_t kPieceBytes = 64 * 1024;

/// Copies a row of `bytes` bytes. Rows of 4 bytes are common and too short to be worth a call.
void CopyRow(char* to, const char* from, int64_t bytes) {
  if (bytes == 4) {
    std::memcpy(to, from, 4);
  } else {
    std::memcpy(to, from, static_cast<size_t>(bytes));
  }
}

/// Offset in the table of the row at `at` (coordinates of the output); -1 when out of range.
int64_t TakenRow(const abi::ArgBlock& args, const int64_t* at) {
  const abi::TensorArg& data = Input(args, 0);
  const int axis = static_cast<int>(args.problem->as<abi::GatherAttrs>().axis);
  const int64_t index = WrappedIndex(LoadAt(Input(args, 1), at + axis).i, data.shape[axis]);
  if (index < 0) return -1;
  int64_t from = data.offset + index * data.strides[axis];
  for (int d = 0; d < axis; ++d) from += at[d] * data.strides[d];
  return from;
}

int64_t PointedRow(const abi::ArgBlock& args, const int64_t* at) {
  const abi::TensorArg& data = Input(args, 0);
  const abi::TensorArg& indices = Input(args, 1);
  const int batch = static_cast<int>(args.problem->as<abi::GatherAttrs>().batch_axes);
  const int leading = indices.rank - 1;
  int64_t where[kMaxRank] = {};
  std::copy(at, at + leading, where);
  int64_t from = data.offset;
  for (int d = 0; d < batch; ++d) from += at[d] * data.strides[d];
  for (int k = 0; k < indices.shape[leading]; ++k) {
    where[leading] = k;
    const int64_t index = WrappedIndex(LoadAt(indices, where).i, data.shape[batch + k]);
    if (index < 0) return -1;
    from += index * data.strides[batch + k];
  }
  return from;
}

}  // namespace

void GatherRows(const abi::ArgBlock& args) {
  const bool points = args.problem->as<abi::GatherAttrs>().kind == abi::GatherKind::kPoints;
  const abi::TensorArg& data = Input(args, 0);
  const abi::TensorArg& out = Output(args, 0);
  const int64_t element = DTypeBytes(data.dtype);
  // The axes of the output before those of a row count the rows.
  const int places_rank = out.rank - GatherRowRank(*args.problem);
  Dims places;
  int64_t row = element;
  for (int d = 0; d < places_rank; ++d) places.push_back(out.shape[d]);
  for (int d = places_rank; d < out.rank; ++d) row *= out.shape[d];
  const int64_t count = row == 0 ? 0 : ElementCount(places).value_or(0);
  const int64_t grain = std::max<int64_t>(1, kPieceBytes / std::max<int64_t>(row, 64));
  ParallelRanges(args, count, grain, [&](int64_t begin, int64_t end) {
    int64_t at[kMaxRank] = {};
    CoordinatesOf(places, begin, at);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = points ? PointedRow(args, at) : TakenRow(args, at);
      char* to = static_cast<char*>(ElementAt(out, at));
      if (from < 0) {
        std::memset(to, 0, static_cast<size_t>(row));
      } else {
        CopyRow(to, static_cast<const char*>(data.data) + from * element, row);
      }
      for (int d = places_rank - 1; d >= 0 && ++at[d] == places[d]; --d) at[d] = 0;
    }
  });
}

}  // namespace aicf::cpu
