/// cpu.append.ref: the cache as it was, then element by element what is new, in double.
#include "kernels/abi/append.h"
#include "kernels/cpu/append/append.h"
#include "kernels/cpu/common/indices.h"
#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {
namespace {

/// The value of the element of a head at `at`, turned together with its partner where it has one.
double TurnedAt(const abi::ArgBlock& args, const abi::TensorArg& x, const int64_t* at) {
  const int64_t pairs = args.problem->as<abi::AppendAttrs>().pairs;
  const double own = LoadAt(x, at).f;
  if (at[3] >= 2 * pairs) return own;
  const bool first = at[3] < pairs;
  const int64_t pair[kMaxRank] = {at[0], at[1], first ? at[3] : at[3] - pairs};
  const int64_t partner[kMaxRank] = {at[0], at[1], at[2], first ? at[3] + pairs : pair[2]};
  const double other = LoadAt(x, partner).f;
  const double cosine = LoadAt(Input(args, abi::kAppendCosine), pair).f;
  const double sine = LoadAt(Input(args, abi::kAppendSine), pair).f;
  return first ? own * cosine - other * sine : own * cosine + other * sine;
}

void StoreDouble(const abi::TensorArg& to, const int64_t* at, double value) {
  StoreAt(to, at, ScalarFromDouble(value, DType::kF32));
}

/// Copies the old cache to the output unless both are the same buffer.
void CopyCache(const abi::ArgBlock& args, int input, int output) {
  const abi::TensorArg &from = Input(args, input), &to = Output(args, output);
  const int64_t first[kMaxRank] = {};
  if (ElementAt(from, first) == ElementAt(to, first)) return;
  ParallelIndices(args, ShapeOf(to), [&](const int64_t* at) {
    CopyElement(ElementAt(to, at), ElementAt(from, at), DTypeBytes(to.dtype));
  });
}

/// The element of the cache that element `at` of a new row goes to; false where the row's place is
/// outside the cache, so that the row is left out.
bool SlotOf(const abi::ArgBlock& args, const int64_t* at, int64_t* slot) {
  const abi::TensorArg &places = Input(args, abi::kAppendPlaces),
                       &keys = Input(args, abi::kAppendKeys);
  for (int64_t axis = 0; axis < 2; ++axis) {
    const int64_t place[kMaxRank] = {at[0], at[1], axis};
    slot[axis] = LoadAt(places, place).i;
    if (slot[axis] < 0 || slot[axis] >= keys.shape[axis]) return false;
  }
  slot[2] = at[2];
  slot[3] = at[3];
  return true;
}

}  // namespace

void AppendRef(const abi::ArgBlock& args) {
  CopyCache(args, abi::kAppendKeys, abi::kNextKeys);
  CopyCache(args, abi::kAppendValues, abi::kNextValues);
  const abi::TensorArg &k = Input(args, abi::kAppendK), &v = Input(args, abi::kAppendV);
  ForEachIndex(ShapeOf(k), [&](const int64_t* at) {
    int64_t slot[kMaxRank] = {};
    if (!SlotOf(args, at, slot)) return;
    StoreDouble(Output(args, abi::kNextKeys), slot, TurnedAt(args, k, at));
    StoreDouble(Output(args, abi::kNextValues), slot, LoadAt(v, at).f);
  });
  if (args.problem->as<abi::AppendAttrs>().pairs == 0) return;
  const abi::TensorArg& q = Input(args, abi::kAppendQ);
  ParallelIndices(args, ShapeOf(q), [&](const int64_t* at) {
    StoreDouble(Output(args, abi::kTurnedQueries), at, TurnedAt(args, q, at));
  });
}

}  // namespace aicf::cpu
