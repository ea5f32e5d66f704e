/// aicf runtime: load an artifact, run it. The runtime decides nothing.
///
///   AICF_ASSIGN_OR_RETURN(const auto program, aicf::Program::Load("model.aicf"));
///   AICF_ASSIGN_OR_RETURN(const auto session, aicf::Session::Create(program, {}));
///   AICF_RETURN_IF_ERROR(session->SetInput("x", aicf::TensorOf(pixels, {1, 3, 48, 320})));
///   AICF_RETURN_IF_ERROR(session->Run());
///   return session->GetOutput("softmax_11.tmp_0", aicf::TensorInto(scores, {1, 40, 6625}));
///
/// Errors are Status values (status.h), which these macros hand on to the caller; no exception
/// leaves a function here.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aicf/tensor.h"
#include "base/api.h"
#include "base/dims.h"
#include "base/dtype.h"
#include "base/status.h"

namespace aicf {

namespace schema {
class Artifact;
}

/// Whether this process can still use its GPUs. Returns ok until any call of this library has met a
/// device fault, such as an illegal address in a kernel of whatever library, or an uncorrectable
/// error of the device's memory. After such a fault CUDA serves nothing in the process any more:
/// every session on a GPU, old or new and on every device, fails with kDevice without waiting for
/// anything, and this function returns kDevice with the first fault for as long as the process
/// lives. Sessions on the CPU go on. A service should tell its supervisor so (by failing its health
/// check) and exit. The call that runs into a fault or waits for it reports it first: Run or, with
/// policies other than kFullSync, Wait. Touches no device and takes no lock. Thread safety: any
/// thread.
AICF_API Status DeviceHealth();

/// Shape and type of one input or output, as the caller sees it: dense row-major.
struct TensorInfo {
  std::string name;
  DType dtype = DType::kF32;
  Dims shape;
  uint64_t bytes = 0;
  /// Outputs only: the axis whose extent each replay decides (NonZero, NonMaxSuppression and
  /// similar ops). `shape` and `bytes` are then the largest possible ones, and Session::OutputShape
  /// gives the actual shape. -1: there is no such axis.
  int dynamic_axis = -1;
  /// The smallest shape that the entry point serves by padding. Inputs may have any shape between
  /// this one and `shape`, as long as axes that are padded together lose equally many positions;
  /// the outputs shrink accordingly. Equal to `shape` where nothing may be padded.
  Dims min_shape;
};

/// An entry point: one set of input shapes that the model is compiled for, called "main" or by the
/// bucket's name. All entry points of one compilation have inputs and outputs of the same names and
/// dtypes.
struct EntryInfo {
  std::string name;
  std::vector<TensorInfo> inputs;
  std::vector<TensorInfo> outputs;
  /// Small inputs that the host rewrites before a replay, such as positions and lengths; listed
  /// here and not among `inputs`, set by Session::SetMeta. Always of exactly their shapes.
  std::vector<TensorInfo> metas;
  uint32_t first_step = 0;  ///< number of its first step among the program's steps
  uint32_t step_count = 0;
};

/// A shape that the caller wants an input to have.
struct InputShape {
  std::string_view name;
  Dims shape;
};

/// The entry point that serves the requested shapes, and the shapes that all its tensors then have
/// (an output's dynamic axis counts with its largest extent).
struct EntryChoice {
  size_t entry = 0;           ///< index into Program::entries()
  std::vector<Dims> inputs;   ///< as EntryInfo::inputs
  std::vector<Dims> outputs;  ///< as EntryInfo::outputs
};

/// Requirements on an artifact beyond what is always verified.
struct LoadOptions {
  /// Public keys in PEM, one or more after each other, as `aicf-sign --new-key` and `openssl pkey
  /// -pubout` write them. When set, an artifact is loaded only if one of these keys has signed it;
  /// a text without a key is an error, not the absence of a requirement. An artifact for a GPU
  /// carries device code: docs/security.md says what loading one from elsewhere means.
  std::optional<std::string> require_signature = {};
};

/// A loaded, verified artifact. Immutable; share one between any number of threads and sessions.
class AICF_API Program {
 public:
  /// Reads and verifies the whole file; touches no device.
  /// Errors: kIo, kBadArtifact (also where the signature that the options require is missing or
  /// wrong), kInvalidArgument (`require_signature` is no text of public keys), kUnsupported (newer
  /// format), kResource.
  /// Cost: one read of the file plus hashing at memory speed; with a required signature also
  /// SHA-512 over the file, some 2 s per GB.
  static Result<std::shared_ptr<const Program>> Load(const std::string& path,
                                                     const LoadOptions& options = {});
  static Result<std::shared_ptr<const Program>> FromBytes(std::span<const std::byte> bytes,
                                                          const LoadOptions& options = {});
  ~Program();

