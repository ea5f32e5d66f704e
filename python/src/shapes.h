/// Conversion of shapes and element types between Python and the library.
#pragma once

#include <nanobind/ndarray.h>

#include <string>
#include <vector>

#include "base/dims.h"
#include "base/dtype.h"
#include "base/status.h"

namespace aicf::python {

using Shape = std::vector<int64_t>;

inline Shape ToShape(const Dims& dims) { return {dims.begin(), dims.end()}; }

/// Errors: kInvalidArgument for more axes than a tensor can have.
Result<Dims> ToDims(const Shape& shape);

/// The type of a name such as "f32". Errors: kInvalidArgument.
Result<DType> ToDType(const std::string& name);

/// The element type as DLPack has it. Types for which it has no code (integers of 4 bits that take
/// a byte each, f4) are passed as unsigned bytes.
nanobind::dlpack::dtype ToDlpack(DType dtype);
/// Errors: kInvalidArgument for a type that aicf does not have.
Result<DType> FromDlpack(nanobind::dlpack::dtype dtype);

}  // namespace aicf::python
