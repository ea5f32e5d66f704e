#include "compiler/import/language/encoder.h"

#include "compiler/import/language/layers.h"
#include "compiler/ir/attention_node.h"

namespace aicf::language {
namespace {

class EncoderBuilder {
 public:
  explicit EncoderBuilder(const Model& model) : m_(model), layers_(model, w_) {}

  Result<ir::Graph> Build() {
    w_.Scope("text");
    tokens_ = w_.Input("tokens", DType::kI32, {1, -1}, {"", "tokens"});
    lengths_ = w_.Input("lengths", DType::kI32, {1}, {""});
    const ValueId extent =
        w_.Op("Gather", {w_.Op("Shape", {tokens_}), w_.Constant("one", ScalarInt(1))});
    positions_ = w_.Op(
        "Range", {w_.Constant("zero", ScalarInt(0)), extent, w_.Constant("step", ScalarInt(1))});
    AICF_ASSIGN_OR_RETURN(ValueId x, Embed());
    for (int64_t layer = 0; layer < m_.layers; ++layer) {
      AICF_ASSIGN_OR_RETURN(x, Layer(layer, x));
    }
    w_.Output("embedding", Pooled(x));
    return std::move(w_.graph());
  }

 private:
  static ir::Tensor ScalarInt(int64_t value) {
    return ir::Tensor::FromValues<int64_t>(DType::kI64, {}, std::span(&value, 1));
  }

  // A text is a single piece, so all its tokens have the first token type.
  Result<ValueId> Embed() {
    w_.Scope("embed");
    AICF_ASSIGN_OR_RETURN(const ValueId words, layers_.Rows("token_embd", tokens_));
    AICF_ASSIGN_OR_RETURN(const ValueId learned, layers_.Rows("position_embd", positions_));
    AICF_ASSIGN_OR_RETURN(const ValueId type, layers_.Rows("token_types", w_.Int32(0)));
    const ValueId constant = w_.Add(learned, type);
    return layers_.Norm("token_embd_norm", w_.Add(words, constant));
  }

  ValueId Heads(ValueId x) {
    return w_.Transpose(w_.Reshape(x, {0, 0, m_.heads, m_.head}), {0, 2, 1, 3});
  }

  Result<ValueId> Attention(int64_t layer, ValueId x) {
    const auto role = [&](std::string_view name) { return LayerRole(layer, name); };
    AICF_ASSIGN_OR_RETURN(const ValueId all,
                          layers_.Product(x, {role("attn_q"), role("attn_k"), role("attn_v")}));
    const int64_t width = m_.heads * m_.head;
    const auto parts = w_.Split(all, {width, width, width});
    ir::AttentionForm form;
    form.attrs.scale = m_.attention_scale;
    const ValueId o =
        w_.Op(ir::kAttention, {Heads(parts[0]), Heads(parts[1]), Heads(parts[2]), lengths_},
              ir::AttentionAttributes(form));
    return layers_.Product(w_.Reshape(w_.Transpose(o, {0, 2, 1, 3}), {0, 0, width}),
                           {role("attn_output")});
  }

  Result<ValueId> Layer(int64_t layer, ValueId x) {
    w_.Scope(LayerRole(layer, "attention"));
    AICF_ASSIGN_OR_RETURN(ValueId h, Attention(layer, x));
    AICF_ASSIGN_OR_RETURN(x, layers_.Norm(LayerRole(layer, "post_attention_norm"), w_.Add(x, h)));
    w_.Scope(LayerRole(layer, "feed_forward"));
    AICF_ASSIGN_OR_RETURN(h, layers_.FeedForward(layer, x));
    return layers_.Norm(LayerRole(layer, "post_ffw_norm"), w_.Add(x, h));
  }

  // The mean of the rows that hold tokens. The other rows are replaced by zeros and not multiplied
  // by zero, since they may hold anything, NaN included.
  ValueId Pooled(ValueId x) {
    w_.Scope("pool");
    const ValueId valid = w_.Op("Less", {w_.Cast(positions_, DType::kI32), lengths_});
    const ValueId rows = w_.Op("Where", {w_.Unsqueeze(valid, 1), x, w_.Float(0)});
    const ir::AttrMap whole = {{"keepdims", int64_t{0}}};
    const ValueId sum = w_.Op("ReduceSum", {rows, w_.Ints({1})}, whole);
    const ValueId count = w_.Cast(w_.Op("Max", {lengths_, w_.Int32(1)}), DType::kF32);
    const ValueId mean = w_.Op("Div", {sum, w_.Unsqueeze(count, 1)});
    if (!m_.unit_length) return mean;
    const ValueId length = w_.Op("ReduceL2", {mean, w_.Ints({1})}, {{"keepdims", int64_t{1}}});
    // The lower limit of the length keeps a vector of zeros as it is.
    constexpr double kLeastLength = 1e-12;
    return w_.Op("Div", {mean, w_.Op("Max", {length, w_.Float(kLeastLength)})});
  }

  const Model& m_;
  GraphWriter w_;
  Layers layers_;
  ValueId tokens_ = ir::kNoValue, lengths_ = ir::kNoValue;
  ValueId positions_ = ir::kNoValue;  ///< i64 [T]
};

}  // namespace

Result<ir::Graph> BuildEncoder(const Model& model) { return EncoderBuilder(model).Build(); }

}  // namespace aicf::language
