/// An artifact, the requests that its sessions get, which are drawn from the artifact's own
/// samples, and their answers, which are hashes of all outputs.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "aicf/aicf.h"
#include "base/hash.h"
#include "schema/artifact.h"
#include "schema/golden.h"

namespace aicf::endurance {

struct Given {
  bool meta = false;
  std::string name;
  DType dtype = DType::kF32;
  Dims shape;
  std::vector<std::byte> data;

  ConstTensor view() const { return {dtype, shape, data.data(), data.size()}; }
};

/// One run of an entry point.
struct Request {
  std::string entry;
  std::vector<Given> given;
};

/// Requests that run one after the other. States are reset before the first.
using Script = std::vector<Request>;

/// The hash of every output of every request, in order.
using Answer = std::vector<Hash128>;

class Subject {
 public:
  /// Errors: those of loading and verifying; kBadArtifact for an artifact without samples.
  static Result<Subject> Load(const std::string& path);

  const std::string& name() const { return name_; }
  const std::shared_ptr<const Program>& program() const { return program_; }
  const std::string& path() const { return path_; }
  bool has_states() const { return !program_->states().empty(); }

  /// With seed 0, the requests are the artifact's samples. With other seeds every element of an
  /// input is drawn from the elements that the input has in the sample, so that indices stay in
  /// range. Of the metas only token ids are drawn, because positions and pages must stay
  /// consistent.
  Script MakeScript(uint64_t seed) const;

 private:
  std::string name_, path_;
  std::shared_ptr<const schema::Artifact> artifact_;  ///< the samples lie in it
  std::shared_ptr<const Program> program_;
  schema::Golden golden_;
};

/// A session with memory for its outputs. Only one thread may use it at a time.
class Client {
 public:
  static Result<std::unique_ptr<Client>> Create(const std::shared_ptr<const Program>& program,
                                                const SessionOptions& options);

  /// Makes a client with which another thread accesses the session of `of`. It has memory of its
  /// own for outputs. REQUIRES: `of` outlives it.
  static std::unique_ptr<Client> Reader(Client& of);

  /// Runs the whole script and replaces `answer`.
  Status Ask(const Script& script, Answer* answer);
  /// Selects the entry point and sets the tensors of the request.
  Status Set(const Request& request);
  /// Runs once and waits for the end.
  Status Run();
  /// Appends a hash of shape and contents for each output of the selected entry point.
  Status Read(Answer* answer);
  Status ReadOutput(const TensorInfo& output, Hash128* hash);

  /// Changes a bit of the next output that is read.
  void FlipABit() { flip_ = true; }
  /// Binds the first output of the selected entry point to this memory, and reads it there.
  Status BindFirstOutput(void* data);

  /// From now on reads the first output directly from the session's memory, even while another
  /// thread writes it.
  Status PeekAtFirstOutput();
  /// Replaces the session by a fork of it; the old session is destroyed.
  Status BecomeFork();

  Session& session() { return *session_; }

 private:
  explicit Client(std::shared_ptr<const Program> program);
  /// The hash of the buffer's first `bytes` bytes and the shape.
  Hash128 HashOf(size_t bytes, const Dims& shape);

  std::shared_ptr<const Program> program_;
  std::unique_ptr<Session> owned_;
  Session* session_ = nullptr;
  std::vector<std::byte> buffer_;  ///< room for the largest output and its shape
  const void* bound_ = nullptr;
  std::string bound_name_;
  bool flip_ = false;
};

}  // namespace aicf::endurance
