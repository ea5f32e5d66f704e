/// A session with what Python needs to know about it.
#pragma once

#include <nanobind/ndarray.h>

#include <memory>
#include <string>

#include "aicf/aicf.h"
#include "base/status.h"
#include "python/src/shapes.h"

namespace aicf::python {

/// Thread safety: as Session's.
class LiveSession {
 public:
  static Result<std::unique_ptr<LiveSession>> Create(std::shared_ptr<const Program> program,
                                                     const SessionOptions& options);

  Session& session() { return *session_; }
  const Program& program() const { return *program_; }
  const EntryInfo& entry() const { return program_->entries()[session_->selected_entry()]; }
  /// The session's device as DLPack names it.
  nanobind::dlpack::device device() const;

 private:
  std::shared_ptr<const Program> program_;
  std::unique_ptr<Session> session_;
  int ordinal_ = -1;  ///< of the GPU; -1: the CPU
};

/// Where a tensor's elements are, seen through DLPack.
struct ForeignTensor {
  DType dtype = DType::kF32;
  Dims shape;
  const void* data = nullptr;
  uint64_t bytes = 0;
  bool on_host = true;
};

/// Errors: kInvalidArgument for an element type that aicf lacks, too many axes, or elements that
/// are not dense and row-major.
Result<ForeignTensor> Examine(const nanobind::ndarray<nanobind::ro>& array);

}  // namespace aicf::python
