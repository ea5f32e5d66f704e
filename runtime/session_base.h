/// What every executor shares: finding tensors by name, checking the caller's memory before
/// anything is changed, and refusing a second thread. An executor implements the protected
/// functions; each is called with the session claimed and its arguments checked.
#pragma once

#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "aicf/aicf.h"
#include "schema/program.h"

namespace aicf {

/// Holds a session for the length of one call. The second of two callers sees it taken.
class Claim {
 public:
  explicit Claim(std::atomic<bool>& busy)
      : busy_(busy), held_(!busy.exchange(true, std::memory_order_acquire)) {}
  ~Claim() {
    // The last access to the session: a destructor that waits for it may free right after.
    if (held_) busy_.store(false, std::memory_order_release);
  }
  Claim(const Claim&) = delete;
  Claim& operator=(const Claim&) = delete;

  /// kInvalidArgument ("busy") when another thread is inside.
  Status status() const;

 private:
  std::atomic<bool>& busy_;
  bool held_;
};

class SessionBase : public Session {
 public:
  Status SetInput(std::string_view name, const void* data, uint64_t bytes) final;
  Result<Dims> OutputShape(std::string_view name) final;
  Status GetOutput(std::string_view name, void* data, uint64_t bytes) final;
  Result<void*> InputPointer(std::string_view name) final;
  Result<void*> OutputPointer(std::string_view name) final;
  Status Run() final;
  Status Wait() final;
  Result<std::vector<StepProfile>> Profile(int iterations) final;
  Result<std::vector<double>> TimeReplays(int iterations) final;

 protected:
  explicit SessionBase(std::shared_ptr<const Program> program) : program_(std::move(program)) {}

  /// `index` counts inputs (outputs, counts of extents among them) in the entry point's order; `data`
  /// has exactly the input's bytes, or takes the output's from byte `offset` on.
  virtual Status StoreInput(size_t index, const void* data, uint64_t bytes) = 0;
  virtual Status LoadOutput(size_t index, uint64_t offset, void* data, uint64_t bytes) = 0;
  virtual Result<void*> InputAddress(size_t index) = 0;
  virtual Result<void*> OutputAddress(size_t index) = 0;
  virtual Status RunOnce() = 0;
  virtual Status WaitForRun() = 0;
  /// `iterations` is positive.
  virtual Result<std::vector<StepProfile>> ProfileSteps(int iterations) = 0;
  virtual Result<std::vector<double>> TimeRuns(int iterations) = 0;

  /// For destructors: returns when no other thread is inside a call. Every final class calls it
  /// first, while its members are alive.
  void WaitUntilIdle();

  const Program& program() const { return *program_; }
  const schema::Program& plan() const;
  /// The entry point that sessions execute.
  const schema::EntryPoint& entry() const;

 private:
  /// The shape that the last replay gave output `index`.
  Result<Dims> ActualShape(size_t index);
  Status LoadActual(size_t index, const Dims& shape, void* data);

  std::shared_ptr<const Program> program_;
  std::atomic<bool> busy_{false};
};

}  // namespace aicf
