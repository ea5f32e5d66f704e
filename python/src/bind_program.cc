// The Python classes for TensorInfo, Entry and Program.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/program.h"
#include "python/src/shapes.h"
#include "python/src/status.h"
#include "python/src/verify.h"
#include "schema/artifact.h"

namespace aicf::python {
namespace {

nb::tuple ShapeTuple(const Dims& dims) { return nb::tuple(nb::cast(ToShape(dims))); }

nb::bytes ToBytes(const std::vector<std::byte>& bytes) {
  return nb::bytes(reinterpret_cast<const char*>(bytes.data()), bytes.size());
}

void BindTensorInfo(nb::module_& m) {
  nb::class_<TensorInfo>(m, "TensorInfo",
                         "Name, element type and shape of an input, output, meta or state: dense, "
                         "row-major.")
      .def_prop_ro("name", [](const TensorInfo& t) { return ToText(t.name); })
      .def_prop_ro(
          "dtype", [](const TensorInfo& t) { return std::string(DTypeName(t.dtype)); },
          "\"f32\", \"i64\", \"bf16\", ...; aicf.numpy_dtype() gives numpy's.")
      .def_prop_ro(
          "shape", [](const TensorInfo& t) { return ShapeTuple(t.shape); },
          nb::sig("def shape(self) -> tuple[int, ...]"),
          "Of an output with a dynamic axis the largest possible.")
      .def_prop_ro(
          "min_shape", [](const TensorInfo& t) { return ShapeTuple(t.min_shape); },
          nb::sig("def min_shape(self) -> tuple[int, ...]"),
          "The shape at the most padding that the entry point allows; `shape` where none is.")
      .def_ro("nbytes", &TensorInfo::bytes)
      .def_prop_ro(
          "dynamic_axis",
          [](const TensorInfo& t) {
            return t.dynamic_axis < 0 ? std::nullopt : std::optional<int>(t.dynamic_axis);
          },
          "Outputs: the axis whose extent each run decides, or None.")
      .def("__repr__", [](const TensorInfo& t) {
        return ToText(StrCat("TensorInfo('", t.name, "', ", DTypeName(t.dtype), ", ",
                             ToString(t.shape), ")"));
      });
}

void BindEntry(nb::module_& m) {
  nb::class_<EntryInfo>(
      m, "EntryPoint",
      "One set of input shapes that a program is compiled for: \"main\", or a bucket.")
      .def_prop_ro("name", [](const EntryInfo& e) { return ToText(e.name); })
      .def_ro("inputs", &EntryInfo::inputs)
      .def_ro("outputs", &EntryInfo::outputs)
      .def_ro("metas", &EntryInfo::metas,
              "Small inputs that are rewritten before a run (positions, lengths, page tables).")
      .def_ro("first_step", &EntryInfo::first_step, "Its first step among the program's.")
      .def_ro("step_count", &EntryInfo::step_count)
      .def("__repr__",
           [](const EntryInfo& e) { return ToText(StrCat("EntryPoint('", e.name, "')")); });
}

std::string_view StoredText(const schema::Artifact& artifact, schema::SectionKind kind) {
  return artifact.text(kind);
}

std::map<std::string, std::string> MetadataOf(const LoadedProgram& p) {
  const auto& pairs = p.program->artifact().program().metadata;
  return {pairs.begin(), pairs.end()};
}

}  // namespace

void BindProgram(nb::module_& m) {
  BindTensorInfo(m);
  BindEntry(m);
  nb::class_<LoadedProgram>(m, "NativeProgram")
      .def_static(
          "load",
          [](const std::string& path, std::optional<std::string> require_signature) {
            return Unlocked(
                [&] { return LoadedProgram::FromFile(path, {std::move(require_signature)}); });
          },
          nb::arg("path"), nb::arg("require_signature") = nb::none())
      .def_static(
          "from_bytes",
          [](nb::bytes data, std::optional<std::string> require_signature) {
            const auto* first = static_cast<const std::byte*>(data.data());
            const size_t count = data.size();
            return Unlocked([&] {
              return LoadedProgram::FromBytes({first, first + count},
                                              {std::move(require_signature)});
            });
          },
          nb::arg("data"), nb::arg("require_signature") = nb::none())
      .def("signed",
           [](const LoadedProgram& p, const std::string& private_key) {
             return Unlocked([&] { return SignedProgram(p, private_key); });
           })
      .def_prop_ro("target", [](const LoadedProgram& p) { return p.program->target(); })
      .def_prop_ro("entries", [](const LoadedProgram& p) { return p.program->entries(); })
      .def_prop_ro("states", [](const LoadedProgram& p) { return p.program->states(); })
      .def_prop_ro("state_bytes", [](const LoadedProgram& p) { return p.program->state_bytes(); })
      .def_prop_ro("arena_bytes", [](const LoadedProgram& p) { return p.program->arena_bytes(); })
      .def_prop_ro("weights_bytes",
                   [](const LoadedProgram& p) { return p.program->weights_bytes(); })
      .def_prop_ro("metadata", &MetadataOf)
      .def("data",
           [](const LoadedProgram& p) {
             return ToBytes(Unlocked([&] { return ArtifactBytes(p); }));
           })
      .def(
          "decisions",
          [](const LoadedProgram& p) { return ToText(Unlocked([&] { return DecisionsOf(p); })); },
          nb::sig("def decisions(self) -> str"))
      .def(
          "provenance",
          [](const LoadedProgram& p) {
            const auto stored = Unlocked([&] { return p.Stored(); });
            return ToText(StoredText(*stored, schema::SectionKind::kProvenance));
          },
          nb::sig("def provenance(self) -> str"))
      .def(
          "describe",
          [](const LoadedProgram& p) { return ToText(Unlocked([&] { return DescriptionOf(p); })); },
          nb::sig("def describe(self) -> str"))
      .def(
          "report",
          [](const LoadedProgram& p, const std::string& title) {
            return ToText(Unlocked([&] { return ReportPageOf(p, title); }));
          },
          nb::arg("title"), nb::sig("def report(self, title: str) -> str"));
}

}  // namespace aicf::python
