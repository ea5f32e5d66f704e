/// cpu.append.heads_*: heads whose elements are neighbours, in parallel.
#include "kernels/cpu/append/heads.h"

#include <cstring>

#include "kernels/abi/append.h"
#include "kernels/cpu/append/append.h"
#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {

namespace {

/// Which tensors a head of a row is read from and written to.
struct HeadPlace {
  int input, output;
  int64_t head;
  bool turns;
};

class Appender {
 public:
  Appender(const abi::ArgBlock& args, AppendHeadLoop loop)
      : args_(args), loop_(loop), shape_(abi::AppendShapeOf(*args.problem)) {}

  void Run() const {
    CopyOther(abi::kAppendKeys, abi::kNextKeys);
    CopyOther(abi::kAppendValues, abi::kNextValues);
    const int64_t heads = shape_.query_heads + 2 * shape_.heads;
    constexpr int64_t kGrain = 8192;  // elements
    const int64_t grain = kGrain / std::max<int64_t>(1, shape_.head) + 1;
    ParallelRanges(args_, shape_.rows * heads, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) Append(i / heads, PlaceOf(i % heads));
    });
  }

 private:
  /// Copies the old cache to the output unless both are the same buffer.
  void CopyOther(int input, int output) const {
    const abi::TensorArg &from = Input(args_, input), &to = Output(args_, output);
    if (ElementsFrom(from) == ElementsFrom(to)) return;
    const int64_t bytes = DTypeBytes(to.dtype);
    Dims lines = ShapeOf(to);
    const int64_t line = lines[3];
    lines[3] = 1;
    ParallelIndices(args_, line == 0 ? Dims{0} : lines, [&](const int64_t* at) {
      std::memcpy(ElementAt(to, at), ElementAt(from, at), static_cast<size_t>(line * bytes));
    });
  }
  static const void* ElementsFrom(const abi::TensorArg& t) {
    const int64_t first[kMaxRank] = {};
    return ElementAt(t, first);
  }

  HeadPlace PlaceOf(int64_t head) const {
    const bool turns = shape_.pairs > 0;
    if (head < shape_.query_heads) return {abi::kAppendQ, abi::kTurnedQueries, head, true};
    head -= shape_.query_heads;
    if (head < shape_.heads) return {abi::kAppendK, abi::kNextKeys, head, turns};
    return {abi::kAppendV, abi::kNextValues, head - shape_.heads, false};
  }

  void Append(int64_t row, const HeadPlace& place) const {
    const int64_t tokens = Input(args_, abi::kAppendK).shape[1];
    const int64_t position[kMaxRank] = {row / tokens, row % tokens};
    const int64_t at[kMaxRank] = {position[0], position[1], place.head};
    int64_t to[kMaxRank] = {position[0], position[1], place.head};
    if (place.output != abi::kTurnedQueries && !SlotAt(position, to)) return;
    AppendedHead h;
    h.from = ElementAt(Input(args_, place.input), at);
    h.to = ElementAt(Output(args_, place.output), to);
    h.from_dtype = Input(args_, place.input).dtype;
    h.to_dtype = Output(args_, place.output).dtype;
    h.count = shape_.head;
    if (place.turns) {
      h.pairs = shape_.pairs;
      h.cosine = static_cast<float*>(ElementAt(Input(args_, abi::kAppendCosine), position));
      h.sine = static_cast<float*>(ElementAt(Input(args_, abi::kAppendSine), position));
    }
    loop_(h);
  }

  /// Sets slot[0] and slot[1] to the page and the row that the new row goes to; false where that
  /// place is outside the cache, so that the row is left out.
  bool SlotAt(const int64_t* position, int64_t* slot) const {
    const abi::TensorArg& places = Input(args_, abi::kAppendPlaces);
    const abi::TensorArg& cache = Input(args_, abi::kAppendKeys);
    const int64_t first = OffsetAt(places, position);
    for (int axis = 0; axis < 2; ++axis) {
      slot[axis] = IndexAt(places, first + axis * places.strides[2]);
      if (slot[axis] < 0 || slot[axis] >= cache.shape[axis]) return false;
    }
    return true;
  }

  const abi::ArgBlock& args_;
  AppendHeadLoop loop_;
  abi::AppendShape shape_;
};

}  // namespace

void baseline::AppendHeads(const abi::ArgBlock& args) { Appender(args, AppendHead).Run(); }
void avx2::AppendHeads(const abi::ArgBlock& args) { Appender(args, AppendHead).Run(); }
void avx512::AppendHeads(const abi::ArgBlock& args) { Appender(args, AppendHead).Run(); }

}  // namespace aicf::cpu
