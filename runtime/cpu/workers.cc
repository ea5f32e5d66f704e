#include "runtime/cpu/workers.h"

#include <unistd.h>

#include <system_error>

namespace aicf {

Workers::Workers(int threads)
    : pool_(std::make_unique<cpu::ThreadPool>(threads)), owner_(getpid()) {}

Workers::~Workers() {
  if (getpid() != owner_) (void)pool_.release();
}

Result<std::unique_ptr<Workers>> Workers::Start(int threads) {
  if (threads < 0 || threads > kMaxThreads) {
    return Error(Code::kInvalidArgument, "threads: expected 0 to ", kMaxThreads, ", got ", threads);
  }
  try {
    return std::unique_ptr<Workers>(new Workers(threads));
  } catch (const std::system_error& e) {
    return Error(Code::kResource, "cannot start ", threads, " threads: ", e.what());
  }
}

}  // namespace aicf
