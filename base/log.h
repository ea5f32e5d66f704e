/// The library's logging callback. The library never writes to a stream; tools attach a sink.
/// Thread safety: SetLogSink and Log may be called from any thread; the sink must be thread-safe.
/// It must not throw, and must not call into this library, because a lock is held meanwhile.
#pragma once

#include <functional>
#include <string_view>

#include "base/api.h"

namespace aicf {

enum class LogLevel : unsigned char { kDebug, kInfo, kWarning, kError };

using LogSink = std::function<void(LogLevel, std::string_view message)>;

/// Replaces the sink; an empty function silences the library (the default).
AICF_API void SetLogSink(LogSink sink);

/// Cost when no sink is set: one relaxed atomic load.
AICF_API void Log(LogLevel level, std::string_view message);

}  // namespace aicf
