#include "tests/language/paged_requests.h"

#include <algorithm>
#include <limits>
#include <random>

#include "runtime/test_tensors.h"

namespace aicf::testing {
namespace {

const TensorInfo& InfoNamed(const std::vector<TensorInfo>& all, std::string_view name) {
  return *std::ranges::find(all, name, &TensorInfo::name);
}

}  // namespace

Result<PagedSession> PagedSession::Create(std::shared_ptr<const Program> program,
                                          const std::string& device) {
  SessionOptions options;
  options.device = device;
  options.threads = 1;
  AICF_ASSIGN_OR_RETURN(auto session, Session::Create(program, options));
  PagedSession out(std::move(session));
  for (const EntryInfo& entry : program->entries()) {
    const Dims& shape = InfoNamed(entry.metas, "tokens").shape;
    out.entries_.push_back({entry.name, shape[0], shape[1]});
  }
  const EntryInfo& first = program->entries()[0];
  out.table_ = InfoNamed(first.metas, "pages").shape[1];
  out.vocabulary_ = InfoNamed(first.outputs, "logits").shape[1];
  out.slots_ = InfoNamed(program->states(), "sampled").shape[0];
  const Dims& cache = InfoNamed(program->states(), "keys.0").shape;
  const auto pages = static_cast<int32_t>(cache[0]);
  out.page_ = cache[1];
  for (int32_t page = 0; page < pages; ++page) out.free_pages_.push_back(page);
  std::ranges::shuffle(out.free_pages_, std::mt19937(5));
  return out;
}

PagedRequest PagedSession::NewRequest() {
  PagedRequest request;
  for (int64_t i = 0; i < table_; ++i) {
    request.pages.push_back(free_pages_.back());
    free_pages_.pop_back();
  }
  return request;
}

const PagedSession::Entry& PagedSession::SmallestFor(int64_t batch, int64_t rows) const {
  const Entry* best = nullptr;
  for (const Entry& e : entries_) {
    if (e.batch < batch || e.rows < rows || (rows > 1 && e.batch > 1)) continue;
    if (best == nullptr || e.batch * e.rows < best->batch * best->rows) best = &e;
  }
  return *best;
}

Result<std::vector<float>> PagedSession::Prefill(PagedRequest& request,
                                                 const std::vector<int32_t>& tokens) {
  int64_t most = 0;
  for (const Entry& e : entries_) most = std::max(most, e.rows);
  std::vector<float> logits;
  for (size_t at = 0; at < tokens.size(); at += static_cast<size_t>(most)) {
    const size_t count = std::min(tokens.size() - at, static_cast<size_t>(most));
    const std::vector<int32_t> part(tokens.begin() + static_cast<int64_t>(at),
                                    tokens.begin() + static_cast<int64_t>(at + count));
    // At least two rows asked for, so that a prompt's rest of one token is prefilled too.
    const Entry& entry = SmallestFor(1, std::max<int64_t>(2, static_cast<int64_t>(count)));
    AICF_ASSIGN_OR_RETURN(auto all, Run(entry, {{&request}, part, {static_cast<int64_t>(count)}}));
    logits = std::move(all[0]);
  }
  return logits;
}

Result<std::vector<std::vector<float>>> PagedSession::Decode(
    const std::vector<PagedRequest*>& requests, const std::vector<int32_t>& tokens) {
  return Run(SmallestFor(static_cast<int64_t>(requests.size()), 1),
             {requests, tokens, std::vector<int64_t>(requests.size(), 1)});
}

std::vector<int32_t> PagedSession::PlacesOf(const Entry& entry, const Rows& rows) const {
  constexpr int32_t kNowhere = std::numeric_limits<int32_t>::max();
  std::vector<int32_t> places(static_cast<size_t>(2 * entry.batch * entry.rows), kNowhere);
  for (size_t i = 0; i < rows.requests.size(); ++i) {
    auto place = places.begin() + 2 * static_cast<int64_t>(i) * entry.rows;
    const PagedRequest& request = *rows.requests[i];
    for (int64_t row = 0; row < rows.valid[i]; ++row) {
      const int64_t position = request.length + row;
      *place++ = request.pages[static_cast<size_t>(position / page_)];
      *place++ = static_cast<int32_t>(position % page_);
    }
  }
  return places;
}

Result<std::vector<std::vector<float>>> PagedSession::Run(const Entry& entry, const Rows& rows) {
  const auto batch = static_cast<size_t>(entry.batch), width = static_cast<size_t>(entry.rows);
  const auto table = static_cast<size_t>(table_);
  // Rows without tokens and idle requests have what no result may depend on.
  std::vector<int32_t> tokens(batch * width, 7), origins(batch, 3), lengths(batch, 0);
  std::vector<int32_t> slots(batch, static_cast<int32_t>(slots_)), pages(batch * table, 0);
  const std::vector<int32_t> places = PlacesOf(entry, rows);
  for (size_t i = 0; i < rows.requests.size(); ++i) {
    PagedRequest& request = *rows.requests[i];
    origins[i] = static_cast<int32_t>(request.length);
    request.length += rows.valid[i];
    lengths[i] = static_cast<int32_t>(request.length);
    slots[i] = static_cast<int32_t>(i);
    std::ranges::copy(request.pages, pages.begin() + static_cast<int64_t>(i * table));
    std::copy_n(rows.tokens.begin() + static_cast<int64_t>(i) * rows.valid[i], rows.valid[i],
                tokens.begin() + static_cast<int64_t>(i * width));
  }
  AICF_RETURN_IF_ERROR(session_->SelectEntry(entry.name));
  AICF_RETURN_IF_ERROR(session_->SetMeta("tokens", TensorOf(tokens, {entry.batch, entry.rows})));
  AICF_RETURN_IF_ERROR(session_->SetMeta("origins", TensorOf(origins)));
  AICF_RETURN_IF_ERROR(session_->SetMeta("lengths", TensorOf(lengths)));
  AICF_RETURN_IF_ERROR(session_->SetMeta("slots", TensorOf(slots)));
  AICF_RETURN_IF_ERROR(session_->SetMeta("pages", TensorOf(pages, {entry.batch, table_})));
  AICF_RETURN_IF_ERROR(session_->SetMeta("places", TensorOf(places, {entry.batch, entry.rows, 2})));
  const std::vector<float> ones(batch, 1);
  AICF_RETURN_IF_ERROR(session_->SetMeta("top_p", TensorOf(ones)));
  AICF_RETURN_IF_ERROR(session_->Run());
  std::vector<float> all(batch * static_cast<size_t>(vocabulary_));
  AICF_RETURN_IF_ERROR(session_->GetOutput("logits", TensorInto(all, {entry.batch, vocabulary_})));
  std::vector<std::vector<float>> out;
  for (size_t i = 0; i < rows.requests.size(); ++i) {
    const auto begin = all.begin() + static_cast<int64_t>(i) * vocabulary_;
    out.emplace_back(begin, begin + vocabulary_);
  }
  return out;
}

}  // namespace aicf::testing
