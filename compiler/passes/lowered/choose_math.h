/// How a product's math mode follows from what is asked for.
#pragma once

#include <optional>
#include <string_view>

#include "base/status.h"
#include "compiler/ir/lowered.h"
#include "compiler/passes/pass.h"

namespace aicf {

/// The math mode of this name. Errors: kInvalidArgument listing all names, after `what` ("--math").
Result<abi::MathMode> ReadMathMode(std::string_view what, std::string_view name);

/// Families whose math mode has a meaning.
bool FormsProducts(abi::Family family);

/// The mode that a wish or the policy names for the step; nullopt: neither says anything of it.
std::optional<abi::MathMode> NamedMath(const PassContext& context, const ir::LoweredStep& step);

/// The mode of a step of this family with operands of dtype `data` on this device when `asked` is
/// asked for: `asked` where it has a meaning for such a step, else the mode that it amounts to.
abi::MathMode ModeFor(abi::Family family, abi::MathMode asked, DType data,
                      const abi::DeviceSpec& device);

/// Warns where no product on this device is formed in the mode, so that asking for it changes
/// nothing. It is no error, and of no interest where nobody asked now: the mode of a --from
/// artifact holds for every target that its program is compiled for.
void WarnOfUnusedMath(const abi::DeviceSpec& device, abi::MathMode mode);

/// The mode in which products of operands of this 16-bit dtype are exact.
abi::MathMode MathOfStorage(DType storage);

}  // namespace aicf
