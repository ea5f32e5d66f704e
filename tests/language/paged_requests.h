/// Runs requests in a language model's session, giving tokens and getting logits. It sets the metas
/// as docs/language_models.md describes them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "aicf/aicf.h"

namespace aicf::testing {

/// The part of the cache that a request uses.
struct PagedRequest {
  std::vector<int32_t> pages;
  int64_t length = 0;  ///< number of the request's positions that are in the cache
};

class PagedSession {
 public:
  /// Errors: those of Session::Create. REQUIRES: a program of a decoder with --logits.
  static Result<PagedSession> Create(std::shared_ptr<const Program> program,
                                     const std::string& device = "cpu");

  /// Makes a request with pages of its own somewhere in the cache. REQUIRES: there are pages left.
  PagedRequest NewRequest();

  int64_t vocabulary() const { return vocabulary_; }

  /// Adds tokens to the request, in runs of at most as many as the largest prefill entry point
  /// takes. Returns the logits of the last token.
  Result<std::vector<float>> Prefill(PagedRequest& request, const std::vector<int32_t>& tokens);

  /// Adds one token to each request, using the smallest entry point that takes them all. Returns
  /// the logits of each.
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
  /// The meta `places`: before the run adds its rows to the requests.
  std::vector<int32_t> PlacesOf(const Entry& entry, const Rows& rows) const;
  Result<std::vector<std::vector<float>>> Run(const Entry& entry, const Rows& rows);

  std::unique_ptr<Session> session_;
  std::vector<Entry> entries_;
  std::vector<int32_t> free_pages_;
  int64_t table_ = 0, page_ = 0, slots_ = 0, vocabulary_ = 0;
};

}  // namespace aicf::testing
