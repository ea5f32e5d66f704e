/// Rules of single families, shared by the files that make up ValidateProblem. Every function returns
/// kBadArtifact with the family and the rule that is broken.
#pragma once

#include <string_view>

#include "kernels/abi/problem.h"

namespace aicf::abi {

template <class... Pieces>
Status Bad(const Problem& p, const Pieces&... pieces) {
  return Error(Code::kBadArtifact, FamilyName(p.family), " step: ", pieces...);
}

inline Status CheckSameShape(const Problem& p, const View& v, const Dims& shape,
                             std::string_view what) {
  if (v.shape == shape) return OkStatus();
  return Bad(p, what, " has shape ", ToString(v.shape), ", expected ", ToString(shape));
}

Status CheckGather(const Problem& p);
Status CheckScatter(const Problem& p);
Status CheckScan(const Problem& p);
Status CheckSample(const Problem& p);
Status CheckRoi(const Problem& p);
Status CheckNms(const Problem& p);
Status CheckRecurrent(const Problem& p);
Status CheckAttention(const Problem& p);

}  // namespace aicf::abi
