#include "tools/aicf-run/language_metas.h"

#include <algorithm>
#include <cstring>
#include <numeric>
#include <random>
#include <span>

#include "runtime/language/layout.h"
#include "runtime/language/metas.h"
#include "schema/artifact.h"

namespace aicf::tools {
namespace {

/// So many positions at most are made up for a request whose prompt is shorter: the reference
/// kernels, which --verify runs, take long for long texts.
constexpr int64_t kMostPositions = 2048;

/// Requests that lie in the cache in pages of no order.
class Requests {
 public:
  Requests(const language::Layout& layout, const language::Bucket& bucket)
      : layout_(layout), bucket_(bucket), pages_(static_cast<size_t>(layout.pages)) {
    std::iota(pages_.begin(), pages_.end(), 0);
    std::ranges::shuffle(pages_, random_);
    each_ = std::clamp<int64_t>(layout.pages / bucket.requests, 1, layout.table_pages);
  }

  Status Fill(language::RunMetas* metas) {
    metas->Clear(layout_, bucket_);
    const int64_t rows = std::min(bucket_.requests, layout_.pages / each_);
    for (int64_t r = 0; r < rows; ++r) AICF_RETURN_IF_ERROR(Set(r, metas));
    return OkStatus();
  }

 private:
  /// A number from `low` to `high`.
  int64_t Between(int64_t low, int64_t high) {
    return low + static_cast<int64_t>(random_() % static_cast<uint64_t>(high - low + 1));
  }

  Status Set(int64_t r, language::RunMetas* metas) {
    const int64_t room = std::min(layout_.context, each_ * layout_.page);
    const int64_t most = std::min(bucket_.rows, room);
    const int64_t count = Between(most - most / 4, most);
    const int64_t before = std::min(room - count, std::max<int64_t>(0, kMostPositions - count));
    std::vector<int32_t> tokens(static_cast<size_t>(count));
    for (int32_t& token : tokens) {
      token = static_cast<int32_t>(Between(0, layout_.vocabulary - 1));
    }
    language::MetaRow row;
    row.tokens = tokens;
    row.origin = Between(before / 2, before);
    row.pages =
        std::span(pages_).subspan(static_cast<size_t>(r * each_), static_cast<size_t>(each_));
    row.slot = static_cast<int32_t>(r % layout_.slots);
    return metas->Set(layout_, bucket_, static_cast<size_t>(r), row);
  }

  const language::Layout& layout_;
  const language::Bucket bucket_;
  std::mt19937 random_{1};
  std::vector<int32_t> pages_;
  int64_t each_;  ///< pages of a request
};

/// The entry point's bucket. REQUIRES: `layout` was read from the program.
language::Bucket BucketOf(const language::Layout& layout, size_t entry) {
  for (const auto* buckets : {&layout.prefill, &layout.decode}) {
    const auto found = std::ranges::find(*buckets, entry, &language::Bucket::entry);
    if (found != buckets->end()) return *found;
  }
  return {};
}

template <class T>
void Put(const std::vector<T>& values, std::string_view name, Selection* selection) {
  for (InputSource& meta : selection->metas) {
    if (meta.info.name != name) continue;
    meta.origin = "of made-up requests";
    std::memcpy(meta.data.data(), values.data(),
                std::min(meta.data.size(), std::span(values).size_bytes()));
  }
}

}  // namespace

Status MakeUpRequests(const Program& program, Selection* selection) {
  const auto bytes = program.artifact().bytes(schema::SectionKind::kLanguage);
  const bool given = std::ranges::any_of(
      selection->metas, [](const InputSource& meta) { return meta.origin != kZeroOrigin; });
  if (bytes.empty() || given) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const schema::LanguageModel model, schema::ParseLanguageModel(bytes));
  if (model.task != schema::LanguageTask::kGenerate) return OkStatus();
  AICF_ASSIGN_OR_RETURN(const language::Layout layout,
                        language::ReadLayout(model, program.entries(), program.states()));
  language::RunMetas metas;
  AICF_RETURN_IF_ERROR(Requests(layout, BucketOf(layout, selection->choice.entry)).Fill(&metas));
  Put(metas.tokens, "tokens", selection);
  Put(metas.slots, "slots", selection);
  Put(metas.origins, "origins", selection);
  Put(metas.lengths, "lengths", selection);
  Put(metas.pages, "pages", selection);
  Put(metas.places, "places", selection);
  Put(metas.top_p, "top_p", selection);
  return OkStatus();
}

}  // namespace aicf::tools
