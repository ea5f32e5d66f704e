/// Reading of an attention step's small operands: how many keys a request has, where its rows lie,
/// and where a key's elements are in a cache of pages.
#pragma once

#include "kernels/abi/attention.h"
#include "kernels/abi/kernel.h"

namespace aicf::cpu {

/// What holds for all rows of one request.
struct Request {
  int64_t valid_keys = 0;
  int64_t first_position = 0;
};
Request RequestOf(const abi::ArgBlock& args, const abi::AttentionShape& shape, int64_t batch);

/// Keys or values of one request and key head as rows of elements. Without pages, row j is at
/// first + j * row_stride; with pages, in the page that the table names.
class KeyRows {
 public:
  /// `input`: 1 for keys, 2 for values.
  KeyRows(const abi::ArgBlock& args, const abi::AttentionShape& shape, int input, int64_t batch,
          int64_t head);

  /// Address of key j's first element; nullptr where its page is outside the pool.
  const char* At(int64_t key) const {
    if (page_ == 0) return first_ + key * row_bytes_;
    const int64_t id = table_[key / page_ * table_stride_];
    if (id < 0 || id >= pool_) return nullptr;
    return first_ + id * page_bytes_ + key % page_ * row_bytes_;
  }
  /// Sets to[i] = At(first + i) for i < count; returns whether some are nullptr.
  bool Find(int64_t first, int64_t count, const char** to) const;
  int64_t element_stride() const;  ///< elements

 private:
  const char* first_;
  int64_t row_bytes_, page_bytes_ = 0, element_stride_;
  const int32_t* table_ = nullptr;
  int64_t table_stride_ = 0, page_ = 0, pool_ = 0;
};

}  // namespace aicf::cpu
