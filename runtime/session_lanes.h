/// Sessions whose replays can be queued behind each other, for what runs inside the library.
#pragma once

#include <memory>

#include "runtime/session_base.h"

namespace aicf {

/// Creates a session with `lanes` lanes where replays can be queued on a device, and with one lane
/// otherwise.
///
/// Each lane has its own host copies of inputs, metas and outputs, its own metas on the device
/// (with SyncPolicy::kEventRecord), and its own graphs, which use these. While a replay of one lane
/// is in flight (SyncPolicy::kEventRecord), SelectLane switches to another one, whose metas can
/// then be written and whose Run queues its replay behind the first; each Run is one launch. Back
/// in the first lane, Wait waits for that lane's replay alone and GetOutput gives its outputs.
/// Replays run in the order of their Runs, so that each one finds the states that the replay before
/// it has left. REQUIRES: `options.transfers` where `lanes` is more than 1; otherwise inputs would
/// be uploaded while a replay that reads them is in flight. Cost: that of Session::Create; each
/// further lane captures and instantiates all graphs again.
Result<std::unique_ptr<SessionBase>> CreateLanes(std::shared_ptr<const Program> program,
                                                 const SessionOptions& options, size_t lanes);

}  // namespace aicf
