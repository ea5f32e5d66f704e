/// Status and Result<T>: how every aicf function reports failure.
///
/// No exception crosses a library boundary. A Status carries one Code and one sentence that names
/// the object, what was expected and what was found. Codes map one to one to the tools' exit codes
/// (ExitCode), so a tool never translates an error a second time.
///
/// Thread safety: values; distinct objects may be used from distinct threads.
/// Cost: an ok Status is a null pointer and holds no memory; an error allocates its message.
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
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
  /// An error, or ok where the code is kOk.
  Status(Code code, std::string message);
  /// kResource with the message "out of memory". Making it allocates nothing.
  static Status OutOfMemory() noexcept;

  Status(const Status& other) : error_(Copy(other.error_.get())) {}
  Status(Status&& other) noexcept = default;
  Status& operator=(const Status& other) {
    if (this != &other) error_.reset(Copy(other.error_.get()));
    return *this;
  }
  Status& operator=(Status&& other) noexcept = default;

  bool ok() const { return error_ == nullptr; }
  Code code() const { return ok() ? Code::kOk : error_->code; }
  /// Empty where it is ok.
  const std::string& message() const;

  /// "bad-artifact: section 3 ...", or "ok".
  std::string ToString() const;

  /// The same error with `context` and ": " before its message; ok stays ok.
  Status WithContext(std::string_view context) const;

 private:
  struct ErrorInfo {
    Code code;
    std::string message;
  };
  struct Free {
    void operator()(const ErrorInfo* error) const noexcept;
  };
  static const ErrorInfo* Copy(const ErrorInfo* error);
  static const ErrorInfo& NoMemory() noexcept;

  std::unique_ptr<const ErrorInfo, Free> error_;  // null: ok
};

inline Status OkStatus() { return {}; }

namespace internal {

/// One piece of a text: anything that std::string can append, or a number. It holds no copy of a
/// text and must not outlive the text that it was made from.
class AICF_API Piece {
 public:
  Piece(std::string_view text) : kind_(Kind::kText), text_(text) {}     // NOLINT
  Piece(const char* text) : Piece(std::string_view(text)) {}            // NOLINT
  Piece(const std::string& text) : Piece(std::string_view(text)) {}     // NOLINT
  Piece(char character) : kind_(Kind::kChar), character_(character) {}  // NOLINT
  template <class T>
  requires std::is_arithmetic_v<T> Piece(T number) : Piece(Number(number)) {}  // NOLINT

  /// Appends the piece to `out`; a text of more than `most` bytes is abridged.
  void AppendTo(std::string& out, size_t most) const;

 private:
  enum class Kind : unsigned char { kText, kChar, kSigned, kUnsigned, kReal };

  template <class T>
  static Piece Number(T number) {
    Piece piece('\0');
    if constexpr (std::is_floating_point_v<T>) {
      piece.kind_ = Kind::kReal;
      piece.real_ = static_cast<double>(number);
    } else if constexpr (std::is_signed_v<T>) {
      piece.kind_ = Kind::kSigned;
      piece.signed_ = number;
    } else {
      piece.kind_ = Kind::kUnsigned;
      piece.unsigned_ = number;
    }
    return piece;
  }

  Kind kind_;
  union {
    std::string_view text_;
    char character_;
    long long signed_;
    unsigned long long unsigned_;
    double real_;
  };
};

AICF_API std::string Join(std::initializer_list<Piece> pieces);
AICF_API Status MakeError(Code code, std::initializer_list<Piece> pieces);
/// Returns the status if it is an error, and a kInternal error in place of an ok one.
AICF_API Status NeverOk(Status status);

}  // namespace internal

/// The pieces one after the other: anything std::string can append, and numbers.
template <class... Pieces>
std::string StrCat(const Pieces&... pieces) {
  return internal::Join({internal::Piece(pieces)...});
}

/// Builds an error from pieces: Error(Code::kBadModel, "node '", name, "': ..."). A piece of more
/// than a kibibyte is abridged, so that no name or argument makes a message long.
template <class... Pieces>
Status Error(Code code, const Pieces&... pieces) {
  return internal::MakeError(code, {internal::Piece(pieces)...});
}

/// A value or the Status that explains its absence. An ok Status can never hide inside.
template <class T>
class [[nodiscard]] Result {
 public:
  Result(T value) : value_(std::move(value)) {}  // NOLINT(google-explicit-constructor)
  Result(Status status)                          // NOLINT(google-explicit-constructor)
      : status_(internal::NeverOk(std::move(status))) {}

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
#define AICF_RETURN_IF_ERROR(expr)               \
  do {                                           \
    ::aicf::Status aicf_status_ = (expr);        \
    if (!aicf_status_.ok()) return aicf_status_; \
  } while (false)

/// Evaluates a Result; binds its value to `lhs` or returns its Status.
#define AICF_ASSIGN_OR_RETURN(lhs, expr) \
  AICF_ASSIGN_OR_RETURN_IMPL(AICF_CONCAT(aicf_result_, __LINE__), lhs, expr)
#define AICF_ASSIGN_OR_RETURN_IMPL(result, lhs, expr) \
  auto result = (expr);                               \
  if (!result.ok()) return result.status();           \
  lhs = *std::move(result)
