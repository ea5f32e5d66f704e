/// Status and Result<T>: how every aicf function reports failure.
///
/// No exception crosses a library boundary. A Status carries one Code and one sentence that names
/// the object, what was expected and what was found. Codes map one to one to the tools' exit codes
/// (ExitCode), so a tool never translates an error a second time.
///
/// Thread safety: values; distinct objects may be used from distinct threads.
/// Cost: an ok Status holds no memory; an error allocates its message.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/api.h"

namespace aicf {

enum class Code : unsigned char {
  kOk = 0,
  kCheckFailed,      ///< an accuracy or verification check ran and failed
  kInvalidArgument,  ///< the caller's arguments are wrong (usage)
  kBadModel,         ///< the source model is malformed
  kUnsupported,      ///< valid, but outside what aicf can do
  kBadArtifact,      ///< the artifact is corrupt or inconsistent
  kDevice,           ///< a device is missing, incompatible or lost
  kResource,         ///< memory or another budget is exhausted
  kIo,               ///< the operating system refused a file operation
  kInternal,         ///< a defect in aicf
};

/// Lower-case hyphenated name, e.g. "bad-artifact".
AICF_API std::string_view CodeName(Code code);

/// The tools' process exit code: 0, 1, 2, 3, 4, 5, 6, 7, 8 or 70 (docs/errors.md).
AICF_API int ExitCode(Code code);

class [[nodiscard]] AICF_API Status {
 public:
  Status() = default;
  Status(Code code, std::string message) : code_(code), message_(std::move(message)) {}

  bool ok() const { return code_ == Code::kOk; }
  Code code() const { return code_; }
  const std::string& message() const { return message_; }

  /// "bad-artifact: section 3 ...", or "ok".
  std::string ToString() const;

  /// The same error with `context` and ": " before its message; ok stays ok.
  Status WithContext(std::string_view context) const;

 private:
  Code code_ = Code::kOk;
  std::string message_;
};

inline Status OkStatus() { return {}; }

/// Builds an error from pieces: Error(Code::kBadModel, "node '", name, "': ...").
/// Pieces: anything std::string can append, and integers.
namespace internal {
inline void Append(std::string& out, std::string_view s) { out.append(s); }
inline void Append(std::string& out, const char* s) { out.append(s); }
inline void Append(std::string& out, const std::string& s) { out.append(s); }
inline void Append(std::string& out, char c) { out.push_back(c); }
template <class T>
  requires std::is_arithmetic_v<T>
void Append(std::string& out, T v) {
  out.append(std::to_string(v));
}
}  // namespace internal

template <class... Pieces>
std::string StrCat(const Pieces&... pieces) {
  std::string out;
  (internal::Append(out, pieces), ...);
  return out;
}

template <class... Pieces>
Status Error(Code code, const Pieces&... pieces) {
  return Status(code, StrCat(pieces...));
}

/// A value or the Status that explains its absence. An ok Status can never hide inside.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}            // NOLINT(google-explicit-constructor)
  Result(Status status) : status_(std::move(status)) {     // NOLINT(google-explicit-constructor)
    if (status_.ok()) status_ = Status(Code::kInternal, "a Result was built from an ok Status");
  }

  bool ok() const { return value_.has_value(); }
  const Status& status() const { return status_; }

  /// REQUIRES: ok().
  T& operator*() & { return *value_; }
  const T& operator*() const& { return *value_; }
  T&& operator*() && { return *std::move(value_); }
  T* operator->() { return &*value_; }
  const T* operator->() const { return &*value_; }

 private:
  std::optional<T> value_;
  Status status_;
};

}  // namespace aicf

#define AICF_CONCAT_INNER(a, b) a##b
#define AICF_CONCAT(a, b) AICF_CONCAT_INNER(a, b)

/// Returns the Status from the enclosing function when it is an error.
#define AICF_RETURN_IF_ERROR(expr)                     \
  do {                                                 \
    ::aicf::Status aicf_status_ = (expr);              \
    if (!aicf_status_.ok()) return aicf_status_;       \
  } while (false)

/// Evaluates a Result; binds its value to `lhs` or returns its Status.
#define AICF_ASSIGN_OR_RETURN(lhs, expr) \
  AICF_ASSIGN_OR_RETURN_IMPL(AICF_CONCAT(aicf_result_, __LINE__), lhs, expr)
#define AICF_ASSIGN_OR_RETURN_IMPL(result, lhs, expr) \
  auto result = (expr);                               \
  if (!result.ok()) return result.status();           \
  lhs = *std::move(result)
