#include "tools/common/log.h"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <memory>
#include <string>

#include "base/log.h"
#include "base/utf8.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

std::shared_ptr<spdlog::logger> g_logger;

spdlog::level::level_enum LevelOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return spdlog::level::debug;
    case LogLevel::kInfo:
      return spdlog::level::info;
    case LogLevel::kWarning:
      return spdlog::level::warn;
    case LogLevel::kError:
      return spdlog::level::err;
  }
  return spdlog::level::err;
}

}  // namespace

void AttachLog(std::string_view tool) {
  auto sink = std::make_shared<spdlog::sinks::stderr_color_sink_mt>();
  g_logger = std::make_shared<spdlog::logger>(std::string(tool), std::move(sink));
  g_logger->set_pattern("%n: %^%l%$: %v");
  g_logger->set_level(spdlog::level::warn);
  SetLogSink([logger = g_logger](LogLevel level, std::string_view message) {
    logger->log(LevelOf(level), "{}", Abridge(Escape(message), kLongestLine));
  });
}

void SetVerbose() {
  if (g_logger) g_logger->set_level(spdlog::level::debug);
}

void DetachLog() {
  SetLogSink({});
  g_logger.reset();
}

}  // namespace aicf::tools
