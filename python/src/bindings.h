/// The functions with which each source file adds its part to the module.
#pragma once

#include <nanobind/nanobind.h>

#include "python/src/session.h"

namespace aicf::python {

void BindProgram(nanobind::module_& m);
void BindCompile(nanobind::module_& m);
void BindSession(nanobind::module_& m);
/// Adds states, metas and the binding of the caller's memory to the class that BindSession makes.
void BindStates(nanobind::module_& m, nanobind::class_<LiveSession>& session);

}  // namespace aicf::python
