#include "tests/faults/cuda/life.h"

#include <memory>
#include <vector>

#include "aicf/aicf.h"
#include "runtime/cuda/cuda_session.h"
#include "runtime/session_base.h"
#include "tests/faults/cuda/calls.h"

namespace aicf::failing_cuda {
namespace {

/// Small numbers for floats; zeros for everything else, of which some are indices.
std::string BytesFor(const TensorInfo& t) {
  std::string bytes(t.bytes, '\0');
  if (t.dtype != DType::kF32) return bytes;
  for (size_t i = 0; i + 4 <= bytes.size(); i += 4) {
    const float value = static_cast<float>(i / 4 % 13) / 16;
    __builtin_memcpy(&bytes[i], &value, 4);
  }
  return bytes;
}

ConstTensor View(const TensorInfo& t, const std::string& bytes) {
  return {t.dtype, t.shape, bytes.data(), bytes.size()};
}

Status SetInputs(Session& session, const EntryInfo& entry) {
  AICF_RETURN_IF_ERROR(session.SelectEntry(entry.name));
  for (const TensorInfo& t : entry.inputs) {
    const std::string bytes = BytesFor(t);
    AICF_RETURN_IF_ERROR(session.SetInput(t.name, View(t, bytes)));
  }
  for (const TensorInfo& t : entry.metas) {
    const std::string bytes = BytesFor(t);
    AICF_RETURN_IF_ERROR(session.SetMeta(t.name, View(t, bytes)));
  }
  return OkStatus();
}

Status TakeOutputs(Session& session, const EntryInfo& entry, std::string* results) {
  for (const TensorInfo& t : entry.outputs) {
    AICF_ASSIGN_OR_RETURN(const Dims shape, session.OutputShape(t.name));
    const auto count = static_cast<size_t>(*ElementCount(shape));
    std::string bytes(count * static_cast<size_t>(DTypeBytes(t.dtype)), '\0');
    AICF_RETURN_IF_ERROR(session.GetOutput(t.name, {t.dtype, shape, bytes.data(), bytes.size()}));
    *results += bytes;
  }
  return OkStatus();
}

Status RunEntry(Session& session, const EntryInfo& entry, std::string* results) {
  AICF_RETURN_IF_ERROR(SetInputs(session, entry));
  for (int i = 0; i < 2; ++i) AICF_RETURN_IF_ERROR(session.Run());
  return TakeOutputs(session, entry, results);
}

// Two replays of each lane: the first one of every lane is queued before any is waited for, and a
// lane is used again while the replays of the others are in flight.
Status RunInLanes(SessionBase& session, const EntryInfo& entry, std::string* results) {
  const size_t lanes = session.lanes();
  for (size_t turn = 0; turn < 3 * lanes; ++turn) {
    AICF_RETURN_IF_ERROR(session.SelectLane(turn % lanes));
    if (turn >= lanes) {
      AICF_RETURN_IF_ERROR(session.Wait());
      AICF_RETURN_IF_ERROR(TakeOutputs(session, entry, results));
    }
    if (turn >= 2 * lanes) continue;
    AICF_RETURN_IF_ERROR(SetInputs(session, entry));
    AICF_RETURN_IF_ERROR(session.Run());
  }
  return OkStatus();
}

Status MoveStates(Session& session, std::string* results) {
  for (const TensorInfo& t : session.states()) {
    std::string bytes(t.bytes, '\0');
    AICF_RETURN_IF_ERROR(
        session.ExportState(t.name, {t.dtype, t.shape, bytes.data(), bytes.size()}));
    AICF_RETURN_IF_ERROR(session.ImportState(t.name, View(t, bytes)));
    *results += bytes;
  }
  return session.ResetStates();
}

Status Use(Session& session, const Program& program, std::string* results,
           std::unique_ptr<Session>* fork) {
  for (const EntryInfo& entry : program.entries()) {
    AICF_RETURN_IF_ERROR(RunEntry(session, entry, results));
  }
  AICF_RETURN_IF_ERROR(MoveStates(session, results));
  AICF_ASSIGN_OR_RETURN(*fork, session.Fork());
  AICF_RETURN_IF_ERROR(session.TimeReplays(2).status());
  return session.Profile(1).status();
}

Status UseLanes(SessionBase& session, const Program& program, std::string* results) {
  for (const EntryInfo& entry : program.entries()) {
    AICF_RETURN_IF_ERROR(RunInLanes(session, entry, results));
  }
  return MoveStates(session, results);
}

Status LiveWith(const std::string& path, const Mode& mode, cuda::Driver& driver, Ending& ending) {
  AICF_ASSIGN_OR_RETURN(const std::shared_ptr<const Program> program, Program::Load(path));
  SessionOptions options;
  options.cuda_graph = mode.cuda_graph;
  options.transfers = mode.transfers;
  if (mode.lanes > 1) options.sync = SyncPolicy::kEventRecord;
  AICF_ASSIGN_OR_RETURN(const std::unique_ptr<Session> session,
                        cuda::CreateCudaSession(program, 0, options, &driver, mode.lanes));
  std::unique_ptr<Session> fork;
  const Status used = mode.lanes > 1
                          ? UseLanes(static_cast<SessionBase&>(*session), *program, &ending.results)
                          : Use(*session, *program, &ending.results, &fork);
  if (!used.ok()) (void)session->Run();
  ending.failed = Failed();
  return used;
}

}  // namespace

Ending Live(const std::string& path, const Mode& mode) {
  Ending ending;
  auto driver = cuda::Driver::Open("libcuda.so.1");
  if (!driver.ok()) {
    ending.failed = Failed();
    ending.status = driver.status();
    return ending;
  }
  ending.status = LiveWith(path, mode, **driver, ending);
  // A session that could not be made has met its failure while it was made.
  if (!ending.status.ok()) ending.failed = Failed();
  ending.health = (*driver)->health();
  return ending;
}

}  // namespace aicf::failing_cuda