  const std::string& target() const;  ///< "cpu:avx512", "cuda:sm_90a"
  /// Never empty; in the order in which they were given to the compiler.
  const std::vector<EntryInfo>& entries() const;
  /// The first entry point's, which is the only one of a program without buckets.
  const std::vector<TensorInfo>& inputs() const;
  const std::vector<TensorInfo>& outputs() const;
  /// Tensors that live across replays. All entry points share them, and no list of inputs or
  /// outputs has them.
  const std::vector<TensorInfo>& states() const;
  size_t step_count() const;
  /// The entry point that serves these shapes: the first one whose inputs have exactly these
  /// shapes; otherwise, of those for which the compiler has proved that padding the inputs to their
  /// shapes does not change the results, the one with the smallest inputs. An input that is not
  /// named takes the shape that the entry point gives it. Errors: kInvalidArgument naming an
  /// unknown or repeated input, or listing the shapes that exist.
  Result<EntryChoice> Choose(std::span<const InputShape> shapes) const;
  /// The source model's own key/value strings, e.g. a recogniser's "character" list; empty when
  /// absent.
  std::string_view metadata(std::string_view key) const;
  uint64_t arena_bytes() const;
  uint64_t weights_bytes() const;
  uint64_t state_bytes() const;  ///< of each session
  const schema::Artifact& artifact() const;

 private:
  friend class Session;
  struct Impl;
  explicit Program(std::unique_ptr<Impl> impl);
  static Result<std::shared_ptr<const Program>> Adopt(
      Result<std::shared_ptr<const schema::Artifact>> artifact);
  std::unique_ptr<Impl> impl_;
};

enum class SyncPolicy : uint8_t {
  kFullSync,     ///< Run returns when outputs are ready
  kEventRecord,  ///< Run records an event after the replay and returns; Wait() waits for it
  kNoSync,       ///< Run only enqueues; the caller synchronises the stream himself
};

/// Operations that a run on a CPU may take where SessionOptions::max_operations is 0: minutes of
/// work on a large machine.
inline constexpr double kDefaultMaxOperations = 1e14;

struct SessionOptions {
  /// "": the artifact's own target (cuda:0 for a CUDA artifact); "cpu": also runs a CUDA artifact
  /// step by step on the reference kernels, with the same arena and aliases; "cuda:N".
  std::string device = {};
  int threads = 0;  ///< CPU threads; 0: one per core available to the process
  /// false: launch steps one by one on the stream; Run then waits before every trip of a loop.
  bool cuda_graph = true;
  /// CUDA: Run includes the copies between host staging and device. false: Run computes only;
  /// SetInput uploads and GetOutput downloads at once, and inputs keep their device contents
  /// between replays.
  bool transfers = true;
  SyncPolicy sync = SyncPolicy::kFullSync;
  /// CUDA: a CUstream of the caller, created in the device's primary context; nullptr: the
  /// session's own. Replays are launched on it. The session never captures it, and it must outlive
  /// the session. Run fails while the caller captures it. With kNoSync, do not destroy a session
  /// whose replay is in flight while its stream is captured: the destructor waits for the stream,
  /// which a capture forbids.
  void* stream = nullptr;
  /// CPU: limit of the elementary operations that one run may take, all trips of its loops
  /// included, so that no artifact keeps a processor busy for ever; 0: kDefaultMaxOperations.
  /// Create fails with kResource where the steps, each taken once, exceed this limit; Run fails
  /// with kResource where a loop goes on beyond it. A negative number and NaN are kInvalidArgument,
  /// on every device.
  double max_operations = 0;
};

struct StepProfile {
  uint32_t step = 0;
  double median_us = 0;  ///< device time on CUDA, wall time on CPU
};

struct MemoryReport {
  uint64_t arena_bytes = 0;
  uint64_t weights_bytes = 0;  ///< shared by the program's sessions on a device
  uint64_t state_bytes = 0;    ///< the session's own block, kept even where states are bound
  uint64_t staging_bytes = 0;  ///< pinned host memory
  uint64_t total_device_bytes = 0;
};

/// Memory of the caller that a session uses for a tensor instead of its own.
struct Binding {
  enum class Kind : uint8_t { kInput, kOutput, kState };
  Kind kind = Kind::kInput;
  std::string_view name = {};
  /// First byte of the dense tensor of the whole shape TensorInfo::shape. CUDA: device memory that
  /// the session's context can reach, 256-byte aligned. CPU: host memory, 64-byte aligned. nullptr:
  /// the tensor goes back to the session's own memory.
  void* data = nullptr;
  uint64_t bytes = 0;  ///< exactly TensorInfo::bytes; not read where `data` is null
};

/// One executable instance: arena, one captured graph per entry point, bound inputs and outputs.
///
/// A session serves all entry points of its program in one arena. Exactly one of them is selected
/// at any time, at first the program's first; every function below refers to the tensors and steps
/// of the selected one.
///
/// States (Program::states) are the session's own, shared by its entry points, and zero in a new
/// session. Every replay reads them and replaces them by their next values, including the replays
/// that Profile and TimeReplays make. They never cross the host in Run, and selecting another entry
/// point keeps them.
///
/// Thread safety: different sessions are independent; two threads inside one session at once get
/// kInvalidArgument ("busy") from the later call, never torn results. What returns no Status
/// (selected_entry, states, memory, device_name) may be called while other threads are inside.
/// CUDA: the caller's current context is what it was after every call, and captures of other
/// streams, of any mode and in any thread, go on meanwhile.
/// After Create, nothing here allocates host or device memory on the Run path.
class AICF_API Session {
 public:
  /// Allocates, uploads weights (once per program and device), loads kernels, captures and
  /// instantiates the graph of every entry point, so that the first use of each costs what every
  /// use costs. Errors: kInvalidArgument (an option), kDevice (missing, incompatible: names what
  /// would work), kResource (bytes needed and free), kUnsupported.
  static Result<std::unique_ptr<Session>> Create(std::shared_ptr<const Program> program,
                                                 const SessionOptions& options);
  virtual ~Session() = default;
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Selects the entry point that Program::Choose names for these shapes. From then on SetInput
  /// takes inputs of exactly these shapes and pads them to the entry point's, and OutputShape and
  /// GetOutput give the outputs cut to the shapes that belong to them. A new selection keeps no
  /// contents of the old one: all inputs are zero and the outputs undefined. Selecting what is
  /// selected already changes nothing. After kEventRecord or kNoSync wait for the replay first.
  /// Allocates nothing but an error's text. Errors: those of Choose, or a replay still in flight;
  /// nothing is changed.
  virtual Status SelectShapes(std::span<const InputShape> shapes) = 0;
  /// Selects an entry point by its name, with its whole shapes; as SelectShapes otherwise.
  virtual Status SelectEntry(std::string_view name) = 0;
  /// The index of the selected entry point in Program::entries().
  virtual size_t selected_entry() const = 0;
  /// The shape that SetInput takes. Errors: kInvalidArgument naming the known inputs.
  virtual Result<Dims> InputShapeOf(std::string_view name) = 0;

