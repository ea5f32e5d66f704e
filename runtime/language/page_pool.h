/// Pages of the cache, and who has which.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/status.h"

namespace aicf::language {

/// The free pages of one cache. A page is free or in exactly one list, which its owner keeps; the
/// list's order is that of the positions.
///
/// Thread safety: one call at a time. Cost: every function is linear in the pages that it moves and
/// allocates nothing but what a list needs to grow beyond its capacity.
class PagePool {
 public:
  /// Pages 0 to pages - 1, all free; the lowest are handed out first.
  explicit PagePool(int32_t pages);

  int64_t size() const { return static_cast<int64_t>(taken_.size()); }
  int64_t free() const { return static_cast<int64_t>(free_.size()); }

  /// Appends free pages until `list` has `count`; false, and nothing is changed, where too few are
  /// free. A list that has as many already stays.
  bool Grow(size_t count, std::vector<int32_t>* list);

  /// Frees all pages of `list` and empties it. Errors: kInternal, naming the page, for one that is
  /// free already or no page of this pool; the pages before it are free then.
  Status Release(std::vector<int32_t>* list);

 private:
  std::vector<int32_t> free_;  ///< the last one is given away next
  std::vector<bool> taken_;    ///< by page
};

}  // namespace aicf::language
