#include <nanobind/stl/string.h>

#include "python/src/bindings.h"
#include "python/src/messages.h"

namespace aicf::python {

namespace nb = nanobind;

void BindMessages(nb::module_& m) {
  KeepMessages();
  m.def(
      "take_messages",
      [] {
        nb::list taken;
        for (const Message& message : TakeMessages()) {
          taken.append(nb::make_tuple(message.level, ToText(message.text)));
        }
        return taken;
      },
      nb::sig("def take_messages() -> list[tuple[int, str]]"));
}

}  // namespace aicf::python
