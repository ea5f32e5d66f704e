// The Python class for sessions.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>

#include "python/src/bindings.h"
#include "python/src/program.h"
#include "python/src/session.h"
#include "python/src/status.h"

namespace aicf::python {
namespace {

std::unique_ptr<LiveSession> Create(const LoadedProgram& program, const std::string& device,
                                    int threads, double max_operations, bool cuda_graph,
                                    bool transfers, const std::string& sync, uintptr_t stream) {
  SessionOptions options;
  options.device = device;
  options.threads = threads;
  options.max_operations = max_operations;
  options.cuda_graph = cuda_graph;
  options.transfers = transfers;
  if (sync == "event")
    options.sync = SyncPolicy::kEventRecord;
  else if (sync == "none")
    options.sync = SyncPolicy::kNoSync;
  else if (sync != "full") {
    Raise(Error(Code::kInvalidArgument, "sync: expected 'full', 'event' or 'none', got '", sync,
                "'"));
  }
  options.stream = reinterpret_cast<void*>(stream);
  return Unlocked([&] { return LiveSession::Create(program.program, options); });
}

void Select(LiveSession& live, const std::vector<std::pair<std::string, Shape>>& shapes) {
  std::vector<InputShape> given;
  for (const auto& [name, shape] : shapes) given.push_back({name, Take(ToDims(shape))});
  Unlocked([&] { return live.session().SelectShapes(given); });
}

std::vector<std::pair<uint32_t, double>> Profile(LiveSession& live, int iterations) {
  std::vector<std::pair<uint32_t, double>> steps;
  for (const StepProfile& s : Unlocked([&] { return live.session().Profile(iterations); })) {
    steps.emplace_back(s.step, s.median_us);
  }
  return steps;
}

}  // namespace

void BindSession(nb::module_& m) {
  nb::class_<LiveSession> session(m, "NativeSession");
  session.def("select_shapes", &Select)
      .def("select_entry",
           [](LiveSession& live, const std::string& name) {
             Unlocked([&] { return live.session().SelectEntry(name); });
           })
      .def_prop_ro("entry", &LiveSession::entry, nb::rv_policy::copy)
      .def("input_shape",
           [](LiveSession& live, const std::string& name) {
             return ToShape(Take(live.session().InputShapeOf(name)));
           })
      .def("output_shape",
           [](LiveSession& live, const std::string& name) {
             return ToShape(Unlocked([&] { return live.session().OutputShape(name); }));
           })
      .def("run", [](LiveSession& live) { Unlocked([&] { return live.session().Run(); }); })
      .def("wait", [](LiveSession& live) { Unlocked([&] { return live.session().Wait(); }); })
      .def("profile", &Profile)
      .def("time_replays",
           [](LiveSession& live, int iterations) {
             return Unlocked([&] { return live.session().TimeReplays(iterations); });
           })
      .def_prop_ro("memory", [](LiveSession& live) { return MemoryDict(live.session().memory()); })
      .def_prop_ro("device_name", [](LiveSession& live) { return live.session().device_name(); })
      .def_prop_ro("on_cuda", [](LiveSession& live) {
        return live.device().device_type == nb::device::cuda::value;
      });
  BindStates(m, session);
  m.def("create_session", &Create, nb::arg("program"), nb::arg("device"), nb::arg("threads"),
        nb::arg("max_operations"), nb::arg("cuda_graph"), nb::arg("transfers"), nb::arg("sync"),
        nb::arg("stream"));
}

}  // namespace aicf::python
