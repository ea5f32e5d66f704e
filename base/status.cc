#include "base/status.h"

#include <charconv>
#include <cstddef>
#include <new>

#include "base/utf8.h"

namespace aicf {
namespace {

struct CodeInfo {
  std::string_view name;
  int exit_code;
};

constexpr CodeInfo kCodes[] = {
    {"ok", 0},          {"check-failed", 1}, {"invalid-argument", 2}, {"bad-model", 3},
    {"unsupported", 4}, {"bad-artifact", 5}, {"device", 6},           {"resource", 7},
    {"io", 8},          {"internal", 70},
};

/// Bytes of a message that one of its pieces may take.
constexpr size_t kLongestPiece = 1024;

}  // namespace

std::string_view CodeName(Code code) { return kCodes[static_cast<size_t>(code)].name; }

int ExitCode(Code code) { return kCodes[static_cast<size_t>(code)].exit_code; }

Status::Status(Code code, std::string message) {
  if (code != Code::kOk) error_.reset(new ErrorInfo{code, std::move(message)});
}

// The object is never destroyed, since it may be asked for while the program exits. It is built in
// static storage, and its text is short enough for std::string's internal buffer, so that making it
// needs no memory.
const Status::ErrorInfo& Status::NoMemory() noexcept {
  alignas(ErrorInfo) static std::byte place[sizeof(ErrorInfo)];
  static const ErrorInfo* const error = new (place) ErrorInfo{Code::kResource, "out of memory"};
  return *error;
}

Status Status::OutOfMemory() noexcept {
  Status status;
  status.error_.reset(&NoMemory());
  return status;
}

const Status::ErrorInfo* Status::Copy(const ErrorInfo* error) {
  if (error == nullptr || error == &NoMemory()) return error;
  return new ErrorInfo(*error);
}

void Status::Free::operator()(const ErrorInfo* error) const noexcept {
  if (error != &NoMemory()) delete error;
}

const std::string& Status::message() const {
  static const std::string* const none = new std::string();
  return ok() ? *none : error_->message;
}

std::string Status::ToString() const {
  if (ok()) return "ok";
  return StrCat(CodeName(code()), ": ", message());
}

Status Status::WithContext(std::string_view context) const {
  if (ok()) return *this;
  return Status(code(), StrCat(Abridge(context, kLongestPiece), ": ", message()));
}

namespace internal {

namespace {

template <class T>
void AppendNumber(std::string& out, T number) {
  char text[24];
  out.append(text, std::to_chars(text, text + sizeof text, number).ptr);
}

}  // namespace

void Piece::AppendTo(std::string& out, size_t most) const {
  switch (kind_) {
    case Kind::kText:
      text_.size() <= most ? out.append(text_) : out.append(Abridge(text_, most));
      return;
    case Kind::kChar:
      out.push_back(character_);
      return;
    case Kind::kSigned:
      AppendNumber(out, signed_);
      return;
    case Kind::kUnsigned:
      AppendNumber(out, unsigned_);
      return;
    case Kind::kReal:
      out.append(std::to_string(real_));
      return;
  }
}

std::string Join(std::initializer_list<Piece> pieces) {
  std::string out;
  for (const Piece& piece : pieces) piece.AppendTo(out, std::string::npos);
  return out;
}

Status MakeError(Code code, std::initializer_list<Piece> pieces) {
  std::string message;
  for (const Piece& piece : pieces) piece.AppendTo(message, kLongestPiece);
  return Status(code, std::move(message));
}

Status NeverOk(Status status) {
  if (!status.ok()) return status;
  return Status(Code::kInternal, "a Result was built from an ok Status");
}

}  // namespace internal
}  // namespace aicf
