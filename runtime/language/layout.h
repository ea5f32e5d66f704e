/// What a program's entry points offer to whoever schedules requests on them: plain numbers, read
/// from the program and checked against what the artifact says about its language model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "aicf/aicf.h"
#include "base/status.h"
#include "schema/language_model.h"

namespace aicf::language {

/// One entry point prefill_T or decode_B.
struct Bucket {
  size_t entry = 0;      ///< index into Program::entries()
  int64_t requests = 1;  ///< rows of the metas: B, and 1 for prefill
  int64_t rows = 1;      ///< tokens of each request: T, and 1 for decode
  /// Whether the host says where rows go in the cache (meta `places`). Programs made before there
  /// was this meta compute it.
  bool places = true;
};

struct Layout {
  std::vector<Bucket> prefill;  ///< ascending rows, never empty
  std::vector<Bucket> decode;   ///< ascending requests, never empty
  int64_t vocabulary = 0;
  int64_t context = 0;      ///< most positions of a request
  int64_t page = 0;         ///< positions of a page
  int64_t pages = 0;        ///< of the cache
  int64_t table_pages = 0;  ///< N: columns of the page table
  int64_t slots = 0;
  /// What a prefill run costs apart from its rows (reading all weights, launching all steps), as a
  /// number of rows that would cost the same. The default is so high that the planner makes as few
  /// runs as possible.
  int64_t run_cost_rows = int64_t{1} << 20;

  /// Positions that one request can have when it is alone: a cache may be smaller than a context.
  int64_t LongestRequest() const { return context < pages * page ? context : pages * page; }
  size_t PagesFor(int64_t positions) const {
    return static_cast<size_t>((positions + page - 1) / page);
  }
};

/// Reads entry points, metas, outputs and states. Errors: kBadArtifact naming the first thing that
/// is not as docs/language_models.md says; kUnsupported for a model that generates no text.
Result<Layout> ReadLayout(const schema::LanguageModel& model, const std::vector<EntryInfo>& entries,
                          const std::vector<TensorInfo>& states);

}  // namespace aicf::language
