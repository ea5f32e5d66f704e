/// NumPy's .npy files, versions 1 to 3. Element types that NumPy lacks are stored in one of the
/// same width (see NpyDType).
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"
#include "base/status.h"

namespace aicf::tools {

struct NpyArray {
  DType dtype = DType::kF32;
  Dims shape;
  std::vector<std::byte> data;  ///< dense row-major
};

/// Parses a whole file. Trusts nothing: header length, keys, rank, extents and the number of data
/// bytes are checked before memory is allocated. Fortran order is converted to row-major.
/// Errors: kInvalidArgument naming what was expected and found; kUnsupported for big-endian,
/// complex, string and structured types.
Result<NpyArray> ParseNpy(std::span<const std::byte> bytes);

/// Reads and parses a file. Errors: kIo as well; every message names the path.
Result<NpyArray> ReadNpy(const std::string& path);

/// The dtype in which a file stores elements of `dtype`: the same one where NumPy has it, u16 with
/// the bits of bf16, u8 with one code of float8 or float4 per byte, and i8 or u8 with the value of
/// an integer below 8 bits.
DType NpyDType(DType dtype);

/// A version 1 file. REQUIRES: data.size() == ElementCount(shape) * DTypeBytes(dtype).
std::vector<std::byte> SerializeNpy(DType dtype, const Dims& shape,
                                    std::span<const std::byte> data);

}  // namespace aicf::tools