  /// Copies a dense host tensor in (pinned staging on CUDA; the upload happens in Run).
  /// An input never set is zero. After kEventRecord or kNoSync wait for the replay first.
  /// Errors: kInvalidArgument: an unknown name (naming the known ones), another dtype or shape than
  /// InputShapeOf(name), or memory of another size than these take (naming expected and found), or
  /// a replay still in flight; nothing is changed.
  virtual Status SetInput(std::string_view name, const ConstTensor& tensor) = 0;
  /// The shape that the last replay gave an output: TensorInfo::shape without padding, and with the
  /// actual extent of its dynamic axis. After kEventRecord or kNoSync call Wait() first. Cost: for
  /// an output without a dynamic axis none; else reading one number (CUDA without transfers: a
  /// download). Errors: kInvalidArgument naming the known outputs, or a replay still in flight.
  virtual Result<Dims> OutputShape(std::string_view name) = 0;
  /// Copies a dense host tensor of OutputShape(name) out; after kEventRecord or kNoSync call Wait()
  /// first (a replay still in flight is refused). Errors: as SetInput; the memory is unchanged.
  virtual Status GetOutput(std::string_view name, const MutableTensor& tensor) = 0;

  /// Direct access: the session's own memory for the tensor, of the whole shape TensorInfo::shape,
  /// padding included, while the entry point is selected. CUDA: a device pointer, dense,
  /// 256-byte aligned, valid until the session ends; writing inputs there replaces SetInput (pass
  /// transfers=false). CPU: a host pointer.
  virtual Result<void*> InputPointer(std::string_view name) = 0;
  virtual Result<void*> OutputPointer(std::string_view name) = 0;

