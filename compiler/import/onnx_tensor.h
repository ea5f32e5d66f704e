/// TensorProto -> ir::Tensor.
#pragma once

#include <onnx/onnx.pb.h>

#include <memory>

#include "base/status.h"
#include "compiler/import/external_data.h"
#include "compiler/ir/tensor.h"

namespace aicf {

/// What a tensor needs besides itself.
struct TensorSource {
  std::shared_ptr<const void> owner;  ///< keeps the proto alive; tensors are views of its raw_data
  ModelLocation location;             ///< for external data
};

/// Errors: kBadModel when dims, dtype and data do not fit each other; kUnsupported for element
/// types and storage forms that aicf has not; those of ReadExternalData. The caller adds the name.
Result<ir::Tensor> ImportTensor(const onnx::TensorProto& proto, const TensorSource& source);

/// Extents of a tensor in a file, checked. Errors: kBadModel, or kUnsupported above kMaxRank.
Result<Dims> ImportDims(const google::protobuf::RepeatedField<int64_t>& dims);

}  // namespace aicf
