// The Python class for embedders.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <utility>

#include "aicf/embedder.h"
#include "python/src/bindings.h"
#include "python/src/closable.h"
#include "python/src/program.h"
#include "python/src/status.h"

namespace aicf::python {
namespace {

using LiveEmbedder = Closable<Embedder>;
using FloatArray = nb::ndarray<nb::numpy, float, nb::ndim<1>>;

std::unique_ptr<LiveEmbedder> CreateEmbedder(const LoadedProgram& program,
                                             const std::string& device, int threads) {
  SessionOptions options;
  options.device = device;
  options.threads = threads;
  return std::make_unique<LiveEmbedder>(
      "embedder", Unlocked([&] { return Embedder::Create(program.program, options); }));
}

nb::dict InfoOf(const LiveEmbedder& live) {
  const auto embedder = Take(live.Open());
  const EmbedderInfo& i = embedder->info();
  nb::dict out;
  out["architecture"] = ToText(i.architecture);
  out["vocabulary"] = i.vocabulary;
  out["context"] = i.context;
  out["size"] = i.size;
  out["has_tokenizer"] = i.has_tokenizer;
  return out;
}

std::vector<uint32_t> EncodeText(const LiveEmbedder& live, const std::string& text,
                                 bool parse_special) {
  const auto embedder = Take(live.Open());
  return Unlocked([&] { return embedder->Encode(text, parse_special); });
}

FloatArray Embed(const LiveEmbedder& live, const std::vector<uint32_t>& tokens) {
  const auto embedder = Take(live.Open());
  auto vector =
      std::make_unique<std::vector<float>>(Unlocked([&] { return embedder->Embed(tokens); }));
  std::vector<float>& values = *vector;
  const nb::capsule owner(vector.release(),
                          [](void* p) noexcept { delete static_cast<std::vector<float>*>(p); });
  return FloatArray(values.data(), {values.size()}, owner);
}

}  // namespace

void BindEmbedder(nb::module_& m) {
  nb::class_<LiveEmbedder>(m, "NativeEmbedder")
      .def_prop_ro("info", &InfoOf)
      .def("encode", &EncodeText, nb::arg("text"), nb::arg("parse_special"))
      .def("embed", &Embed)
      .def_prop_ro("memory",
                   [](const LiveEmbedder& live) { return MemoryDict(Take(live.Open())->memory()); })
      .def_prop_ro("device_name",
                   [](const LiveEmbedder& live) { return Take(live.Open())->device_name(); })
      .def("close", &LiveEmbedder::Close, nb::call_guard<nb::gil_scoped_release>());
  m.def("create_embedder", &CreateEmbedder, nb::arg("program"), nb::arg("device"),
        nb::arg("threads"));
}

}  // namespace aicf::python
