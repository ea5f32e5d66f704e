#include "base/log.h"

#include <atomic>
#include <mutex>
#include <utility>

namespace aicf {
namespace {

std::atomic<bool> g_has_sink{false};
std::mutex g_mutex;

LogSink& Sink() {
  static LogSink sink;
  return sink;
}

}  // namespace

void SetLogSink(LogSink sink) {
  std::lock_guard lock(g_mutex);
  g_has_sink.store(static_cast<bool>(sink), std::memory_order_relaxed);
  Sink() = std::move(sink);
}

void Log(LogLevel level, std::string_view message) {
  if (!g_has_sink.load(std::memory_order_relaxed)) return;
  std::lock_guard lock(g_mutex);
  if (Sink()) Sink()(level, message);
}

}  // namespace aicf
