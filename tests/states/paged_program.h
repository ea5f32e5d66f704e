/// An attention layer over a paged cache, as a lowered program made by hand. It stands for what a
/// serving program runs when several requests share a pool of pages.
#pragma once

#include <memory>
#include <string>

#include "aicf/aicf.h"
#include "compiler/decisions/decisions.h"
#include "schema/artifact.h"

namespace aicf::states {

/// Extents: requests; query heads, key heads and their size; rows of a page, pages of the pool, and
/// pages in a request's table.
struct Paged {
  static constexpr int64_t kRequests = 2, kHeads = 4, kGroups = 2, kHead = 8;
  static constexpr int64_t kPage = 4, kPool = 16, kTable = 8;
};

struct PagedProgram {
  schema::Contents contents;
  DecisionLog decisions;
  std::shared_ptr<const Program> program;
};

/// Entry points "prefill" of `prompt` rows per request and "decode" of one, which share the states
/// "keys" and "values", the pools [kPool, kGroups, kPage, kHead]. For R rows each:
///   inputs  q [kRequests, kHeads, R, kHead], k and v [kRequests, R, kGroups, kHead]
///   metas   slots i64 [kRequests, R, 2]: the page, and the row in it, where a new key and value
///           are stored; if the page is outside of the pool they are not stored
///           table i32 [kRequests, kTable]
///           lengths i32 [kRequests]: the requests' lengths including the new rows
///   output  y [kRequests, kHeads, R, kHead]: causal attention, the last row at the last key
/// `images` says whether device code is compiled. Errors: those of the compiler.
Result<PagedProgram> CompilePaged(const std::string& target, int64_t prompt, bool images);

}  // namespace aicf::states
