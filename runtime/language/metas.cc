#include "runtime/language/metas.h"

#include <algorithm>

namespace aicf::language {

void RunMetas::Clear(const Layout& layout, const Bucket& bucket) {
  const auto b = static_cast<size_t>(bucket.requests);
  tokens.assign(b * static_cast<size_t>(bucket.rows), 0);
  slots.assign(b, static_cast<int32_t>(layout.slots));
  pages.assign(b * static_cast<size_t>(layout.table_pages), 0);
  // No cache has this page, so that rows without tokens go nowhere.
  places.assign(2 * b * static_cast<size_t>(bucket.rows), static_cast<int32_t>(layout.pages));
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
  SetPlaces(layout, bucket, at, row);
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

// Each row's page, and its row in that page.
void RunMetas::SetPlaces(const Layout& layout, const Bucket& bucket, size_t at,
                         const MetaRow& row) {
  auto place = places.begin() + 2 * static_cast<int64_t>(at) * bucket.rows;
  const int64_t end = row.origin + static_cast<int64_t>(row.tokens.size());
  for (int64_t position = row.origin; position < end; ++position) {
    *place++ = row.pages[static_cast<size_t>(position / layout.page)];
    *place++ = static_cast<int32_t>(position % layout.page);
  }
}

}  // namespace aicf::language
