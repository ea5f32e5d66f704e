#include "runtime/budget.h"

#include "aicf/aicf.h"
#include "base/real_text.h"
#include "kernels/abi/operation_count.h"

namespace aicf {

Result<double> MostOperations(double max_operations) {
  if (max_operations > 0) return max_operations;
  if (max_operations == 0) return kDefaultMaxOperations;
  return Error(Code::kInvalidArgument, "max_operations: expected 0 (the default) or more, got ",
               RealText(max_operations));
}

double OperationsOf(const schema::Program& program, uint32_t first, uint32_t count) {
  double operations = 0;
  for (uint32_t s = first; s < first + count; ++s) {
    operations += abi::OperationCount(program.steps[s].problem);
  }
  return operations;
}

double TripOperations(const schema::Program& program, const schema::Loop& loop) {
  return 10000 + OperationsOf(program, loop.first_step, loop.step_count);
}

Status CheckOperations(const schema::Program& program, const schema::EntryPoint& entry,
                       double most) {
  const double operations = OperationsOf(program, entry.first_step, entry.step_count);
  if (operations <= most) return OkStatus();
  return Error(Code::kResource, "entry point '", entry.name, "' takes ", RealText(operations),
               " operations for a run, the limit is ", RealText(most),
               "; SessionOptions::max_operations (aicf-run --max-operations=N) raises it");
}

Status EndlessLoop(double most) {
  return Error(Code::kResource, "a loop goes on beyond ", RealText(most),
               " operations of the run; SessionOptions::max_operations (aicf-run "
               "--max-operations=N) sets the limit");
}

}  // namespace aicf
