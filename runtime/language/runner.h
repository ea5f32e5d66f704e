/// The line between scheduling and the device.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include "aicf/aicf.h"
#include "runtime/language/layout.h"
#include "runtime/language/metas.h"

namespace aicf::language {

/// Runs entry points of one program on one set of states. One call at a time.
class Runner {
 public:
  virtual ~Runner() = default;
  /// One run of `bucket` with these metas; `tokens` takes the output `token` of its rows, whatever
  /// idle ones give. Errors: those of Session.
  virtual Status Run(const Bucket& bucket, const RunMetas& metas, std::span<int32_t> tokens) = 0;
  virtual MemoryReport memory() const = 0;
  virtual std::string device_name() const = 0;
};

/// A session of the program. Errors: those of Session::Create.
Result<std::unique_ptr<Runner>> MakeSessionRunner(std::shared_ptr<const Program> program,
                                                  const SessionOptions& options);

}  // namespace aicf::language