  /// Writes a meta of the selected entry point: a dense host tensor of exactly the meta's dtype and
  /// shape. The next Run hands all metas over in one copy, which is part of the replay. An entry
  /// point's metas are zero until they are set, also after another one was selected. After
  /// kEventRecord or kNoSync wait for the replay first. Cost: a copy of the tensor on the host.
  /// Errors: as SetInput.
  virtual Status SetMeta(std::string_view name, const ConstTensor& tensor) = 0;

  /// Gives every state its seed: zeros, or what SeedState said. Waits for its own copies only;
  /// after kEventRecord or kNoSync wait for the replay first (one still in flight is refused, here
  /// and in all functions about states). Cost: one copy or fill on the device per state.
  virtual Status ResetStates() = 0;
  /// Sets the value that ResetStates gives this state from now on: a dense host tensor of exactly
  /// the state's dtype and shape. The state itself keeps its value until the next ResetStates.
  /// Cost: a copy of the tensor, kept on the host. Errors: as SetInput, naming the known states.
  virtual Status SeedState(std::string_view name, const ConstTensor& tensor) = 0;
  /// Copies a state to or from a dense host tensor of exactly its dtype and shape. CUDA: one
  /// transfer, and waits for it. Any session of the program that imports an exported state goes on
  /// from it bit for bit. Errors: as SetInput, naming the known states; neither side is changed.
  virtual Status ExportState(std::string_view name, const MutableTensor& tensor) = 0;
  virtual Status ImportState(std::string_view name, const ConstTensor& tensor) = 0;
  /// A new session of the same program with the same options, a copy of the states and of their
  /// seeds, and memory of its own for everything: bindings are not taken over, inputs and metas are
  /// zero, the first entry point is selected. CUDA: states are copied from device to device. Cost:
  /// that of Create, without loading weights and code, which both sessions share.
  virtual Result<std::unique_ptr<Session>> Fork() = 0;

  /// Makes replays use the caller's memory, without copies, for inputs and outputs of the selected
  /// entry point and for states. Either all given tensors are bound or, after an error, none. The
  /// memory must stay valid until the tensor is bound to other memory or the session ends. The
  /// caller reads and writes the memory of a bound tensor himself, after Wait() and before Run():
  /// SetInput and GetOutput refuse the tensor, and SelectShapes never clears it. InputPointer,
  /// OutputPointer and StatePointer then return the bound memory, and functions about states use
  /// it; binding a state copies nothing. Run stays one graph launch and pays nothing for this. Cost
  /// of this call: on CUDA the graph of the entry point, or for a state the graphs of all entry
  /// points, are captured and instantiated again. That takes milliseconds, growing with the number
  /// of steps, so bind all tensors in one call, and not for every replay. On the CPU the steps are
  /// prepared again. Errors: kInvalidArgument for an unknown name, other bytes than the tensor has,
  /// memory that is not aligned, is the session's own or overlaps that of another bound tensor, or
  /// a tensor named twice; a replay still in flight.
  virtual Status Bind(std::span<const Binding> bindings) = 0;
  /// One binding. Cost: see Bind.
  Status BindInput(std::string_view name, void* data, uint64_t bytes);
  Status BindOutput(std::string_view name, void* data, uint64_t bytes);
  Status BindState(std::string_view name, void* data, uint64_t bytes);
  /// The memory of a state, which all entry points share; otherwise as InputPointer.
  virtual Result<void*> StatePointer(std::string_view name) = 0;
  /// Program::states() of its program.
  virtual const std::vector<TensorInfo>& states() const = 0;

  /// One replay. CUDA: one graph launch. Errors: kDevice (sticky: every later call fails the same
  /// way).
  virtual Status Run() = 0;
  /// Waits for the last Run. A no-op after kFullSync.
  virtual Status Wait() = 0;

  /// Measures each step inside the replay `iterations` times and gives the median per step. Slower
  /// than Run. Allocates, overwrites the outputs and advances the states. CUDA: the times of the
  /// steps add up to that of the replay without transfers, and the first one includes the replay's
  /// fixed launch latency (runtime/cuda/profiler.h).
  virtual Result<std::vector<StepProfile>> Profile(int iterations) = 0;
  /// Device time in microseconds of each of `iterations` back-to-back replays (CUDA events; wall
  /// time on CPU).
  virtual Result<std::vector<double>> TimeReplays(int iterations) = 0;

  /// Thread safety: any thread, also while others are inside the session. During Bind it tells what
  /// there was before or what there is after.
  virtual MemoryReport memory() const = 0;
  virtual std::string device_name() const = 0;  ///< "NVIDIA H200", "cpu"

 protected:
  Session() = default;
};

}  // namespace aicf
