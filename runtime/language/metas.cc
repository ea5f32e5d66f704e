#include "runtime/language/metas.h"

#include <algorithm>

namespace aicf::language {

void RunMetas::Clear(const Layout& layout, const Bucket& bucket) {
  const auto b = static_cast<size_t>(bucket.requests);
  tokens.assign(b * static_cast<size_t>(bucket.rows), 0);
  slots.assign(b, static_cast<int32_t>(layout.slots));
  pages.assign(b * static_cast<size_t>(layout.table_pages), 0);
  for (auto* zeros : {&origins, &lengths, &top_k}) zeros->assign(b, 0);
  for (auto* zeros : {&temperature, &min_p}) zeros->assign(b, 0);
  top_p.assign(b, 1);
  seeds.assign(b, 0);
}

Status RunMetas::Set(const Layout& layout, const Bucket& bucket, size_t at, const MetaRow& row) {
  const auto count = static_cast<int64_t>(row.tokens.size());
  const int64_t length = row.origin + count;
  const size_t needed = layout.PagesFor(length);
  if (at >= static_cast<size_t>(bucket.requests) || count < 1 || count > bucket.rows ||
      length > layout.context || row.pages.size() < needed) {
    return Error(Code::kInternal, "row ", at, " with ", count, " tokens from position ", row.origin,
                 " and ", row.pages.size(), " pages does not fit a run of ", bucket.requests,
                 " requests with ", bucket.rows, " rows");
  }
  std::ranges::copy(row.tokens, tokens.begin() + static_cast<int64_t>(at) * bucket.rows);
  std::ranges::copy(row.pages.first(needed),
                    pages.begin() + static_cast<int64_t>(at) * layout.table_pages);
  slots[at] = row.slot;
  origins[at] = static_cast<int32_t>(row.origin);
  lengths[at] = static_cast<int32_t>(length);
  temperature[at] = row.draw.temperature;
  top_k[at] = row.draw.top_k;
  top_p[at] = row.draw.top_p;
  min_p[at] = row.draw.min_p;
  seeds[at] = row.draw.seed;
  return OkStatus();
}

}  // namespace aicf::language
