// Python's access to the tensors of a session: inputs, outputs, metas and states are copied in and
// out, shared through DLPack, or replaced by memory of the caller.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/session.h"
#include "python/src/status.h"

namespace aicf::python {
namespace {

using Bytes = nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using ConstBytes = nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

/// Hands a host tensor to the session, which uses it as `what`: "input", "meta", "seed" or "state".
Status Give(Session& session, std::string_view what, const std::string& name,
            const ConstTensor& tensor) {
  if (what == "input") return session.SetInput(name, tensor);
  if (what == "meta") return session.SetMeta(name, tensor);
  if (what == "seed") return session.SeedState(name, tensor);
  return session.ImportState(name, tensor);
}

void SetBytes(LiveSession& live, const std::string& what, const std::string& name,
              const std::string& dtype, const Shape& shape, const ConstBytes& data) {
  const ConstTensor tensor{Take(ToDType(dtype)), Take(ToDims(shape)), data.data(), data.size()};
  Unlocked([&] { return Give(live.session(), what, name, tensor); });
}

/// Copies an output or, if `what` is "state", a state into `data`.
void GetBytes(LiveSession& live, const std::string& what, const std::string& name,
              const std::string& dtype, const Shape& shape, const Bytes& data) {
  const MutableTensor tensor{Take(ToDType(dtype)), Take(ToDims(shape)), data.data(), data.size()};
  Unlocked([&] {
    return what == "state" ? live.session().ExportState(name, tensor)
                           : live.session().GetOutput(name, tensor);
  });
}

/// Hands a tensor of another library, in host memory, to the session.
void SetForeign(LiveSession& live, const std::string& what, const std::string& name,
                const nb::ndarray<nb::ro>& array) {
  const std::string subject = StrCat(what == "seed" ? "state" : what, " '", name, "'");
  const auto examined = Examine(array);
  if (!examined.ok()) Raise(examined.status().WithContext(subject));
  if (!examined->on_host) {
    Raise(Error(Code::kInvalidArgument, subject,
                ": the tensor is in device memory, which is not read here; bind it"));
  }
  const ConstTensor tensor{examined->dtype, examined->shape, examined->data, examined->bytes};
  Unlocked([&] { return Give(live.session(), what, name, tensor); });
}

Binding::Kind KindOf(std::string_view what) {
  if (what == "input") return Binding::Kind::kInput;
  return what == "output" ? Binding::Kind::kOutput : Binding::Kind::kState;
}

const TensorInfo& InfoOf(LiveSession& live, Binding::Kind kind, const std::string& name) {
  const std::vector<TensorInfo>& tensors = kind == Binding::Kind::kInput ? live.entry().inputs
                                           : kind == Binding::Kind::kOutput
                                               ? live.entry().outputs
                                               : live.session().states();
  for (const TensorInfo& t : tensors) {
    if (t.name == name) return t;
  }
  nb::raise("unreachable: the session knows '%s'", name.c_str());
}

void* AddressOf(Session& session, Binding::Kind kind, const std::string& name) {
  if (kind == Binding::Kind::kInput) return Take(session.InputPointer(name));
  if (kind == Binding::Kind::kOutput) return Take(session.OutputPointer(name));
  return Take(session.StatePointer(name));
}

/// The memory that the session uses for a tensor, for export through DLPack. It keeps the session
/// and whatever the caller has bound to it alive.
nb::ndarray<nb::array_api> View(nb::handle self, const std::string& what, const std::string& name) {
  auto& live = nb::cast<LiveSession&>(self);
  const Binding::Kind kind = KindOf(what);
  void* const data = AddressOf(live.session(), kind, name);
  const TensorInfo& info = InfoOf(live, kind, name);
  size_t shape[kMaxRank];
  std::copy(info.shape.begin(), info.shape.end(), shape);
  const nb::dlpack::device device = live.device();
  const nb::object owner = nb::make_tuple(self, live.BoundTo(kind, name));
  return nb::ndarray<nb::array_api>(data, static_cast<size_t>(info.shape.rank()), shape, owner,
                                    nullptr, ToDlpack(info.dtype), device.device_type,
                                    device.device_id);
}

/// Kind and name of a tensor, the memory to bind to it (None: the session's own again), and the
/// object that the caller gave.
using BindRow = std::tuple<std::string, std::string, nb::object, nb::object>;

void Bind(LiveSession& live, const std::vector<BindRow>& rows) {
  std::vector<Binding> bindings;
  for (const auto& [what, name, memory, given] : rows) {
    Binding binding{KindOf(what), name, nullptr, 0};
    if (!memory.is_none()) {
      const auto& tensor = nb::cast<const ForeignTensor&>(memory);
      binding.data = const_cast<void*>(tensor.data);
      binding.bytes = tensor.bytes;
    }
    bindings.push_back(binding);
  }
  Unlocked([&] { return live.session().Bind(bindings); });
  for (const auto& [what, name, memory, given] : rows) {
    const bool none = memory.is_none();
    live.KeepBound(KindOf(what), name,
                   none ? nb::object(nb::none()) : nb::object(nb::make_tuple(given, memory)));
  }
}

/// The object that the caller bound to a tensor, or None.
nb::object BoundTo(const LiveSession& live, const std::string& what, const std::string& name) {
  const nb::object kept = live.BoundTo(KindOf(what), name);
  return kept.is_none() ? kept : nb::object(kept[0]);
}

void BindForeignTensor(nb::module_& m) {
  nb::class_<ForeignTensor>(m, "ForeignTensor")
      .def_prop_ro("dtype", [](const ForeignTensor& t) { return std::string(DTypeName(t.dtype)); })
      .def_prop_ro("shape", [](const ForeignTensor& t) { return ToShape(t.shape); });
  m.def("examine", [](const nb::ndarray<nb::ro>& array) { return Take(Examine(array)); });
  // nb::ndarray<> without nb::ro refuses memory that its owner declares read-only.
  m.def("examine_writable",
        [](const nb::ndarray<>& array) { return Take(Examine(nb::ndarray<nb::ro>(array))); });
}

}  // namespace

void BindStates(nb::module_& m, nb::class_<LiveSession>& session) {
  BindForeignTensor(m);
  session.def("set_bytes", &SetBytes)
      .def("set_foreign", &SetForeign)
      .def("get_bytes", &GetBytes)
      .def("view", [](nb::handle_t<LiveSession> self, const std::string& what,
                      const std::string& name) { return View(self, what, name); })
      .def("bind", &Bind)
      .def("bound_to", &BoundTo)
      .def("reset_states",
           [](LiveSession& live) { Unlocked([&] { return live.session().ResetStates(); }); })
      .def("fork", [](LiveSession& live) { return Unlocked([&] { return live.Fork(); }); })
      .def("await_default_stream",
           [](const LiveSession& live) { Unlocked([&] { return live.AwaitDefaultStream(); }); })
      .def_prop_ro("states", [](LiveSession& live) { return live.session().states(); })
      .def_prop_ro("dlpack_device", [](const LiveSession& live) {
        return std::pair(live.device().device_type, live.device().device_id);
      });
}

}  // namespace aicf::python
