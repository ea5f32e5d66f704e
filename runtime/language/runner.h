/// The line between scheduling and the device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "aicf/aicf.h"
#include "runtime/language/layout.h"
#include "runtime/language/metas.h"
#include "runtime/session_base.h"

namespace aicf::language {

/// Runs entry points of one program on one set of states, in the order of their launches. One call
/// at a time.
class Runner {
 public:
  virtual ~Runner() = default;
  /// Most runs that are launched and not collected: 2 where a run can be queued behind one that
  /// goes on, else 1.
  virtual size_t most_under_way() const = 0;
  /// Starts a run of `bucket`. Has read the metas when it returns. REQUIRES: fewer runs than
  /// most_under_way() are under way. Errors: those of Session; nothing is launched then.
  virtual Status Launch(const Bucket& bucket, const RunMetas& metas) = 0;
  /// Waits for the oldest run that is under way; `tokens` receives the output `token`, one for each
  /// row of the bucket; those of idle rows mean nothing. The run is over, also after an error.
  /// REQUIRES: a run is under way.
  /// Errors: those of Session.
  virtual Status Collect(std::span<int32_t> tokens) = 0;
  virtual MemoryReport memory() const = 0;
  virtual std::string device_name() const = 0;
};

/// A runner on a session that was made of the program with SyncPolicy::kEventRecord. It queues a
/// run behind another where the session has more than one lane.
std::unique_ptr<Runner> MakeLaneRunner(std::shared_ptr<const Program> program,
                                       std::unique_ptr<SessionBase> session);

/// A runner on a session that this function makes. Errors: those of Session::Create.
Result<std::unique_ptr<Runner>> MakeSessionRunner(std::shared_ptr<const Program> program,
                                                  const SessionOptions& options);

}  // namespace aicf::language
