#include "python/src/status.h"

namespace aicf::python {

void Raise(const Status& status) {
  const std::string_view name = CodeName(status.code());
  const std::string& message = status.message();
  const nb::object type =
      nb::module_::import_("aicf.errors").attr("of_code")(nb::str(name.data(), name.size()));
  // Names in a message may come from a file, whose bytes need not be UTF-8.
  const auto text = nb::steal(
      PyUnicode_DecodeUTF8(message.data(), static_cast<Py_ssize_t>(message.size()), "replace"));
  PyErr_SetObject(type.ptr(), text.ptr());
  throw nb::python_error();
}

}  // namespace aicf::python
