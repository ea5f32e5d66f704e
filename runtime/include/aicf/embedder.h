/// Vectors of texts with a compiled embedding model (docs/language_models.md).
///
///   auto program = aicf::Program::Load("model.aicf");
///   auto embedder = aicf::Embedder::Create(*program, {});
///   auto tokens = (*embedder)->Encode("Once upon a time");
///   auto vector = (*embedder)->Embed(*tokens);
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "aicf/aicf.h"
#include "base/api.h"
#include "base/status.h"

namespace aicf {

struct EmbedderInfo {
  std::string architecture;
  int64_t vocabulary = 0;
  int64_t context = 0;  ///< most tokens of a text
  int64_t size = 0;     ///< elements of a vector
  bool has_tokenizer = false;
};

/// One session of an embedding model.
///
/// Thread safety: every function may be called from any thread; Embed runs one text at a time.
/// Ownership: keeps the program alive.
class AICF_API Embedder {
 public:
  /// Whether the program's artifact holds an embedding model.
  static bool Serves(const Program& program);

  /// Checks the entry points against what the artifact says, and makes a session. Errors:
  /// kUnsupported for an artifact that is of no embedding model; kBadArtifact naming the entry
  /// point, meta or output that is wrong; those of Session::Create.
  static Result<std::unique_ptr<Embedder>> Create(std::shared_ptr<const Program> program,
                                                  const SessionOptions& options);
  virtual ~Embedder() = default;
  Embedder(const Embedder&) = delete;
  Embedder& operator=(const Embedder&) = delete;

  virtual const EmbedderInfo& info() const = 0;

  /// Text to ids, with the special tokens that the model wants around it. `parse_special`: special
  /// tokens that are spelled out become those tokens. Errors: kUnsupported without a tokenizer,
  /// those of the tokenizer.
  virtual Result<std::vector<uint32_t>> Encode(std::string_view text,
                                               bool parse_special = false) const = 0;

  /// The vector of a text, from one run of the smallest entry point that takes it. Errors:
  /// kInvalidArgument for no token, more than the context, or an id outside the vocabulary; those
  /// of Session::Run.
  virtual Result<std::vector<float>> Embed(std::span<const uint32_t> tokens) = 0;

  virtual MemoryReport memory() const = 0;
  virtual std::string device_name() const = 0;  ///< "NVIDIA H200", "cpu"

 protected:
  Embedder() = default;
};

}  // namespace aicf
