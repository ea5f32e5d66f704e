// aicf._native: the extension module behind the Python package, whose Python code wraps it in the
// documented interface.
#include <nanobind/stl/string.h>

#include "base/status.h"
#include "python/src/bindings.h"

NB_MODULE(_native, m) {
  m.doc() = "The library behind the package aicf; use that.";
  m.attr("version") = AICF_VERSION;
  aicf::python::BindProgram(m);
  aicf::python::BindCompile(m);
  aicf::python::BindSession(m);
  aicf::python::BindGenerator(m);
  aicf::python::BindEmbedder(m);
  aicf::python::BindMessages(m);
}
