/// How the text forms of both IRs write a constant's elements: "[1, -2]" up to sixteen elements,
/// "@<hash of the bytes>" above.
#pragma once

#include <string>

#include "base/scanner.h"
#include "compiler/ir/text.h"

namespace aicf::ir {

inline constexpr int64_t kMaxPrintedElements = 16;

std::string ConstantText(const Tensor& tensor);

/// Most bytes that the constants of one text may have together where their data is not available.
inline constexpr int64_t kMaxZeroBytes = int64_t{256} << 20;

/// Reads the constants of one text in either form.
class ConstantReader {
 public:
  /// `resolve` may be empty. REQUIRES: it outlives the reader.
  explicit ConstantReader(const ConstantResolver& resolve) : resolve_(resolve) {}

  /// A hash that the resolver does not know gives zeros.
  /// Errors: kInvalidArgument when the number of elements differs from the shape's, when a resolved
  /// tensor has another dtype or size, or when the zeros of this text exceed kMaxZeroBytes.
  Result<Tensor> Read(Scanner& in, DType dtype, const Dims& shape);

 private:
  Result<Tensor> Zeros(Scanner& in, DType dtype, const Dims& shape, int64_t bytes);

  const ConstantResolver& resolve_;
  int64_t zero_bytes_left_ = kMaxZeroBytes;
};

}  // namespace aicf::ir
