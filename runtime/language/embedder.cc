#include "aicf/embedder.h"

#include <algorithm>
#include <mutex>
#include <optional>
#include <utility>

#include "aicf/tensor.h"
#include "base/guard.h"
#include "runtime/text/tokenizer.h"
#include "schema/artifact.h"
#include "schema/language_model.h"

namespace aicf {
namespace {

/// One entry point embed_T.
struct EmbedBucket {
  std::string entry;
  int64_t rows = 0;
};

Result<schema::LanguageModel> EmbeddingModelOf(const Program& program) {
  const auto bytes = program.artifact().bytes(schema::SectionKind::kLanguage);
  if (bytes.empty()) {
    return Error(Code::kUnsupported,
                 "the artifact has no language model: it was not compiled from one");
  }
  AICF_ASSIGN_OR_RETURN(schema::LanguageModel model, schema::ParseLanguageModel(bytes));
  if (model.task == schema::LanguageTask::kEmbed) return model;
  return Error(Code::kUnsupported, "the model generates text and gives no embeddings");
}

bool Is(const TensorInfo& tensor, std::string_view name, DType dtype, const Dims& shape) {
  return tensor.name == name && tensor.dtype == dtype && tensor.shape == shape;
}

/// The rows that an entry point takes. Errors: kBadArtifact where its metas and its output are not
/// those of an embedding model.
Result<int64_t> RowsOf(const EntryInfo& entry) {
  const bool whole = entry.inputs.empty() && entry.metas.size() == 2 && entry.outputs.size() == 1;
  const int64_t rows = whole && entry.metas[0].shape.rank() == 2 ? entry.metas[0].shape[1] : 0;
  const int64_t size = whole && entry.outputs[0].shape.rank() == 2 ? entry.outputs[0].shape[1] : 0;
  if (rows > 0 && size > 0 && Is(entry.metas[0], "tokens", DType::kI32, {1, rows}) &&
      Is(entry.metas[1], "lengths", DType::kI32, {1}) &&
      Is(entry.outputs[0], "embedding", DType::kF32, {1, size})) {
    return rows;
  }
  return Error(Code::kBadArtifact, "entry point '", entry.name,
               "' has not the metas 'tokens' and 'lengths' and the output 'embedding' of an "
               "embedding model");
}

Result<std::vector<EmbedBucket>> BucketsOf(const Program& program) {
  std::vector<EmbedBucket> buckets;
  for (const EntryInfo& entry : program.entries()) {
    AICF_ASSIGN_OR_RETURN(const int64_t rows, RowsOf(entry));
    if (entry.outputs[0].shape != program.entries()[0].outputs[0].shape) {
      return Error(Code::kBadArtifact, "entry point '", entry.name,
                   "' gives vectors of another size than the first");
    }
    buckets.push_back({entry.name, rows});
  }
  std::ranges::stable_sort(buckets, {}, &EmbedBucket::rows);
  return buckets;
}

class EmbedderImpl final : public Embedder {
 public:
  EmbedderImpl(EmbedderInfo info, std::vector<EmbedBucket> buckets,
               std::optional<text::Tokenizer> tokenizer, std::unique_ptr<Session> session)
      : info_(std::move(info)),
        buckets_(std::move(buckets)),
        tokenizer_(std::move(tokenizer)),
        session_(std::move(session)) {}

  const EmbedderInfo& info() const override { return info_; }

  Result<std::vector<uint32_t>> Encode(std::string_view text, bool parse_special) const override {
    return Guarded([&]() -> Result<std::vector<uint32_t>> {
      if (!tokenizer_) {
        return Error(Code::kUnsupported, "the artifact has no tokenizer; pass token ids");
      }
      return tokenizer_->Encode(text, {.allow_special = parse_special, .add_special = true});
    });
  }

