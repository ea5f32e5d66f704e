/// Requests of a language model's session, by what docs/language_models.md says of metas: tokens
/// in, logits out.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aicf/aicf.h"

namespace aicf::testing {

/// Where a request lies in the cache.
struct PagedRequest {
  std::vector<int32_t> pages;
  int64_t length = 0;  ///< positions that are in the cache
};

class PagedSession {
 public:
  /// Errors: those of Session::Create. REQUIRES: a program of a decoder with --logits.
  static Result<PagedSession> Create(std::shared_ptr<const Program> program,
                                     const std::string& device = "cpu");

  /// A request with pages of its own, somewhere in the cache. REQUIRES: there are pages left.
  PagedRequest NewRequest();

  int64_t vocabulary() const { return vocabulary_; }

  /// The tokens that follow, at most as many at once as the largest prefill entry point takes: the
  /// logits of the last.
  Result<std::vector<float>> Prefill(PagedRequest& request, const std::vector<int32_t>& tokens);

  /// One token for each request, in the smallest entry point that takes them: the logits of each.
  Result<std::vector<std::vector<float>>> Decode(const std::vector<PagedRequest*>& requests,
                                                 const std::vector<int32_t>& tokens);

 private:
  struct Rows {
    std::vector<PagedRequest*> requests;
    std::vector<int32_t> tokens;  ///< [requests, rows of each]
    std::vector<int64_t> valid;   ///< of each request's rows
  };
  /// An entry point and the rows that it takes.
  struct Entry {
    std::string name;
    int64_t batch = 0, rows = 0;
  };

  explicit PagedSession(std::unique_ptr<Session> session) : session_(std::move(session)) {}
  const Entry& SmallestFor(int64_t batch, int64_t rows) const;
  Result<std::vector<std::vector<float>>> Run(const Entry& entry, const Rows& rows);

  std::unique_ptr<Session> session_;
  std::vector<Entry> entries_;
  std::vector<int32_t> free_pages_;
  int64_t table_ = 0, slots_ = 0, vocabulary_ = 0;
};

}  // namespace aicf::testing
