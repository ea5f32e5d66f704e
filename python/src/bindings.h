/// The functions with which each source file adds its part to the module, and what they share.
#pragma once

#include <nanobind/nanobind.h>

#include <map>
#include <string>
#include <string_view>

#include "python/src/session.h"

namespace aicf::python {

/// Converts text from a file. It need not be UTF-8; invalid bytes are replaced.
inline nanobind::str ToText(std::string_view text) {
  return nanobind::steal<nanobind::str>(
      PyUnicode_DecodeUTF8(text.data(), static_cast<Py_ssize_t>(text.size()), "replace"));
}

/// Bytes by the names of the report's members.
inline std::map<std::string, uint64_t> MemoryDict(const MemoryReport& m) {
  return {{"arena_bytes", m.arena_bytes},
          {"weights_bytes", m.weights_bytes},
          {"state_bytes", m.state_bytes},
          {"staging_bytes", m.staging_bytes},
          {"total_device_bytes", m.total_device_bytes}};
}

void BindProgram(nanobind::module_& m);
void BindCompile(nanobind::module_& m);
void BindSession(nanobind::module_& m);
void BindGenerator(nanobind::module_& m);
void BindEmbedder(nanobind::module_& m);
/// Begins to keep the library's messages, too.
void BindMessages(nanobind::module_& m);
/// Adds states, metas and the binding of the caller's memory to the class that BindSession makes.
void BindStates(nanobind::module_& m, nanobind::class_<LiveSession>& session);

}  // namespace aicf::python
