#include "schema/decode_step.h"

#include <variant>

#include "schema/attr_codec.h"

namespace aicf::schema {
namespace {

abi::ExprNode DecodeNode(Decoder& d, const fb::ExprNode& n) {
  abi::ExprNode node;
  node.op = d.Enum<abi::ExprOp>(n.op(), abi::kExprOpCount, "expression operator");
  node.dtype = d.Type(n.dtype());
  node.args[0] = n.arg0();
  node.args[1] = n.arg1();
  node.args[2] = n.arg2();
  node.imm = n.imm();
  return node;
}

// The attribute struct of a family, default-initialised.
abi::Attrs EmptyAttrs(abi::Family family) {
  switch (family) {
#define AICF_FAMILY(id, text, attrs, core, slots) \
  case abi::Family::id:                           \
    return abi::attrs{};
#include "kernels/abi/family.def"
#undef AICF_FAMILY
  }
  return {};
}

// All but the operands.
void DecodeProblem(Decoder& d, const fb::Problem& p, abi::Problem& out) {
  out.family = d.Enum<abi::Family>(p.family(), abi::kFamilyCount, "step family");
  out.math = d.Enum<abi::MathMode>(p.math(), static_cast<int>(abi::MathMode::kCount), "math mode");
  out.core_inputs = p.core_inputs();
  out.attrs = EmptyAttrs(out.family);
  AttrReader reader(d.Items<int64_t>(*p.attr_ints()), d.Items<double>(p.attr_reals()));
  std::visit([&](auto& a) { a.Visit(reader); }, out.attrs);
  if (d.ok() && !reader.Finished()) {
    d.Fail(abi::FamilyName(out.family), " step: attribute '", reader.failed_field(),
           "' is missing or out of range, or there are too many");
  }
  if (p.prologue() != nullptr) out.prologue = DecodeExpr(d, *p.prologue());
  if (p.epilogue() != nullptr) out.epilogue = DecodeExpr(d, *p.epilogue());
  if (p.score() != nullptr) out.score = DecodeExpr(d, *p.score());
}

void DecodeDim3(const fb::Dim3& from, uint32_t (&to)[3]) {
  to[0] = from.x();
  to[1] = from.y();
  to[2] = from.z();
}

// Hands out the axes of one record after the other.
template <class Axis>
class Axes {
 public:
  Axes(Decoder& d, std::span<const Axis> all) : d_(d), left_(all) {}

  // Those of the next record; none, and an error, if there are not so many or more than kMaxRank.
  std::span<const Axis> Next(size_t rank) {
    if (rank > kMaxRank) d_.Fail("rank ", rank, ", limit ", kMaxRank);
    if (rank > left_.size()) d_.Fail("a step has fewer axes than its records say");
    if (!d_.ok()) return {};
    const auto next = left_.first(rank);
    left_ = left_.subspan(rank);
    return next;
  }
  void Finish() {
    if (!left_.empty()) d_.Fail("a step has more axes than its records say");
  }

