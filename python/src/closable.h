/// An object that one thread may close while others are inside it.
#pragma once

#include <memory>
#include <mutex>
#include <string_view>
#include <utility>

#include "base/status.h"

namespace aicf::python {

/// Thread safety: every function may be called from any thread.
template <class T>
class Closable {
 public:
  /// `what` names the object in messages; it has to stay valid.
  Closable(std::string_view what, std::unique_ptr<T> object)
      : what_(what), object_(std::move(object)) {}

  /// The object, which lives on while somebody holds it. Errors: kInvalidArgument once closed.
  Result<std::shared_ptr<T>> Open() const {
    const std::lock_guard lock(mutex_);
    if (object_ != nullptr) return object_;
    return Error(Code::kInvalidArgument, "the ", what_, " is closed");
  }

  /// From now on Open fails. The object is destroyed here, or by the last thread that is inside it.
  void Close() {
    std::shared_ptr<T> object;  // destroyed after the lock is released
    const std::lock_guard lock(mutex_);
    object.swap(object_);
  }

 private:
  const std::string_view what_;
  mutable std::mutex mutex_;
  std::shared_ptr<T> object_;
};

}  // namespace aicf::python
