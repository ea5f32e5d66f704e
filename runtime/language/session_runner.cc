#include <string_view>
#include <utility>

#include "aicf/tensor.h"
#include "runtime/language/runner.h"
#include "runtime/session_lanes.h"

namespace aicf::language {
namespace {

/// One run can be queued behind another.
constexpr size_t kLanes = 2;

/// Each run takes the next lane of the session, so that its metas and tokens lie apart from those
/// of a run that still goes on. On a session with one lane, every run is collected before the next
/// one is launched.
class SessionRunner final : public Runner {
 public:
  SessionRunner(std::shared_ptr<const Program> program, std::unique_ptr<SessionBase> session)
      : program_(std::move(program)), session_(std::move(session)) {}

  size_t most_under_way() const override { return session_->lanes(); }

  Status Launch(const Bucket& bucket, const RunMetas& metas) override {
    AICF_RETURN_IF_ERROR(session_->SelectLane(launched_ % session_->lanes()));
    if (session_->selected_entry() != bucket.entry) {
      AICF_RETURN_IF_ERROR(session_->SelectEntry(program_->entries()[bucket.entry].name));
    }
    AICF_RETURN_IF_ERROR(SetMetas(bucket, metas));
    AICF_RETURN_IF_ERROR(session_->Run());
    ++launched_;
    return OkStatus();
  }

  Status Collect(std::span<int32_t> tokens) override {
    AICF_RETURN_IF_ERROR(session_->SelectLane(collected_++ % session_->lanes()));
    AICF_RETURN_IF_ERROR(session_->Wait());
    const auto rows = static_cast<int64_t>(tokens.size());
    return session_->GetOutput("token", TensorInto(tokens, {rows}));
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
    if (bucket.places) {
      AICF_RETURN_IF_ERROR(set("places", metas.places, {b, bucket.rows, 2}));
    }
    AICF_RETURN_IF_ERROR(set("temperature", metas.temperature, {b}));
    AICF_RETURN_IF_ERROR(set("top_k", metas.top_k, {b}));
    AICF_RETURN_IF_ERROR(set("top_p", metas.top_p, {b}));
    AICF_RETURN_IF_ERROR(set("min_p", metas.min_p, {b}));
    return set("seeds", metas.seeds, {b});
  }

  const std::shared_ptr<const Program> program_;
  const std::unique_ptr<SessionBase> session_;
  uint64_t launched_ = 0, collected_ = 0;
};

}  // namespace

std::unique_ptr<Runner> MakeLaneRunner(std::shared_ptr<const Program> program,
                                       std::unique_ptr<SessionBase> session) {
  return std::make_unique<SessionRunner>(std::move(program), std::move(session));
}

Result<std::unique_ptr<Runner>> MakeSessionRunner(std::shared_ptr<const Program> program,
                                                  const SessionOptions& options) {
  SessionOptions own = options;
  own.sync = SyncPolicy::kEventRecord;
  AICF_ASSIGN_OR_RETURN(std::unique_ptr<SessionBase> session,
                        CreateLanes(program, own, own.transfers ? kLanes : 1));
  return MakeLaneRunner(std::move(program), std::move(session));
}

}  // namespace aicf::language