 private:
  Decoder& d_;
  std::span<const Axis> left_;
};

// One number of each axis.
template <class Axis>
Dims NumbersOf(std::span<const Axis> axes, int64_t (Axis::*number)() const) {
  Dims out;
  for (const Axis& axis : axes) out.push_back((axis.*number)());
  return out;
}

abi::View DecodeOperand(Decoder& d, const fb::Operand& o, Axes<fb::Axis>& all) {
  abi::View view;
  view.dtype = d.Type(o.dtype());
  const auto axes = all.Next(o.rank());
  view.shape = NumbersOf(axes, &fb::Axis::extent);
  view.strides = NumbersOf(axes, &fb::Axis::stride);
  view.offset = o.offset();
  return view;
}

void DecodeOperands(Decoder& d, const fb::Problem& p, abi::Problem& out) {
  const auto operands = d.Items<fb::Operand>(p.operands());
  Axes<fb::Axis> axes(d, d.Items<fb::Axis>(p.axes()));
  const size_t inputs = p.input_count();
  if (inputs > operands.size()) d.Fail("a step has fewer operands than inputs");
  if (!d.ok()) return;
  out.inputs.reserve(inputs);
  out.outputs.reserve(operands.size() - inputs);
  for (size_t i = 0; i < operands.size(); ++i) {
    (i < inputs ? out.inputs : out.outputs).push_back(DecodeOperand(d, operands[i], axes));
  }
  axes.Finish();
}

void DecodeSources(Decoder& d, const fb::Step& s, std::vector<std::string>& out) {
  const auto ends = d.Items<uint32_t>(s.source_ends());
  const std::string_view text =
      s.source_text() == nullptr ? std::string_view() : s.source_text()->string_view();
  if (!d.Charge(text.size() + 1, 1)) return;
  out.reserve(ends.size());
  size_t begin = 0;
  for (const uint32_t end : ends) {
    if (end < begin || end > text.size()) d.Fail("names of source nodes end out of order");
    if (!d.ok()) return;
    const std::string_view name = text.substr(begin, end - begin);
    d.CheckText(name, kMaxStringBytes);
    out.emplace_back(name);
    begin = end;
  }
  if (begin != text.size()) d.Fail("text behind the names of source nodes");
}

abi::Parameters DecodeNumbers(Decoder& d, std::span<const fb::Number> numbers,
                              const std::vector<std::string>& names) {
  if (numbers.size() > abi::kMaxParameters) d.Fail("a step has too many parameters");
  std::vector<abi::Parameter> out;
  if (!d.ok()) return {};
  out.reserve(numbers.size());
  for (const fb::Number& n : numbers) {
    if (n.name() >= names.size()) {
      d.Fail("parameter name ", n.name(), " of ", names.size());
      return {};
    }
    out.push_back({names[n.name()], n.value()});
  }
  return abi::Parameters(std::move(out));
}

abi::TensorMap DecodeMap(Decoder& d, const fb::Map& m, Axes<fb::MapAxis>& all) {
  abi::TensorMap out = DecodeMapWithoutAxes(d, m);
  const auto axes = all.Next(m.rank());
  out.extents = NumbersOf(axes, &fb::MapAxis::extent);
  out.strides = NumbersOf(axes, &fb::MapAxis::stride);
  out.box = NumbersOf(axes, &fb::MapAxis::box);
  out.steps = NumbersOf(axes, &fb::MapAxis::step);
  return out;
}

void DecodeMaps(Decoder& d, const fb::Step& s, std::vector<abi::TensorMap>& out) {
  const auto maps = d.Items<fb::Map>(s.maps());
  Axes<fb::MapAxis> axes(d, d.Items<fb::MapAxis>(s.map_axes()));
  if (maps.size() > abi::kMaxTensorMaps) d.Fail("a step has too many tensor maps");
  if (!d.ok()) return;
  out.reserve(maps.size());
  for (const fb::Map& map : maps) out.push_back(DecodeMap(d, map, axes));
  axes.Finish();
}

}  // namespace

std::string DecodeName(Decoder& d, const fb::Name& name) { return d.Text(*name.text()); }

std::string DecodeParameterName(Decoder& d, const flatbuffers::String& name) {
  std::string text = d.Text(name);
  if (!abi::IsParameterName(text)) d.Fail("a parameter's name is none");
  return text;
}

abi::Expr DecodeExpr(Decoder& d, const fb::Expr& e) {
  abi::Expr expr;
  const auto nodes = d.Items<fb::ExprNode>(*e.nodes());
  expr.nodes.reserve(nodes.size());
  for (const fb::ExprNode& n : nodes) expr.nodes.push_back(DecodeNode(d, n));
  expr.results = d.Scalars<uint16_t>(*e.results());
  return expr;
}

Step DecodeCommonOfStep(Decoder& d, const fb::Step& s) {
  Step step;
  step.kernel = d.Text(*s.kernel());
  DecodeProblem(d, *s.problem(), step.problem);
  step.inputs = d.Scalars<uint32_t>(*s.inputs());
  step.outputs = d.Scalars<uint32_t>(*s.outputs());
  step.packed_inputs = s.packed_inputs();
  step.workspace_offset = s.workspace_offset();
  step.workspace_bytes = s.workspace_bytes();
  if (const fb::Launch* launch = s.launch()) {
    DecodeDim3(launch->grid(), step.launch.grid);
    DecodeDim3(launch->block(), step.launch.block);
    DecodeDim3(launch->cluster(), step.launch.cluster);
    step.launch.dynamic_shared_bytes = launch->dynamic_shared_bytes();
  }
  step.image = s.image();
  if (s.symbol() != nullptr) step.symbol = d.Text(*s.symbol());
  step.algorithm = d.Scalars<uint8_t>(s.algorithm());
  step.library_version = s.library_version();
  if (s.guards() != nullptr) {
    for (const fb::Guard* g : *s.guards()) {
      if (!d.Charge(sizeof(Guard), 1)) break;
      step.guards.push_back({g->buffer(), g->expected()});
    }
  }
  step.stream = s.stream();
  step.waits = d.Scalars<uint32_t>(s.waits());
  step.programmatic = s.programmatic();
  return step;
}

Step DecodeStep(Decoder& d, const fb::Step& s, const std::vector<std::string>& parameter_names) {
  Step step = DecodeCommonOfStep(d, s);
  DecodeSources(d, s, step.sources);
  DecodeOperands(d, *s.problem(), step.problem);
  step.parameters = DecodeNumbers(d, d.Items<fb::Number>(s.numbers()), parameter_names);
  DecodeMaps(d, s, step.tensor_maps);
  return step;
}

}  // namespace aicf::schema
