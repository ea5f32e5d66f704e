/// What every categorical kernel does with its draws.
#pragma once

#include "kernels/abi/problem.h"
#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {

/// Copies the table that draws are stored in, if there is one, to its output, unless both are the
/// same buffer. Every draw has to be stored after this.
inline void CopyDrawTable(const abi::ArgBlock& args) {
  if (!abi::StoresDraws(*args.problem)) return;
  const abi::TensorArg &from = Input(args, abi::kDrawTable),
                       &to = Output(args, args.output_count - 1);
  const int64_t first = 0;
  if (ElementAt(from, &first) == ElementAt(to, &first)) return;
  for (int64_t i = 0; i < from.shape[0]; ++i) StoreAt(to, &i, LoadAt(from, &i));
}

/// Stores what row b has drawn, whether that is valid, and the draw's copy in the table, as far as
/// the step has these.
inline void StoreDraw(const abi::ArgBlock& args, int64_t b, int64_t id, bool valid) {
  const bool stores = abi::StoresDraws(*args.problem);
  const int per_row = args.output_count - (stores ? 1 : 0);
  StoreAt(Output(args, 0), &b, IntScalar(id));
  if (per_row > 1) StoreAt(Output(args, 1), &b, IntScalar(valid));
  if (!stores) return;
  const abi::TensorArg& table = Output(args, args.output_count - 1);
  const int64_t place = LoadAt(Input(args, abi::kDrawPlaces), &b).i;
  if (place >= 0 && place < table.shape[0]) StoreAt(table, &place, IntScalar(id));
}

}  // namespace aicf::cpu
