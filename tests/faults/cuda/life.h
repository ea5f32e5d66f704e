/// A life of a program on a device, from the driver's opening to the session's end.
#pragma once

#include <string>

#include "base/status.h"

namespace aicf::failing_cuda {

/// How a session is made and used.
struct Mode {
  const char* name;
  bool cuda_graph = true;
  bool transfers = true;
  size_t lanes = 1;  ///< replays of each entry point that are queued behind each other
};

/// What came of a life.
struct Ending {
  Status status;        ///< the first failure
  bool failed = false;  ///< whether a call had failed before the session's end began
  Status health;        ///< the driver's, at the end
  std::string results;  ///< all outputs of all entry points, where all went well
};

/// Opens the driver, loads the artifact, creates a session, runs every entry point, copies states
/// out and in, forks, profiles (neither of which a session with several lanes does), and ends it
/// all. After a failure the session is asked once more, which has to end by itself too.
Ending Live(const std::string& path, const Mode& mode);

}  // namespace aicf::failing_cuda
