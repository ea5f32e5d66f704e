/// Encodes a step's tensor maps for the addresses that its operands have in a session.
#pragma once

#include "base/status.h"
#include "runtime/cuda/driver.h"
#include "schema/program.h"

namespace aicf::cuda {

/// `address`: first byte of the operand's buffer. Errors: kDevice with the driver's words; a map
/// that the verifier accepted is one that the driver takes.
Result<CUtensorMap> EncodeTensorMap(const Driver& driver, const abi::TensorMap& map, DType dtype,
                                    CUdeviceptr address);

/// dtype of the operand that a map of the step is about.
DType OperandType(const schema::Step& step, const abi::TensorMap& map);
/// Buffer of that operand.
uint32_t OperandBuffer(const schema::Step& step, const abi::TensorMap& map);

}  // namespace aicf::cuda
