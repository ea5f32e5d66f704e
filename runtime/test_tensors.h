/// Tensors of tests: data in whatever shape the session has.
#pragma once

#include <string_view>
#include <vector>

#include "aicf/aicf.h"

namespace aicf::testing {

/// An input of the shape that the session takes. Errors: those of InputShapeOf and SetInput.
template <class T>
Status SetValues(Session& session, std::string_view name, const std::vector<T>& values) {
  AICF_ASSIGN_OR_RETURN(const Dims shape, session.InputShapeOf(name));
  return session.SetInput(name, TensorOf(values, shape));
}

/// An output of the shape that the last replay gave it. Errors: those of OutputShape and GetOutput.
template <class T>
Status GetValues(Session& session, std::string_view name, std::vector<T>& values) {
  AICF_ASSIGN_OR_RETURN(const Dims shape, session.OutputShape(name));
  return session.GetOutput(name, TensorInto(values, shape));
}

}  // namespace aicf::testing
