#include "tests/states/decoder_model.h"

#include <cmath>
#include <numeric>

#include "runtime/test_tensors.h"

namespace aicf::states {
namespace {

using testing::Names;

class Writer {
 public:
  Writer(const Decoder& decoder, CacheForm form)
      : m_(form == CacheForm::kTensorScatter ? 24 : 17), decoder_(decoder), form_(form) {}

  ModelBuilder Build() {
    m_.Input("input_ids", {1, -1}, onnx::TensorProto::INT64);
    AddPositions();
    std::string x = Op("Gather", {Weight("embed"), "input_ids"});
    for (int64_t layer = 0; layer < Decoder::kLayers; ++layer) x = Layer(x, layer);
    Named("MatMul", {Norm(x, "norm"), Weight("head")}, "logits");
    m_.Output("logits");
    for (const std::string& name : presents_) m_.Output(name);
    return m_;
  }

 private:
  using Ints = std::vector<std::pair<std::string, int64_t>>;

  onnx::NodeProto& Named(const std::string& op, const Names& inputs, const std::string& output) {
    return m_.Node(op, inputs, {output}, StrCat(op, "_", m_.graph().node_size()));
  }
  std::string Op(const std::string& op, const Names& inputs, const Ints& attributes = {}) {
    const std::string output = StrCat("v", m_.graph().node_size());
    onnx::NodeProto& node = Named(op, inputs, output);
    for (const auto& [name, value] : attributes) testing::SetInt(node, name, value);
    return output;
  }
  std::string Transpose(const std::string& x, const testing::Extents& order) {
    const std::string output = Op("Transpose", {x});
    testing::SetInts(*m_.graph().mutable_node(m_.graph().node_size() - 1), "perm", order);
    return output;
  }
  std::string Fresh() { return StrCat("c", m_.graph().initializer_size()); }
  std::string Ints64(const testing::Extents& values) {
    const std::string name = Fresh();
    m_.Ints(name, {static_cast<int64_t>(values.size())}, values);
    return name;
  }
  std::string Floats(const testing::Extents& shape, const std::vector<float>& values) {
    const std::string name = Fresh();
    m_.Floats(name, shape, values);
    return name;
  }
  std::string Number(float value) { return Floats({}, {value}); }
  std::string Weight(const std::string& name) {
    const Decoder::Weight& w = decoder_.weights.at(name);
    m_.Floats(name, w.shape, w.values);
    return name;
  }
  std::string Product(const std::string& x, const std::string& weight) {
    return Op("MatMul", {x, Weight(weight)});
  }
  std::string Norm(const std::string& x, const std::string& weight) {
    const std::string square = Op("Pow", {x, Number(2)});
    const std::string mean = form_ == CacheForm::kTensorScatter
                                 ? Op("ReduceMean", {square, Ints64({-1})})
                                 : Op("ReduceMean", {square});
    if (form_ != CacheForm::kTensorScatter) {
      testing::SetInts(*m_.graph().mutable_node(m_.graph().node_size() - 1), "axes", {-1});
    }
    const std::string root =
        Op("Sqrt", {Op("Add", {mean, Number(static_cast<float>(Decoder::kEpsilon))})});
    return Op("Mul", {Weight(weight), Op("Div", {x, root})});
  }

  // What every layer reads: where the rows stand, and their rotations.
  void AddPositions() {
    m_.Input(PositionsOf(form_), PositionsShape(), onnx::TensorProto::INT64);
    if (form_ == CacheForm::kGroupQuery) {
      const std::string sum = Op("ReduceSum", {"attention_mask", Ints64({1})}, {{"keepdims", 0}});
      const std::string last = Op("Sub", {sum, Ints64({1})});
      lengths_ = Op("Cast", {last}, {{"to", onnx::TensorProto::INT32}});
      const std::string shape = Op("Shape", {"attention_mask"});
      const std::string room = Op("Gather", {shape, Ints64({1})});
      total_ = Op("Cast", {room}, {{"to", onnx::TensorProto::INT32}});
      return AddTables();
    }
    positions_ = PositionsOf(form_);
    if (form_ == CacheForm::kTensorScatter) {
      const std::string rows = Op("Gather", {Op("Shape", {"input_ids"}), Ints64({1})});
      lengths_ = Op("Add", {positions_, rows});
      const std::string axis = Ints64({0});
      const std::string counting = Op("Range", {Scalar(0), Op("Squeeze", {rows, axis}), Scalar(1)});
      positions_ = Op("Add", {counting, positions_});
    }
    const std::string at = Op("Cast", {positions_}, {{"to", onnx::TensorProto::FLOAT}});
    std::vector<float> frequencies;
    for (double f : RotaryFrequencies()) frequencies.push_back(static_cast<float>(f));
    const std::string angles = Op(
        "Mul", {Op("Unsqueeze", {at, Ints64({1})}), Floats({1, Decoder::kHead / 2}, frequencies)});
    const std::string both = Op("Concat", {angles, angles}, {{"axis", -1}});
    cos_ = Op("Cos", {both});
    sin_ = Op("Sin", {both});
    if (form_ != CacheForm::kTensorScatter) AddMask();
  }
  testing::Extents PositionsShape() const {
    if (form_ == CacheForm::kGroupQuery) return {1, Decoder::kCache};
    return form_ == CacheForm::kTensorScatter ? testing::Extents{1} : testing::Extents{-1};
  }
  std::string Scalar(int64_t value) {
    const std::string name = Fresh();
    m_.Ints(name, {}, {value});
    return name;
  }
  // [S, Decoder::kHead / 2] for all positions.
  void AddTables() {
    std::vector<float> cos, sin;
    for (int64_t i = 0; i < Decoder::kCache; ++i) {
      for (double f : RotaryFrequencies()) {
        cos.push_back(static_cast<float>(std::cos(static_cast<double>(i) * f)));
        sin.push_back(static_cast<float>(std::sin(static_cast<double>(i) * f)));
      }
    }
    cos_ = Floats({Decoder::kCache, Decoder::kHead / 2}, cos);
    sin_ = Floats({Decoder::kCache, Decoder::kHead / 2}, sin);
  }
  // Key j is visible to the row at position p when j <= p.
  void AddMask() {
    testing::Extents all(Decoder::kCache);
    std::iota(all.begin(), all.end(), 0);
    const std::string rows = Op("Unsqueeze", {positions_, Ints64({1})});
    const std::string visible = Op("LessOrEqual", {Ints64(all), rows});
    mask_ = Op("Where", {visible, Number(0), Number(-INFINITY)});
  }

