/// What every executor shares: finding tensors by name, checking the caller's memory before
/// anything is changed, and refusing a second thread. An executor implements the protected
/// functions; each is called with the session claimed and its arguments checked.
#pragma once

#include <atomic>
#include <memory>
#include <span>
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
    // This is the last access to the session: a destructor that waits for it may free it right
    // after.
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

/// Memory that the caller has bound, indexed by the buffer at the end of an alias chain; nullptr
/// where the session's own memory is used.
using BoundMemory = std::vector<std::byte*>;

/// A session has one lane or, so that replays can be queued behind each other, several
/// (session_lanes.h). Every lane has inputs, metas, outputs and a selected entry point of its own,
/// and calls, Run and Wait among them, refer to the selected lane. All lanes share the states and
/// the arena.
class SessionBase : public Session {
 public:
  size_t lanes() const { return choices_.size(); }
  /// Makes all later calls refer to this lane; a replay in flight in another lane goes on. Errors:
  /// kInvalidArgument for a number that is no lane's. Cost: none.
  Status SelectLane(size_t lane);

  Status SelectShapes(std::span<const InputShape> shapes) final;
  Status SelectEntry(std::string_view name) final;
  size_t selected_entry() const final { return selected_.load(std::memory_order_relaxed); }
  Result<Dims> InputShapeOf(std::string_view name) final;
  Status SetInput(std::string_view name, const ConstTensor& tensor) final;
  Result<Dims> OutputShape(std::string_view name) final;
  Status GetOutput(std::string_view name, const MutableTensor& tensor) final;
  Result<void*> InputPointer(std::string_view name) final;
  Result<void*> OutputPointer(std::string_view name) final;
  Status SetMeta(std::string_view name, const ConstTensor& tensor) final;
  Status ResetStates() final;
  Status SeedState(std::string_view name, const ConstTensor& tensor) final;
  Status ExportState(std::string_view name, const MutableTensor& tensor) final;
  Status ImportState(std::string_view name, const ConstTensor& tensor) final;
  Result<std::unique_ptr<Session>> Fork() final;
  Status Bind(std::span<const Binding> bindings) final;
  Result<void*> StatePointer(std::string_view name) final;
  const std::vector<TensorInfo>& states() const final { return program_->states(); }
  Status Run() final;
  Status Wait() final;
  Result<std::vector<StepProfile>> Profile(int iterations) final;
  Result<std::vector<double>> TimeReplays(int iterations) final;

 protected:
  /// Selects the first lane, and in every lane the program's first entry point.
  explicit SessionBase(std::shared_ptr<const Program> program, size_t lanes = 1);

  /// All of these refer to the selected entry point. `index` is a position in its inputs or its
  /// outputs, where the outputs include the counts of extents. StoreInput copies `data` to the
  /// input, LoadOutput copies the output to `data`, both from the tensor's byte `offset` on.
  virtual Status StoreInput(size_t index, uint64_t offset, const void* data, uint64_t bytes) = 0;
  virtual Status LoadOutput(size_t index, uint64_t offset, void* data, uint64_t bytes) = 0;
  virtual Result<void*> InputAddress(size_t index) = 0;
  virtual Result<void*> OutputAddress(size_t index) = 0;
  /// Fails when a replay is in flight in any lane.
  virtual Status CheckIdle() = 0;
  /// Fails when a replay is in flight in the selected lane, whose selection must not change
  /// meanwhile.
  virtual Status CheckLaneIdle() = 0;
  /// Fills every input that is not bound, and every meta, with zeros.
  virtual Status ClearInputs() = 0;
  /// `index` is a position in the entry point's metas.
  virtual Status StoreMeta(size_t index, const void* data, uint64_t bytes) = 0;
  /// Copy a whole state from or to host memory; where `from` is nullptr, the state becomes zero.
  /// `buffer` is an index into the program's buffers. Called only while no replay is in flight.
  virtual Status StoreState(uint32_t buffer, const void* from) = 0;
  virtual Status LoadState(uint32_t buffer, void* to) = 0;
  virtual Result<void*> StateAddress(uint32_t buffer) = 0;
  /// A new session of the same program and options with a copy of the states.
  virtual Result<std::unique_ptr<SessionBase>> Duplicate() = 0;
  /// Prepares replays that use the bound memory `bound`, of the selected entry point or of all.
  /// Changes nothing after an error. Called only while no replay is in flight.
  virtual Status Rebind(const BoundMemory& bound, bool all_entries) = 0;
  /// Whether the session itself has allocated any of these bytes.
  virtual bool Owns(const std::byte* data, uint64_t bytes) const = 0;
  /// Alignment in bytes that `Bind` requires of an address.
  virtual uint64_t binding_alignment() const = 0;
  virtual Status RunOnce() = 0;
  virtual Status WaitForRun() = 0;
  /// `iterations` is positive.
  virtual Result<std::vector<StepProfile>> ProfileSteps(int iterations) = 0;
  virtual Result<std::vector<double>> TimeRuns(int iterations) = 0;

  /// For destructors: returns when no other thread is inside a call. Every final class calls it
  /// first, while its members are alive.
  void WaitUntilIdle();

  const std::shared_ptr<const Program>& shared_program() const { return program_; }
  const Program& program() const { return *program_; }
  const schema::Program& plan() const;
  size_t lane() const { return lane_; }
  /// The selected entry point.
  size_t current() const { return choice().entry; }
  const schema::EntryPoint& entry() const;
  /// Indexed by buffer: the buffer at the end of its alias chain.
  const std::vector<uint32_t>& roots() const { return roots_; }
  /// Indexed by the root of an alias chain: the caller's memory, or nullptr.
  const BoundMemory& bound() const { return bound_; }
  bool IsBound(uint32_t buffer) const { return bound_[roots_[buffer]] != nullptr; }

 private:
  const EntryChoice& choice() const { return choices_[lane_]; }
  const EntryInfo& info() const { return program_->entries()[current()]; }
  /// The buffer that a binding is about. Errors: kInvalidArgument.
  Result<uint32_t> BoundBuffer(const Binding& binding) const;
  Status CheckBinding(const Binding& binding, uint32_t buffer) const;
  /// Checks that no two tensors of an entry point, states among them, are bound to overlapping
  /// memory.
  Status CheckApart(const BoundMemory& bound, const schema::EntryPoint& entry) const;
  /// Makes next_ the selection.
  Status Select();
  /// The shape that the last replay gave output `index`.
  Result<Dims> ActualShape(size_t index);

  std::shared_ptr<const Program> program_;
  const std::vector<uint32_t> roots_;
  const std::vector<uint32_t> states_;         ///< buffers, as program().states()
  std::vector<std::vector<std::byte>> seeds_;  ///< as states_; empty: zeros
  BoundMemory bound_;
  std::atomic<bool> busy_{false};
  std::vector<EntryChoice> choices_;  ///< the selection, by lane
  EntryChoice next_;  ///< the selection being made; a member so that making it allocates nothing
  size_t lane_ = 0;
  std::atomic<size_t> selected_{0};  ///< current(), for any thread
};

}  // namespace aicf
