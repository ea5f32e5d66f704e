/// The contents of the metas of one run, as docs/language_models.md says.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "runtime/language/layout.h"

namespace aicf::language {

/// How a request's tokens are drawn.
struct DrawOptions {
  float temperature = 0;
  int32_t top_k = 0;
  float top_p = 1;
  float min_p = 0;
  int64_t seed = 0;
};

/// One request's row of a run.
struct MetaRow {
  std::span<const int32_t> tokens;  ///< of positions origin, origin + 1, ...; at most the bucket's
  int64_t origin = 0;
  std::span<const int32_t> pages;  ///< of the request: at least those up to the last token
  int32_t slot = 0;
  DrawOptions draw;
};

/// Rows of a bucket: every vector has the elements of the meta of the same name.
struct RunMetas {
  std::vector<int32_t> tokens, slots, origins, lengths, pages, places, top_k;
  std::vector<float> temperature, top_p, min_p;
  std::vector<int64_t> seeds;

  /// Makes all rows of `bucket` idle. Allocates nothing where the vectors have been as large
  /// before.
  void Clear(const Layout& layout, const Bucket& bucket);
  /// Fills row `at`. REQUIRES: Clear was called for the bucket; `at` is one of its rows.
  /// Errors: kInternal where the row does not fit the bucket, or has too few pages.
  Status Set(const Layout& layout, const Bucket& bucket, size_t at, const MetaRow& row);

 private:
  void SetPlaces(const Layout& layout, const Bucket& bucket, size_t at, const MetaRow& row);
};

}  // namespace aicf::language
