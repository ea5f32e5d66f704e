/// A cache of keys or values whose filled length is known per batch entry, perhaps at run time
/// only.
#pragma once

#include "base/status.h"
#include "compiler/passes/composite/composer.h"

namespace aicf {

struct KeyCache {
  int64_t batch = 0;
  int64_t rows = 0;    ///< new positions, per batch entry
  int64_t past = 0;    ///< positions that the given cache has room for
  int64_t total = 0;   ///< positions that attention reads after the update
  int64_t filled = 0;  ///< positions that the cache holds; -1: known at run time, in `fill`
  ir::ValueId fill = ir::kNoValue;  ///< i64 [B, 1], when filled is -1

  /// lengths: integers [B], the number of positions after the update minus 1. A prompt
  /// (rows == total) starts with an empty cache, whatever the lengths say. Errors: kBadModel,
  /// kUnsupported.
  static Result<KeyCache> Make(Composer& c, ir::ValueId lengths, int64_t rows, int64_t past,
                               int64_t total);

  /// i64 [1 or B, L]: the position of each new row.
  ir::ValueId Positions(Composer& c) const;
  /// The cache [B, G, past, H] (absent when past is 0) after the update,
  /// [B, G, max(past, total), H]: the new rows `now` [B, G, L, H] follow those that it holds.
  ir::ValueId Updated(Composer& c, ir::ValueId cache, ir::ValueId now) const;

 private:
  /// Updated for a cache that has room for the new rows, at a position that only a run knows. Only
  /// the new rows are written, so that a cache which is a state is updated in place.
  ir::ValueId Scattered(Composer& c, ir::ValueId cache, ir::ValueId now) const;
};

}  // namespace aicf