  std::string Layer(const std::string& x, int64_t layer) {
    const std::string in = StrCat(layer, "."), y = Norm(x, in + "norm1");
    const std::string attended =
        form_ == CacheForm::kGroupQuery ? GroupQuery(y, layer) : Attended(y, layer);
    const std::string a = Op("Add", {x, Product(attended, in + "o")}), z = Norm(a, in + "norm2");
    const std::string gate = Product(z, in + "gate");
    const std::string swish = Op("Mul", {gate, Op("Sigmoid", {gate})});
    const std::string inner = Op("Mul", {swish, Product(z, in + "up")});
    return Op("Add", {a, Product(inner, in + "down")});
  }

  struct Ends {
    std::string past, present;
  };
  Ends CacheOf(int64_t layer, const std::string& what) {
    const Ends ends{StrCat("past_key_values.", layer, ".", what),
                    StrCat("present.", layer, ".", what)};
    m_.Input(ends.past, {1, Decoder::kGroups, Decoder::kCache, Decoder::kHead});
    presents_.push_back(ends.present);
    return ends;
  }
  std::string Heads(const std::string& x, int64_t count) {
    return Transpose(Op("Reshape", {x, Ints64({1, -1, count, Decoder::kHead})}), {0, 2, 1, 3});
  }
  std::string Rotated(const std::string& x) {
    const std::string axis = Ints64({3}), half = Ints64({Decoder::kHead / 2});
    const std::string low = Op("Slice", {x, Ints64({0}), half, axis});
    const std::string high = Op("Slice", {x, half, Ints64({Decoder::kHead}), axis});
    const std::string crossed = Op("Concat", {Op("Neg", {high}), low}, {{"axis", -1}});
    return Op("Add", {Op("Mul", {x, cos_}), Op("Mul", {crossed, sin_})});
  }
  // The cache with `rows` [1, G, N, D] in it.
  std::string Written(int64_t layer, const std::string& what, const std::string& rows) {
    const Ends ends = CacheOf(layer, what);
    if (form_ == CacheForm::kTensorScatter) {
      testing::SetInt(Named("TensorScatter", {ends.past, rows, "write_indices"}, ends.present),
                      "axis", 2);
    } else if (form_ == CacheForm::kScatterElements) {
      const std::string index = Op("Reshape", {positions_, Ints64({1, 1, -1, 1})});
      const std::string wide = Op("Expand", {index, Op("Shape", {rows})});
      testing::SetInt(Named("ScatterElements", {ends.past, wide, rows}, ends.present), "axis", 2);
    } else {
      const std::string first = Transpose(ends.past, {2, 0, 1, 3});
      const std::string index = Op("Unsqueeze", {positions_, Ints64({1})});
      const std::string put = Op("ScatterND", {first, index, Transpose(rows, {2, 0, 1, 3})});
      testing::SetInts(Named("Transpose", {put}, ends.present), "perm", {1, 2, 0, 3});
    }
    return ends.present;
  }
  std::string Repeated(const std::string& x) {
    constexpr int64_t kGroups = Decoder::kGroups, kEach = Decoder::kHeads / kGroups;
    const std::string wide =
        Op("Expand", {Op("Unsqueeze", {x, Ints64({2})}),
                      Ints64({1, kGroups, kEach, Decoder::kCache, Decoder::kHead})});
    return Op("Reshape", {wide, Ints64({1, Decoder::kHeads, Decoder::kCache, Decoder::kHead})});
  }
  std::string Attended(const std::string& y, int64_t layer) {
    const std::string in = StrCat(layer, ".");
    const std::string q = Rotated(Heads(Product(y, in + "q"), Decoder::kHeads));
    const std::string k = Rotated(Heads(Product(y, in + "k"), Decoder::kGroups));
    const std::string v = Heads(Product(y, in + "v"), Decoder::kGroups);
    const std::string keys = Written(layer, "key", k), values = Written(layer, "value", v);
    std::string out;
    if (form_ == CacheForm::kTensorScatter) {
      out = Op("Attention", {q, keys, values, "", "", "", lengths_}, {{"is_causal", 1}});
    } else {
      const std::string product = Op("MatMul", {q, Transpose(Repeated(keys), {0, 1, 3, 2})});
      const std::string scale = Number(static_cast<float>(1 / std::sqrt(double{Decoder::kHead})));
      const std::string scores = Op("Add", {Op("Mul", {product, scale}), mask_});
      out = Op("MatMul", {Op("Softmax", {scores}, {{"axis", -1}}), Repeated(values)});
    }
    return Op("Reshape",
              {Transpose(out, {0, 2, 1, 3}), Ints64({1, -1, Decoder::kHeads * Decoder::kHead})});
  }
  std::string GroupQuery(const std::string& y, int64_t layer) {
    const std::string in = StrCat(layer, ".");
    const std::string q = Product(y, in + "q"), k = Product(y, in + "k"), v = Product(y, in + "v");
    const Ends keys = CacheOf(layer, "key"), values = CacheOf(layer, "value");
    const std::string out = StrCat("attended.", layer);
    onnx::NodeProto& node = m_.Node(
        "GroupQueryAttention", {q, k, v, keys.past, values.past, lengths_, total_, cos_, sin_},
        {out, keys.present, values.present}, StrCat("GroupQueryAttention_", layer));
    node.set_domain("com.microsoft");
    testing::SetInt(node, "num_heads", Decoder::kHeads);
    testing::SetInt(node, "kv_num_heads", Decoder::kGroups);
    testing::SetInt(node, "do_rotary", 1);
    return out;
  }

