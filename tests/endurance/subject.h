/// An artifact, and what sessions of it are asked: requests drawn from its own samples, with
/// answers that are hashes of all outputs.
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

/// Requests one after the other, on states that were reset before the first.
using Script = std::vector<Request>;

/// Of every output of every request, in order.
using Answer = std::vector<Hash128>;

class Subject {
 public:
  /// Errors: those of loading and verifying; kBadArtifact for an artifact without samples.
  static Result<Subject> Load(const std::string& path);

  const std::string& name() const { return name_; }
  const std::shared_ptr<const Program>& program() const { return program_; }
  const std::string& path() const { return path_; }
  bool has_states() const { return !program_->states().empty(); }

  /// Seed 0: the artifact's samples as they are. Others: every element of an input is drawn from
  /// those of the sample, so that indices stay in range. Metas stay what they are but for token
  /// ids: positions and pages belong together.
  Script MakeScript(uint64_t seed) const;

 private:
  std::string name_, path_;
  std::shared_ptr<const schema::Artifact> artifact_;  ///< the samples lie in it
  std::shared_ptr<const Program> program_;
  schema::Golden golden_;
};

/// One session with room for its outputs. One thread at a time.
class Client {
 public:
  static Result<std::unique_ptr<Client>> Create(const std::shared_ptr<const Program>& program,
                                                const SessionOptions& options);

  /// Another thread's access to a client's session, with room of its own for outputs. REQUIRES:
  /// `of` outlives it.
  static std::unique_ptr<Client> Reader(Client& of);

  /// The whole script; replaces `answer`.
  Status Ask(const Script& script, Answer* answer);
  /// Selects the entry point and sets what is given.
  Status Set(const Request& request);
  /// One run, to its end.
  Status Run();
  /// Adds the hashes of the selected entry point's outputs, of shapes and contents.
  Status Read(Answer* answer);
  Status ReadOutput(const TensorInfo& output, Hash128* hash);

  /// The next output is read with one bit changed.
  void FlipABit() { flip_ = true; }
  /// Runs leave the first output of the selected entry point in this memory, which is read there.
  Status BindFirstOutput(void* data);

  /// The first output is read from the session's own memory, whoever writes it just now.
  Status PeekAtFirstOutput();
  /// Goes on with a fork of the session, which ends.
  Status BecomeFork();

  Session& session() { return *session_; }

 private:
  explicit Client(std::shared_ptr<const Program> program);
  /// Of so many bytes in the buffer, with the shape.
  Hash128 HashOf(size_t bytes, const Dims& shape);

  std::shared_ptr<const Program> program_;
  std::unique_ptr<Session> owned_;
  Session* session_ = nullptr;
  std::vector<std::byte> buffer_;  ///< of the largest output, and its shape
  const void* bound_ = nullptr;
  std::string bound_name_;
  bool flip_ = false;
};

}  // namespace aicf::endurance
