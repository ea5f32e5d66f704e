// Steps of programs without records: operands, parameters, tensor maps and names of source nodes
// are tables.
#include "schema/decode_step.h"

namespace aicf::schema {
namespace {

// The decoder's word for a field that every program without records has.
template <class T>
const T* Present(Decoder& d, const T* field) {
  if (field == nullptr) d.Fail("a field of a step is missing");
  return field;
}

abi::View DecodeView(Decoder& d, const fb::View& v) {
  abi::View view;
  view.dtype = d.Type(v.dtype());
  view.shape = d.Extents(*v.shape());
  view.strides = d.Extents(*v.strides());
  view.offset = v.offset();
  return view;
}

abi::Parameter DecodeParameter(Decoder& d, const fb::Parameter& p) {
  return {DecodeParameterName(d, *p.name()), p.value()};
}

abi::TensorMap DecodeTensorMap(Decoder& d, const fb::TensorMap& m) {
  abi::TensorMap out = DecodeMapWithoutAxes(d, m);
  out.extents = d.Extents(*m.extents());
  out.strides = d.Extents(*m.strides());
  out.box = d.Extents(*m.box());
  out.steps = d.Extents(*m.steps());
  return out;
}

void DecodeVariant(Decoder& d, const fb::Step& s, Step& step) {
  if (s.parameters() != nullptr) {
    if (s.parameters()->size() > abi::kMaxParameters) d.Fail("a step has too many parameters");
    step.parameters = abi::Parameters(d.List<abi::Parameter>(*s.parameters(), DecodeParameter));
  }
  if (s.tensor_maps() != nullptr) {
    if (s.tensor_maps()->size() > abi::kMaxTensorMaps) d.Fail("a step has too many tensor maps");
    step.tensor_maps = d.List<abi::TensorMap>(*s.tensor_maps(), DecodeTensorMap);
  }
}

}  // namespace

Step DecodeTablesOfStep(Decoder& d, const fb::Step& s) {
  Step step = DecodeCommonOfStep(d, s);
  const fb::Problem& p = *s.problem();
  // Older versions refuse a program without these fields, so none of them may be absent.
  if (Present(d, s.sources()) == nullptr || Present(d, s.symbol()) == nullptr ||
      Present(d, s.algorithm()) == nullptr || Present(d, p.attr_reals()) == nullptr ||
      Present(d, p.inputs()) == nullptr || Present(d, p.outputs()) == nullptr ||
      Present(d, p.prologue()) == nullptr || Present(d, p.epilogue()) == nullptr) {
    return step;
  }
  step.sources = d.List<std::string>(*s.sources(), DecodeName);
  step.problem.inputs = d.List<abi::View>(*p.inputs(), DecodeView);
  step.problem.outputs = d.List<abi::View>(*p.outputs(), DecodeView);
  DecodeVariant(d, s, step);
  return step;
}

}  // namespace aicf::schema