  ModelBuilder m_;
  const Decoder& decoder_;
  CacheForm form_;
  std::string positions_, lengths_, total_, cos_, sin_, mask_;
  std::vector<std::string> presents_;
};

}  // namespace

std::string NameOf(CacheForm form) {
  constexpr const char* kNames[] = {"TensorScatter", "ScatterNd", "ScatterElements", "GroupQuery"};
  return kNames[static_cast<int>(form)];
}

std::string PositionsOf(CacheForm form) {
  if (form == CacheForm::kTensorScatter) return "write_indices";
  return form == CacheForm::kGroupQuery ? "attention_mask" : "cache_position";
}

ModelBuilder DecoderModel(const Decoder& decoder, CacheForm form) {
  ModelBuilder model = Writer(decoder, form).Build();
  if (form == CacheForm::kGroupQuery) {
    onnx::OperatorSetIdProto& domain = *model.proto().add_opset_import();
    domain.set_domain("com.microsoft");
    domain.set_version(1);
  }
  return model;
}

CompileOptions DecoderOptions(const std::string& target, CacheForm form, int64_t prompt) {
  CompileOptions options = OptionsFor(target);
  options.auto_states = true;
  options.metas = {PositionsOf(form)};
  for (const auto& [name, rows] : {std::pair("prefill", prompt), {"decode", int64_t{1}}}) {
    ShapeMap shapes{{"input_ids", Dims{1, rows}}};
    const bool per_row = form == CacheForm::kScatterNd || form == CacheForm::kScatterElements;
    if (per_row) shapes["cache_position"] = Dims{rows};
    options.buckets.push_back({name, shapes});
  }
  return options;
}

Result<std::vector<float>> Decode(Session& session, CacheForm form, const std::string& entry,
                                  std::span<const int64_t> tokens, int64_t first) {
  AICF_RETURN_IF_ERROR(session.SelectEntry(entry));
  const auto rows = static_cast<int64_t>(tokens.size());
  std::vector<int64_t> positions{first};
  if (form == CacheForm::kGroupQuery) {
    positions.assign(Decoder::kCache, 0);
    std::fill_n(positions.begin(), first + rows, 1);
  } else if (form != CacheForm::kTensorScatter) {
    positions.resize(tokens.size());
    std::iota(positions.begin(), positions.end(), first);
  }
  Dims shape{static_cast<int64_t>(positions.size())};
  if (form == CacheForm::kGroupQuery) shape = {1, Decoder::kCache};
  AICF_RETURN_IF_ERROR(session.SetMeta(PositionsOf(form), TensorOf(positions, shape)));
  AICF_RETURN_IF_ERROR(session.SetInput("input_ids", TensorOf(tokens, {1, rows})));
  AICF_RETURN_IF_ERROR(session.Run());
  std::vector<float> logits(tokens.size() * Decoder::kTokens);
  AICF_RETURN_IF_ERROR(testing::GetValues(session, "logits", logits));
  return logits;
}

}  // namespace aicf::states
