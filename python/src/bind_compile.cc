// Python's functions for compiling and verifying.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include "python/src/bindings.h"
#include "python/src/compile.h"
#include "python/src/status.h"
#include "python/src/verify.h"

namespace aicf::python {
namespace {

/// Copies an array's bytes into a tensor of the given dtype and shape. Python passes bytes, because
/// numpy cannot export the types that ml_dtypes adds to it through DLPack. REQUIRES: `data` has as
/// many bytes as these take.
ir::Tensor CopyTensor(const std::string& dtype, const Shape& shape, nb::bytes data) {
  const DType type = Take(ToDType(dtype));
  const Dims dims = Take(ToDims(shape));
  const auto* first = static_cast<const std::byte*>(data.data());
  return ir::Tensor::Own(type, dims, {first, first + data.size()});
}

/// Tensors by name: name, dtype, shape and bytes of each.
using GivenTensors = std::vector<std::tuple<std::string, std::string, Shape, nb::bytes>>;

NamedTensors CopyTensors(const GivenTensors& given) {
  NamedTensors tensors;
  for (const auto& [name, dtype, shape, data] : given) {
    tensors.insert_or_assign(name, CopyTensor(dtype, shape, data));
  }
  return tensors;
}

void BindRequest(nb::module_& m) {
  nb::class_<CompileRequest>(m, "CompileRequest")
      .def(nb::init<>())
      .def_rw("target", &CompileRequest::target)
      .def_rw("math", &CompileRequest::math)
      .def_rw("precision", &CompileRequest::precision)
      .def_rw("kernel_cache", &CompileRequest::kernel_cache)
      .def_rw("shapes", &CompileRequest::shapes)
      .def_rw("buckets", &CompileRequest::buckets)
      .def_rw("policy", &CompileRequest::policy)
      .def_rw("states", &CompileRequest::states)
      .def_rw("auto_states", &CompileRequest::auto_states)
      .def_rw("metas", &CompileRequest::metas)
      .def_rw("context", &CompileRequest::context)
      .def_rw("page", &CompileRequest::page)
      .def_rw("cache", &CompileRequest::cache)
      .def_rw("cache_precision", &CompileRequest::cache_precision)
      .def_rw("prefill", &CompileRequest::prefill)
      .def_rw("decode", &CompileRequest::decode)
      .def_rw("logits", &CompileRequest::logits)
      .def_rw("edits", &CompileRequest::edits)
      .def_rw("disable_passes", &CompileRequest::disable_passes)
      .def_rw("disable_fusion", &CompileRequest::disable_fusion)
      .def_rw("decisions", &CompileRequest::decisions)
      .def_rw("policy_strict", &CompileRequest::policy_strict)
      .def_rw("deterministic", &CompileRequest::deterministic)
      .def_rw("external_data_dir", &CompileRequest::external_data_dir)
      .def_rw("strip", &CompileRequest::strip)
      .def_rw("images", &CompileRequest::images)
      .def_rw("nan_branches", &CompileRequest::nan_branches)
      .def_rw("calibrate_method", &CompileRequest::calibrate_method)
      .def_rw("max_error", &CompileRequest::max_error)
      .def("calibrate",
           [](CompileRequest& r, const std::string& name, const GivenTensors& tensors) {
             r.calibrate.push_back({name, CopyTensors(tensors)});
           })
      .def("bind", [](CompileRequest& r, const std::string& name, const std::string& dtype,
                      const Shape& shape, nb::bytes data) {
        r.bind.insert_or_assign(name, CopyTensor(dtype, shape, data));
      });
}

}  // namespace

void BindCompile(nb::module_& m) {
  BindRequest(m);
  m.def("compile_file", [](const std::string& path, const CompileRequest& request) {
    return Unlocked([&] { return CompileFile(path, request); });
  });
  m.def("compile_bytes", [](nb::bytes model, const CompileRequest& request) {
    const std::span data(static_cast<const std::byte*>(model.data()), model.size());
    return Unlocked([&] { return CompileBytes(data, request); });
  });
  m.def("compile_program", [](const LoadedProgram& program, const CompileRequest& request) {
    return Unlocked([&] { return CompileProgram(program, request); });
  });
  m.def(
      "verify",
      [](const LoadedProgram& program, const GivenTensors& inputs, const std::string& device,
         int threads) {
        const NamedTensors tensors = CopyTensors(inputs);
        SessionOptions options;
        options.device = device;
        options.threads = threads;
        return Unlocked([&] { return VerifyProgram(program, tensors, options); });
      },
      nb::arg("program"), nb::arg("inputs"), nb::arg("device"), nb::arg("threads"));
}

}  // namespace aicf::python
