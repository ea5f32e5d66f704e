#include "kernels/cpu/attention/keys.h"

#include "kernels/cpu/common/reference.h"

namespace aicf::cpu {
namespace {

int64_t IntegerAt(const abi::ArgBlock& args, int input, int64_t batch) {
  const int64_t at[kMaxRank] = {batch};
  return LoadAt(Input(args, input), at).i;
}

}  // namespace

Request RequestOf(const abi::ArgBlock& args, const abi::AttentionShape& s, int64_t batch) {
  Request r{s.keys, 0};
  if (s.lengths >= 0)
    r.valid_keys = std::clamp<int64_t>(IntegerAt(args, s.lengths, batch), 0, s.keys);
  const int64_t origin = s.origins >= 0 ? IntegerAt(args, s.origins, batch) : 0;
  const auto& a = args.problem->as<abi::AttentionAttrs>();
  r.first_position = abi::FirstPosition(a, s, r.valid_keys, origin);
  return r;
}

KeyRows::KeyRows(const abi::ArgBlock& args, const abi::AttentionShape& s, int input, int64_t batch,
                 int64_t head) {
  const abi::TensorArg& t = Input(args, input);
  const int64_t bytes = DTypeBytes(t.dtype);
  const int64_t at[kMaxRank] = {s.table < 0 ? batch : 0, head};
  first_ = static_cast<const char*>(ElementAt(t, at));
  row_bytes_ = t.strides[2] * bytes;
  element_stride_ = t.strides[3];
  if (s.table < 0) return;
  const abi::TensorArg& table = Input(args, s.table);
  const int64_t row[kMaxRank] = {batch};
  table_ = static_cast<const int32_t*>(ElementAt(table, row));
  table_stride_ = table.strides[1];
  page_ = s.page;
  pool_ = s.pool;
  page_bytes_ = t.strides[0] * bytes;
}

bool KeyRows::Find(int64_t first, int64_t count, const char** to) const {
  bool holes = false;
  for (int64_t i = 0; i < count; ++i) {
    to[i] = At(first + i);
    holes = holes || to[i] == nullptr;
  }
  return holes;
}

int64_t KeyRows::element_stride() const { return element_stride_; }

}  // namespace aicf::cpu
