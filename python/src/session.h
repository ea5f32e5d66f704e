/// A session with the additional data that the Python package needs.
#pragma once

#include <nanobind/ndarray.h>

#include <map>
#include <memory>
#include <string>
#include <tuple>

#include "aicf/aicf.h"
#include "base/status.h"
#include "python/src/shapes.h"

namespace aicf::python {

/// Thread safety: the same as that of Session.
class LiveSession {
 public:
  static Result<std::unique_ptr<LiveSession>> Create(std::shared_ptr<const Program> program,
                                                     const SessionOptions& options);

  /// A new session with a copy of the states, to which no memory of the caller is bound. Errors:
  /// those of Session::Fork.
  Result<std::unique_ptr<LiveSession>> Fork();

  Session& session() { return *session_; }
  const Program& program() const { return *program_; }
  const EntryInfo& entry() const { return program_->entries()[session_->selected_entry()]; }
  /// The session's device as DLPack names it.
  nanobind::dlpack::device device() const;

  /// The Python object whose memory is bound to a tensor; None if there is none. Inputs and outputs
  /// are those of the selected entry point. REQUIRES: the interpreter's lock.
  nanobind::object BoundTo(Binding::Kind kind, const std::string& name) const;
  /// Keeps `given` alive as the object whose memory is bound to the tensor; None releases it.
  void KeepBound(Binding::Kind kind, const std::string& name, nanobind::object given);

  /// Waits for all work that has been enqueued on the device's default stream, because other
  /// libraries prepare tensors there unless told otherwise. Does nothing on the CPU. Errors:
  /// kDevice.
  Status AwaitDefaultStream() const;

 private:
  using BoundKey = std::tuple<Binding::Kind, size_t, std::string>;
  BoundKey KeyOf(Binding::Kind kind, const std::string& name) const;

  std::shared_ptr<const Program> program_;
  std::map<BoundKey, nanobind::object> bound_;  ///< outlives session_, which uses the memory
  std::unique_ptr<Session> session_;
  int ordinal_ = -1;  ///< the GPU's number; -1: the CPU
};

/// A tensor of another library as DLPack describes it.
struct ForeignTensor {
  DType dtype = DType::kF32;
  Dims shape;
  const void* data = nullptr;
  uint64_t bytes = 0;
  bool on_host = true;
  nanobind::dlpack::device device{};
  nanobind::ndarray<nanobind::ro> owner;  ///< keeps the memory alive
};

/// Describes an array of another library. Errors: kInvalidArgument for an element type that aicf
/// lacks, too many axes, or elements that are not dense and row-major.
Result<ForeignTensor> Examine(const nanobind::ndarray<nanobind::ro>& array);

}  // namespace aicf::python
