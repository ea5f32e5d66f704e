#include "schema/encode_step.h"

#include <algorithm>
#include <variant>

#include "schema/attr_codec.h"

namespace aicf::schema {
namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;

// A list of records, or of numbers; absent where it is empty.
template <class T>
Offset<flatbuffers::Vector<const T*>> RecordsOrAbsent(FlatBufferBuilder& b,
                                                      const std::vector<T>& records) {
  return records.empty() ? 0 : b.CreateVectorOfStructs(records);
}
template <class T>
Offset<flatbuffers::Vector<T>> NumbersOrAbsent(FlatBufferBuilder& b,
                                               const std::vector<T>& numbers) {
  return numbers.empty() ? 0 : b.CreateVector(numbers);
}

Offset<flatbuffers::String> TextOrAbsent(FlatBufferBuilder& b, const std::string& text) {
  return text.empty() ? 0 : b.CreateString(text);
}

Offset<fb::Expr> ExprOrAbsent(FlatBufferBuilder& b, const abi::Expr& e) {
  if (e == abi::Expr()) return 0;
  std::vector<fb::ExprNode> nodes;
  nodes.reserve(e.nodes.size());
  for (const abi::ExprNode& n : e.nodes) {
    nodes.emplace_back(n.imm, n.args[0], n.args[1], n.args[2], Byte(n.op), Byte(n.dtype));
  }
  const auto node_list = b.CreateVectorOfStructs(nodes);
  return fb::CreateExpr(b, node_list, b.CreateVector(e.results));
}

void AppendOperand(const abi::View& v, std::vector<fb::Operand>& operands,
                   std::vector<fb::Axis>& axes) {
  operands.emplace_back(v.offset, Byte(v.dtype), static_cast<uint8_t>(v.shape.rank()));
  for (int d = 0; d < v.shape.rank(); ++d) axes.emplace_back(v.shape[d], v.strides[d]);
}

Offset<fb::Problem> EncodeProblem(FlatBufferBuilder& b, const abi::Problem& p) {
  AttrWriter attrs;
  abi::Attrs copy = p.attrs;  // Visit is not const: readers share it
  std::visit([&](auto& a) { a.Visit(attrs); }, copy);
  std::vector<fb::Operand> operands;
  std::vector<fb::Axis> axes;
  for (const abi::View& v : p.inputs) AppendOperand(v, operands, axes);
  for (const abi::View& v : p.outputs) AppendOperand(v, operands, axes);
  const auto ints = b.CreateVector(attrs.ints);
  const auto reals = NumbersOrAbsent(b, attrs.reals);
  const auto prologue = ExprOrAbsent(b, p.prologue);
  const auto epilogue = ExprOrAbsent(b, p.epilogue);
  const auto score = p.score.empty() ? 0 : ExprOrAbsent(b, p.score);
  const auto operand_list = RecordsOrAbsent(b, operands);
  const auto axis_list = RecordsOrAbsent(b, axes);
  return fb::CreateProblem(b, Byte(p.family), Byte(p.math), p.core_inputs, ints, reals, 0, 0,
                           prologue, epilogue, score, operand_list, axis_list,
                           static_cast<uint32_t>(p.inputs.size()));
}

fb::Dim3 ToDim3(const uint32_t (&v)[3]) { return {v[0], v[1], v[2]}; }

// Names of source nodes one after the other, and where each ends.
struct Sources {
  explicit Sources(const std::vector<std::string>& names) {
    for (const std::string& name : names) {
      text += name;
      ends.push_back(static_cast<uint32_t>(text.size()));
    }
  }
  std::string text;
  std::vector<uint32_t> ends;
};

struct Maps {
  explicit Maps(const std::vector<abi::TensorMap>& all) {
    for (const abi::TensorMap& m : all) {
      heads.emplace_back(m.offset, m.operand, static_cast<uint8_t>(m.extents.rank()),
                         Byte(m.swizzle), Byte(m.fill), m.tf32);
      for (int d = 0; d < m.extents.rank(); ++d) {
        axes.emplace_back(m.extents[d], m.strides[d], m.box[d], m.steps[d]);
      }
    }
  }
  std::vector<fb::Map> heads;
  std::vector<fb::MapAxis> axes;
};

bool SameRanks(const abi::View& v) { return v.shape.rank() == v.strides.rank(); }

bool SameRanks(const abi::TensorMap& m) {
  const int rank = m.extents.rank();
  return m.strides.rank() == rank && m.box.rank() == rank && m.steps.rank() == rank;
}

}  // namespace

bool FitsRecords(const Step& s) {
  const auto same = [](const auto& list) {
    return std::ranges::all_of(list, [](const auto& item) { return SameRanks(item); });
  };
  return same(s.problem.inputs) && same(s.problem.outputs) && same(s.tensor_maps);
}

uint32_t ParameterNames::PositionOf(const std::string& name) {
  const auto [it, added] = positions_.emplace(name, static_cast<uint32_t>(names_.size()));
  if (added) names_.push_back(name);
  return it->second;
}

Offset<fb::Step> EncodeStep(FlatBufferBuilder& b, const Step& s, ParameterNames& names) {
  const Sources sources(s.sources);
  const Maps maps(s.tensor_maps);
  std::vector<fb::Number> numbers;
  for (const abi::Parameter& p : s.parameters) {
    numbers.emplace_back(p.value, names.PositionOf(p.name));
  }
  std::vector<fb::Guard> guards;
  for (const Guard& g : s.guards) guards.emplace_back(g.buffer, g.expected);
  const fb::Launch launch(ToDim3(s.launch.grid), ToDim3(s.launch.block), ToDim3(s.launch.cluster),
                          s.launch.dynamic_shared_bytes);
  const bool has_launch = s.launch != abi::LaunchConfig{};

  const auto kernel = b.CreateString(s.kernel);
  const auto problem = EncodeProblem(b, s.problem);
  const auto inputs = b.CreateVector(s.inputs);
  const auto outputs = b.CreateVector(s.outputs);
  const auto symbol = TextOrAbsent(b, s.symbol);
  const auto algorithm = NumbersOrAbsent(b, s.algorithm);
  const auto guard_list = RecordsOrAbsent(b, guards);
  const auto waits = NumbersOrAbsent(b, s.waits);
  const auto source_text = TextOrAbsent(b, sources.text);
  const auto source_ends = NumbersOrAbsent(b, sources.ends);
  const auto number_list = RecordsOrAbsent(b, numbers);
  const auto map_list = RecordsOrAbsent(b, maps.heads);
  const auto map_axes = RecordsOrAbsent(b, maps.axes);
  return fb::CreateStep(b, 0, kernel, problem, inputs, outputs, s.packed_inputs, s.workspace_offset,
                        s.workspace_bytes, has_launch ? &launch : nullptr, s.image, symbol,
                        algorithm, s.library_version, guard_list, 0, 0, s.stream, waits,
                        s.programmatic, source_text, source_ends, number_list, map_list, map_axes);
}

}  // namespace aicf::schema
