#include "runtime/language/layout.h"

#include <algorithm>
#include <limits>
#include <string_view>

namespace aicf::language {
namespace {

constexpr int64_t kMostId = std::numeric_limits<int32_t>::max();

Status CheckNumber(std::string_view name, int64_t value, int64_t most) {
  if (value >= 1 && value <= most) return OkStatus();
  return Error(Code::kBadArtifact, "language model: ", name, " is ", value, ", expected 1 to ",
               most);
}

Status CheckNumbers(const schema::LanguageModel& model) {
  AICF_RETURN_IF_ERROR(CheckNumber("vocabulary", model.vocabulary, kMostId));
  AICF_RETURN_IF_ERROR(CheckNumber("context", model.context, kMostId));
  AICF_RETURN_IF_ERROR(CheckNumber("page", model.page, kMostId));
  AICF_RETURN_IF_ERROR(CheckNumber("pages", model.pages, kMostId));
  AICF_RETURN_IF_ERROR(CheckNumber("slots", model.slots, kMostId));
  for (const uint32_t id : model.end_tokens) {
    if (id < model.vocabulary) continue;
    return Error(Code::kBadArtifact, "language model: the end token ", id,
                 " is outside the vocabulary of ", model.vocabulary);
  }
  return OkStatus();
}

const TensorInfo* Find(std::string_view name, const std::vector<TensorInfo>& tensors) {
  const auto found = std::ranges::find(tensors, name, &TensorInfo::name);
  return found == tensors.end() ? nullptr : &*found;
}

Status CheckTensor(const EntryInfo& entry, std::string_view what, std::string_view name,
                   const std::vector<TensorInfo>& tensors, DType dtype, const Dims& shape) {
  const TensorInfo* const tensor = Find(name, tensors);
  if (tensor == nullptr) {
    return Error(Code::kBadArtifact, "entry point '", entry.name, "' has no ", what, " '", name,
                 "', which a language model's has");
  }
  if (tensor->dtype == dtype && tensor->shape == shape) return OkStatus();
  return Error(Code::kBadArtifact, "entry point '", entry.name, "': ", what, " '", name, "' is ",
               DTypeName(tensor->dtype), " ", ToString(tensor->shape), ", expected ",
               DTypeName(dtype), " ", ToString(shape));
}

Status CheckEntry(const EntryInfo& entry, const Bucket& bucket, int64_t table_pages) {
  const int64_t b = bucket.requests;
  const auto meta = [&](std::string_view name, DType dtype, const Dims& shape) {
    return CheckTensor(entry, "meta", name, entry.metas, dtype, shape);
  };
  AICF_RETURN_IF_ERROR(meta("tokens", DType::kI32, {b, bucket.rows}));
  for (const char* name : {"slots", "origins", "lengths", "top_k"}) {
    AICF_RETURN_IF_ERROR(meta(name, DType::kI32, {b}));
  }
  AICF_RETURN_IF_ERROR(meta("pages", DType::kI32, {b, table_pages}));
  if (bucket.places) AICF_RETURN_IF_ERROR(meta("places", DType::kI32, {b, bucket.rows, 2}));
  for (const char* name : {"temperature", "top_p", "min_p"}) {
    AICF_RETURN_IF_ERROR(meta(name, DType::kF32, {b}));
  }
  AICF_RETURN_IF_ERROR(meta("seeds", DType::kI64, {b}));
  if (!entry.inputs.empty()) {
    return Error(Code::kBadArtifact, "entry point '", entry.name, "' has an input '",
                 entry.inputs[0].name, "'; a language model's has metas only");
  }
  return CheckTensor(entry, "output", "token", entry.outputs, DType::kI32, {b});
}

/// Adds the bucket that the entry point is, according to its name and its meta `tokens`; false for
/// another name.
bool ReadBucket(const EntryInfo& entry, size_t index, Layout* layout) {
  const TensorInfo* const tokens = Find("tokens", entry.metas);
  const bool matrix = tokens != nullptr && tokens->shape.rank() == 2;
  Bucket bucket{index, matrix ? tokens->shape[0] : 1, matrix ? tokens->shape[1] : 1,
                Find("places", entry.metas) != nullptr};
  if (entry.name.starts_with("prefill_")) {
    bucket.requests = 1;
    layout->prefill.push_back(bucket);
    return true;
  }
  if (!entry.name.starts_with("decode_")) return false;
  bucket.rows = 1;
  layout->decode.push_back(bucket);
  return true;
}

/// Reads the number of columns of the page table from the first entry point; CheckEntry
/// requires the same number of all others.
Status ReadTable(const std::vector<EntryInfo>& entries, Layout* layout) {
  const TensorInfo* const pages = Find("pages", entries[0].metas);
  const bool matrix = pages != nullptr && pages->shape.rank() == 2;
  layout->table_pages = matrix ? pages->shape[1] : 0;
  const auto needed = static_cast<int64_t>(layout->PagesFor(layout->context));
  if (!matrix || layout->table_pages >= needed) return OkStatus();  // CheckEntry says what is wrong
  return Error(Code::kBadArtifact, "entry point '", entries[0].name, "': the page table has ",
               layout->table_pages, " columns, a context of ", layout->context, " takes ", needed);
}

Status CheckBuckets(const std::vector<EntryInfo>& entries, const Layout& layout) {
  for (const auto* buckets : {&layout.prefill, &layout.decode}) {
    if (buckets->empty()) {
      return Error(Code::kBadArtifact, "the program has no entry point '",
                   buckets == &layout.prefill ? "prefill_T" : "decode_B",
                   "', which a language model needs");
    }
    for (const Bucket& bucket : *buckets) {
      AICF_RETURN_IF_ERROR(CheckEntry(entries[bucket.entry], bucket, layout.table_pages));
    }
  }
  return OkStatus();
}

Status CheckSampled(const std::vector<TensorInfo>& states, int64_t slots) {
  const TensorInfo* const sampled = Find("sampled", states);
  if (sampled == nullptr) {
    return Error(Code::kBadArtifact, "the program has no state 'sampled'");
  }
  if (sampled->dtype == DType::kI32 && sampled->shape == Dims{slots}) return OkStatus();
  return Error(Code::kBadArtifact, "state 'sampled' is ", DTypeName(sampled->dtype), " ",
               ToString(sampled->shape), ", expected i32 ", slots);
}

void Sort(Layout* layout) {
  std::ranges::stable_sort(layout->prefill, {}, &Bucket::rows);
  std::ranges::stable_sort(layout->decode, {}, &Bucket::requests);
}

}  // namespace

Result<Layout> ReadLayout(const schema::LanguageModel& model, const std::vector<EntryInfo>& entries,
                          const std::vector<TensorInfo>& states) {
  if (model.task != schema::LanguageTask::kGenerate) {
    return Error(Code::kUnsupported, "the model gives embeddings and generates no text");
  }
  AICF_RETURN_IF_ERROR(CheckNumbers(model));
  Layout layout;
  layout.vocabulary = model.vocabulary;
  layout.context = model.context;
  layout.page = model.page;
  layout.pages = model.pages;
  layout.slots = model.slots;
  for (size_t e = 0; e < entries.size(); ++e) {
    if (ReadBucket(entries[e], e, &layout)) continue;
    return Error(Code::kBadArtifact, "entry point '", entries[e].name,
                 "': a language model has prefill_T and decode_B only");
  }
  AICF_RETURN_IF_ERROR(ReadTable(entries, &layout));
  AICF_RETURN_IF_ERROR(CheckBuckets(entries, layout));
  AICF_RETURN_IF_ERROR(CheckSampled(states, model.slots));
  Sort(&layout);
  return layout;
}

}  // namespace aicf::language
