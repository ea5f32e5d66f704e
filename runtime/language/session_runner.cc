#include <string_view>
#include <utility>

#include "aicf/tensor.h"
#include "runtime/language/runner.h"

namespace aicf::language {
namespace {

class SessionRunner final : public Runner {
 public:
  SessionRunner(std::shared_ptr<const Program> program, std::unique_ptr<Session> session)
      : program_(std::move(program)), session_(std::move(session)) {}

  Status Run(const Bucket& bucket, const RunMetas& metas, std::span<int32_t> tokens) override {
    if (session_->selected_entry() != bucket.entry) {
      AICF_RETURN_IF_ERROR(session_->SelectEntry(program_->entries()[bucket.entry].name));
    }
    AICF_RETURN_IF_ERROR(SetMetas(bucket, metas));
    AICF_RETURN_IF_ERROR(session_->Run());
    return session_->GetOutput("token", TensorInto(tokens, {bucket.requests}));
  }

  MemoryReport memory() const override { return session_->memory(); }
  std::string device_name() const override { return session_->device_name(); }

 private:
  Status SetMetas(const Bucket& bucket, const RunMetas& metas) {
    const int64_t b = bucket.requests;
    const auto set = [&](std::string_view name, const auto& values, const Dims& shape) {
      return session_->SetMeta(name, TensorOf(values, shape));
    };
    const auto table_pages = static_cast<int64_t>(metas.pages.size()) / b;
    AICF_RETURN_IF_ERROR(set("tokens", metas.tokens, {b, bucket.rows}));
    AICF_RETURN_IF_ERROR(set("slots", metas.slots, {b}));
    AICF_RETURN_IF_ERROR(set("origins", metas.origins, {b}));
    AICF_RETURN_IF_ERROR(set("lengths", metas.lengths, {b}));
    AICF_RETURN_IF_ERROR(set("pages", metas.pages, {b, table_pages}));
    AICF_RETURN_IF_ERROR(set("temperature", metas.temperature, {b}));
    AICF_RETURN_IF_ERROR(set("top_k", metas.top_k, {b}));
    AICF_RETURN_IF_ERROR(set("top_p", metas.top_p, {b}));
    AICF_RETURN_IF_ERROR(set("min_p", metas.min_p, {b}));
    return set("seeds", metas.seeds, {b});
  }

  const std::shared_ptr<const Program> program_;
  const std::unique_ptr<Session> session_;
};

}  // namespace

Result<std::unique_ptr<Runner>> MakeSessionRunner(std::shared_ptr<const Program> program,
                                                  const SessionOptions& options) {
  SessionOptions own = options;
  own.sync = SyncPolicy::kFullSync;
  AICF_ASSIGN_OR_RETURN(std::unique_ptr<Session> session, Session::Create(program, own));
  return std::unique_ptr<Runner>(
      std::make_unique<SessionRunner>(std::move(program), std::move(session)));
}

}  // namespace aicf::language
