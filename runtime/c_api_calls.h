/// What the functions of the C interface have in common, wherever they are.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "aicf/aicf.h"
#include "aicf/aicf_c.h"
#include "base/function_ref.h"

namespace aicf::c_api {

/// Runs f, which returns a Status, and keeps its message for aicf_last_error.
aicf_code Call(FunctionRef<Status()> f) noexcept;

Status NotNull(const void* pointer, std::string_view what);
/// The error of a handle that names nothing.
Status Unknown(std::string_view what, uint64_t handle);

/// The program that a handle names. Errors: those of Unknown.
Result<std::shared_ptr<const Program>> ProgramOf(aicf_program handle);

/// Reads the members that the caller's header knew; later ones keep their defaults. `given` may be
/// null. Errors: kInvalidArgument.
Status ReadOptions(const aicf_session_options* given, SessionOptions* options);

/// What the functions for memory and for names of devices give. Errors: kInvalidArgument.
Status GiveMemory(const MemoryReport& memory, aicf_memory_report* report);
Status GiveName(const std::string& full, char* name, uint64_t capacity);

}  // namespace aicf::c_api
