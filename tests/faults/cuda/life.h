/// Uses a program on a device, from opening the driver to destroying the session.
#pragma once

#include <string>

#include "base/status.h"

namespace aicf::failing_cuda {

/// How the session is created and used.
struct Mode {
  const char* name;
  bool cuda_graph = true;
  bool transfers = true;
  size_t lanes = 1;  ///< replays of each entry point that are queued behind each other
};

/// The outcome of Live.
struct Ending {
  Status status;        ///< the first failure
  bool failed = false;  ///< whether a call had failed before the session was destroyed
  Status health;        ///< the driver's health at the end
  std::string results;  ///< all outputs of all entry points, if there was no failure
};

/// Opens the driver, loads the artifact, creates a session, runs every entry point, copies states
/// out and in, forks, profiles (a session with several lanes does neither) and destroys everything.
/// After a failure the session is run once more, and that call has to return as well.
Ending Live(const std::string& path, const Mode& mode);

}  // namespace aicf::failing_cuda
