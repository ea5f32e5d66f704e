/// What each file adds to the module.
#pragma once

#include <nanobind/nanobind.h>

namespace aicf::python {

void BindProgram(nanobind::module_& m);
void BindCompile(nanobind::module_& m);
void BindSession(nanobind::module_& m);

}  // namespace aicf::python
