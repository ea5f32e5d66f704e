/// Shapes and element types between Python and the library.
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

/// "f32" and so on. Errors: kInvalidArgument.
Result<DType> ToDType(const std::string& name);

/// Element types of DLPack. Types that it has no code for (integers of 4 bits in a byte each, f4)
/// travel as unsigned bytes.
nanobind::dlpack::dtype ToDlpack(DType dtype);
/// Errors: kInvalidArgument for a type that aicf does not have.
Result<DType> FromDlpack(nanobind::dlpack::dtype dtype);

}  // namespace aicf::python
