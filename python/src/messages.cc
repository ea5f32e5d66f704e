#include "python/src/messages.h"

#include <deque>
#include <mutex>
#include <new>
#include <utility>

#include "base/log.h"
#include "base/status.h"

namespace aicf::python {
namespace {

constexpr size_t kMostKept = 1000;
constexpr int kWarning = 30;

class Kept {
 public:
  void Add(Message message) {
    const std::lock_guard lock(mutex_);
    if (messages_.size() == kMostKept) {
      messages_.pop_front();
      ++dropped_;
    }
    messages_.push_back(std::move(message));
  }
  std::vector<Message> Take() {
    const std::lock_guard lock(mutex_);
    std::vector<Message> taken;
    if (dropped_ > 0) taken.push_back({kWarning, StrCat(dropped_, " older messages were dropped")});
    taken.insert(taken.end(), std::make_move_iterator(messages_.begin()),
                 std::make_move_iterator(messages_.end()));
    messages_.clear();
    dropped_ = 0;
    return taken;
  }

 private:
  std::mutex mutex_;
  std::deque<Message> messages_;
  uint64_t dropped_ = 0;
};

// Never destroyed: threads of the library may still log while the process ends.
Kept& TheKept() {
  static Kept* kept = new Kept;
  return *kept;
}

int LevelOf(LogLevel level) {
  switch (level) {
    case LogLevel::kDebug:
      return 10;
    case LogLevel::kInfo:
      return 20;
    case LogLevel::kWarning:
      return kWarning;
    case LogLevel::kError:
      return 40;
  }
  return kWarning;
}

}  // namespace

void KeepMessages() {
  SetLogSink([](LogLevel level, std::string_view text) {
    try {
      TheKept().Add({LevelOf(level), std::string(text)});
    } catch (const std::bad_alloc&) {
      // A message for which there is no memory is lost; a sink must not throw.
    }
  });
}

std::vector<Message> TakeMessages() { return TheKept().Take(); }

}  // namespace aicf::python
