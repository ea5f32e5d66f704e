/// Sessions whose replays can be queued behind each other, for what runs inside the library.
#pragma once

#include <memory>

#include "runtime/session_base.h"

namespace aicf {

/// A session with up to `lanes` lanes: as many where replays are queued on a device, else one.
///
/// Each lane has host copies of inputs, metas and outputs for itself, metas on the device, and
/// graphs between those and the device. While a replay of one lane is in flight (SyncPolicy::kEventRecord), SelectLane goes
/// to another, whose metas are written and whose Run is queued behind the first, one launch each.
/// Back in the first lane, Wait waits for its replay alone and GetOutput gives its outputs. Replays
/// run in the order of their Runs, so that each finds the states that the one before it has left.
/// REQUIRES: `options.transfers` where `lanes` is more than 1; else inputs would be uploaded under
/// a replay that is in flight. Cost: that of Session::Create; each further lane captures and
/// instantiates all graphs again.
Result<std::unique_ptr<SessionBase>> CreateLanes(std::shared_ptr<const Program> program,
                                                 const SessionOptions& options, size_t lanes);

}  // namespace aicf