  Result<std::vector<float>> Embed(std::span<const uint32_t> tokens) override {
    return Guarded([&]() -> Result<std::vector<float>> {
      AICF_RETURN_IF_ERROR(CheckTokens(tokens));
      const auto length = static_cast<int64_t>(tokens.size());
      const auto bucket = std::ranges::lower_bound(buckets_, length, {}, &EmbedBucket::rows);
      return Run(*bucket, tokens);
    });
  }

  MemoryReport memory() const override { return session_->memory(); }
  std::string device_name() const override { return session_->device_name(); }

 private:
  Status CheckTokens(std::span<const uint32_t> tokens) const {
    if (tokens.empty() || tokens.size() > static_cast<size_t>(info_.context)) {
      return Error(Code::kInvalidArgument, "the text has ", tokens.size(),
                   " tokens, expected 1 to ", info_.context);
    }
    for (const uint32_t id : tokens) {
      if (id < info_.vocabulary) continue;
      return Error(Code::kInvalidArgument, "the token ", id, " is outside the vocabulary of ",
                   info_.vocabulary);
    }
    return OkStatus();
  }

  Result<std::vector<float>> Run(const EmbedBucket& bucket, std::span<const uint32_t> tokens) {
    std::vector<int32_t> ids(static_cast<size_t>(bucket.rows), 0);
    std::ranges::copy(tokens, ids.begin());
    const std::vector<int32_t> lengths = {static_cast<int32_t>(tokens.size())};
    std::vector<float> out(static_cast<size_t>(info_.size));
    const std::lock_guard lock(mutex_);
    AICF_RETURN_IF_ERROR(session_->SelectEntry(bucket.entry));
    AICF_RETURN_IF_ERROR(session_->SetMeta("tokens", TensorOf(ids, {1, bucket.rows})));
    AICF_RETURN_IF_ERROR(session_->SetMeta("lengths", TensorOf(lengths, {1})));
    AICF_RETURN_IF_ERROR(session_->Run());
    AICF_RETURN_IF_ERROR(session_->GetOutput("embedding", TensorInto(out, {1, info_.size})));
    return out;
  }

  const EmbedderInfo info_;
  const std::vector<EmbedBucket> buckets_;
  const std::optional<text::Tokenizer> tokenizer_;
  const std::unique_ptr<Session> session_;
  std::mutex mutex_;  ///< guards the session
};

Result<std::unique_ptr<Embedder>> MakeEmbedder(std::shared_ptr<const Program> program,
                                               SessionOptions options) {
  if (program == nullptr) return Error(Code::kInvalidArgument, "the program is null");
  AICF_ASSIGN_OR_RETURN(const schema::LanguageModel model, EmbeddingModelOf(*program));
  AICF_ASSIGN_OR_RETURN(std::vector<EmbedBucket> buckets, BucketsOf(*program));
  EmbedderInfo info;
  info.architecture = model.architecture;
  info.vocabulary = model.vocabulary;
  info.context = std::min(model.context, buckets.back().rows);
  info.size = program->entries()[0].outputs[0].shape[1];
  info.has_tokenizer = model.tokenizer.has_value();
  std::optional<text::Tokenizer> tokenizer;
  if (model.tokenizer) {
    AICF_ASSIGN_OR_RETURN(tokenizer, text::Tokenizer::Create(*model.tokenizer));
  }
  options.sync = SyncPolicy::kFullSync;
  AICF_ASSIGN_OR_RETURN(auto session, Session::Create(std::move(program), options));
  return std::unique_ptr<Embedder>(std::make_unique<EmbedderImpl>(
      std::move(info), std::move(buckets), std::move(tokenizer), std::move(session)));
}

}  // namespace

bool Embedder::Serves(const Program& program) {
  const auto model = Guarded([&] { return EmbeddingModelOf(program); });
  return model.ok();
}

Result<std::unique_ptr<Embedder>> Embedder::Create(std::shared_ptr<const Program> program,
                                                   const SessionOptions& options) {
  return Guarded([&] { return MakeEmbedder(std::move(program), options); });
}

}  // namespace aicf
