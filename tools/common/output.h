/// Copies an output of the last replay out of the session.
#pragma once

#include <cstddef>
#include <vector>

#include "aicf/aicf.h"

namespace aicf::tools {

struct OutputData {
  TensorInfo info;  ///< with the actual shape and its bytes
  std::vector<std::byte> data;
};

inline Result<OutputData> ReadOutput(Session& session, const TensorInfo& info) {
  OutputData out{info, {}};
  AICF_ASSIGN_OR_RETURN(out.info.shape, session.OutputShape(info.name));
  out.info.bytes =
      static_cast<uint64_t>(ElementCount(out.info.shape).value_or(0) * DTypeBytes(info.dtype));
  out.data.resize(out.info.bytes);
  AICF_RETURN_IF_ERROR(
      session.GetOutput(info.name, {info.dtype, out.info.shape, out.data.data(), out.data.size()}));
  return out;
}

}  // namespace aicf::tools
