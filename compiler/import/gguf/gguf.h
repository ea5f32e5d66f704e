/// GGUF, version 2 and 3, little-endian: the file in which llama.cpp keeps a language model. A
/// header with named metadata values and a directory of tensors, then the tensors' bytes. What the
/// names mean is not known here.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/block_format.h"
#include "base/dims.h"
#include "base/scanner.h"
#include "base/status.h"
#include "compiler/import/gguf/value.h"
#include "compiler/ir/tensor.h"

namespace aicf::gguf {

inline constexpr uint64_t kMaxMetadata = uint64_t{1} << 16;
inline constexpr uint64_t kMaxTensors = uint64_t{1} << 20;
inline constexpr uint64_t kMaxKeyBytes = 65535;
inline constexpr uint64_t kMaxTensorNameBytes = 256;
inline constexpr uint32_t kMaxAlignment = 4096;

struct Metadata {
  std::string_view key;
  Value value;
};

/// Views of the file's bytes.
struct Tensor {
  std::string_view name;
  BlockFormat format = BlockFormat::kF32;
  Dims shape;  ///< row-major: the last extent is the innermost one, which the file states first
  std::span<const std::byte> bytes;
};

/// A file that is consistent throughout. Immutable, shareable between threads; copies share the
/// bytes.
class GgufFile {
 public:
  /// `owner` keeps `bytes` alive. Errors: kBadModel for what breaks the format: lengths and counts
  /// that do not fit into the file, duplicate names, tensors that overlap, leave gaps or end beyond
  /// the file, bytes behind the last one. kUnsupported for other versions, big-endian files and
  /// tensor types without a block format. kResource for more names than the limits above.
  static Result<GgufFile> Parse(std::span<const std::byte> bytes,
                                std::shared_ptr<const void> owner);

  uint32_t version() const { return version_; }
  uint64_t alignment() const { return alignment_; }
  const std::vector<Metadata>& metadata() const { return metadata_; }  ///< in the file's order
  const std::vector<Tensor>& tensors() const { return tensors_; }      ///< in the file's order

  /// Null where the file has none of this name.
  const Value* FindValue(std::string_view key) const;
  const Tensor* FindTensor(std::string_view name) const;

  /// The value of `key` (Value::As says which types there are); nullopt where there is none.
  /// Errors: kBadModel, naming the key, when it is no T.
  template <class T>
  Result<std::optional<T>> Find(std::string_view key) const {
    const Value* value = FindValue(key);
    if (value == nullptr) return std::optional<T>();
    auto converted = value->As<T>();
    if (!converted.ok()) return converted.status().WithContext(StrCat("metadata ", Quote(key)));
    return std::optional<T>(*std::move(converted));
  }

  /// Like Find, for a value without which a model cannot be read. Errors: also kBadModel when it is
  /// absent.
  template <class T>
  Result<T> Get(std::string_view key) const {
    AICF_ASSIGN_OR_RETURN(std::optional<T> value, Find<T>(key));
    if (!value) return Error(Code::kBadModel, "metadata ", Quote(key), " is missing");
    return *std::move(value);
  }

  /// Keeps the tensors' bytes alive.
  const std::shared_ptr<const void>& owner() const { return owner_; }

 private:
  Status ReadMetadata(Cursor& in, uint64_t count);
  Status ReadAlignment();
  Status ReadTensors(Cursor& in, uint64_t count, std::span<const std::byte> bytes);

  uint32_t version_ = 0;
  uint64_t alignment_ = 32;
  std::vector<Metadata> metadata_;
  std::vector<Tensor> tensors_;
  std::vector<uint32_t> metadata_by_name_, tensors_by_name_;  // positions, sorted
  std::shared_ptr<const void> owner_;
};

/// Reads and checks the whole file. Errors: those of Parse, OpenRegularFile and FileBytes::Read.
Result<GgufFile> ReadGguf(const std::string& path);

/// The tensor's values in f32. Errors: kResource when there is no memory for them.
Result<ir::Tensor> DecodeTensor(const Tensor& tensor);

}  // namespace aicf::gguf
