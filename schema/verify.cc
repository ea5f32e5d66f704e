#include "schema/verify.h"

#include "base/scanner.h"
#include "schema/verify_internal.h"

namespace aicf::schema {

std::string Describe(const Program& program, uint32_t buffer) {
  return StrCat("buffer ", buffer, " ", Quote(program.buffers[buffer].name));
}

std::string DescribeStep(const Program& program, uint32_t step) {
  return StrCat("step ", step, " (", Quote(program.steps[step].kernel), ")");
}

namespace {

// Whether both views name the same bytes for every index. A stride along an axis of one element
// means nothing; dtypes may differ where their elements have the same size.
bool NameSameBytes(const abi::View& a, const abi::View& b) {
  if (DTypeBytes(a.dtype) != DTypeBytes(b.dtype)) return false;
  if (a.shape != b.shape || a.offset != b.offset) return false;
  for (int d = 0; d < a.shape.rank(); ++d) {
    if (a.shape[d] != 1 && a.strides[d] != b.strides[d]) return false;
  }
  return true;
}

}  // namespace

bool MayOverwrite(const abi::KernelInfo& kernel, const abi::Problem& problem, size_t input,
                  size_t output) {
  const int index = static_cast<int>(input);
  return kernel.in_place != nullptr &&
         static_cast<size_t>(abi::OutputInPlaceOf(problem, index)) == output &&
         NameSameBytes(problem.inputs[input], problem.outputs[output]) &&
         kernel.in_place(problem, index);
}

Status VerifyProgram(const Program& program) {
  VerifyContext context{program, {}, {}, {}, {}};
  AICF_RETURN_IF_ERROR(VerifyCounts(context));
  AICF_RETURN_IF_ERROR(VerifyStorage(context));
  AICF_RETURN_IF_ERROR(VerifySteps(context));
  AICF_RETURN_IF_ERROR(VerifyStreams(context));
  AICF_RETURN_IF_ERROR(VerifyOrder(context));
  AICF_RETURN_IF_ERROR(VerifyState(context));
  AICF_RETURN_IF_ERROR(VerifyMetas(context));
  AICF_RETURN_IF_ERROR(VerifyMemory(context));
  return VerifyRaces(context);
}

}  // namespace aicf::schema
