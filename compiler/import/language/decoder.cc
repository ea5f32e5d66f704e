#include "compiler/import/language/decoder.h"

#include "compiler/import/language/layers.h"
#include "compiler/ir/attention_node.h"
#include "compiler/ir/block_nodes.h"
#include "kernels/abi/expr.h"

namespace aicf::language {
namespace {

/// The inputs that the host hands over, and values that follow from them for all layers.
struct Requests {
  ValueId tokens, slots, origins, lengths, pages, places;
  ValueId temperature, top_k, top_p, min_p, seeds;
  ValueId extent;     ///< i64, T
  ValueId positions;  ///< i32 [B, T]
};

/// Cosine and sine of all positions: [B, T, pairs] each.
struct Turn {
  ValueId cosine, sine;
};

class DecoderBuilder {
 public:
  DecoderBuilder(const Model& model, const LanguageOptions& options)
      : m_(model), o_(options), layers_(model, w_) {}

  Result<ir::Graph> Build() {
    ReadRequests();
    AICF_ASSIGN_OR_RETURN(ValueId x, Embed());
    for (const Rope& rope : m_.ropes) turns_.push_back(TurnOf(rope));
    for (int64_t layer = 0; layer < m_.layers; ++layer) {
      AICF_ASSIGN_OR_RETURN(x, Layer(layer, x));
    }
    AICF_RETURN_IF_ERROR(Draw(x));
    for (const auto& [name, value] : next_states_) w_.Output(name, value);
    return std::move(w_.graph());
  }

 private:
  int64_t pool() const { return o_.cache / o_.page; }
  int64_t slots() const { return o_.decode.back(); }

  ValueId PerRequest(std::string_view name, DType dtype) {
    return w_.Input(name, dtype, {-1}, {"batch"});
  }

  void ReadRequests() {
    w_.Scope("requests");
    r_.tokens = w_.Input("tokens", DType::kI32, {-1, -1}, {"batch", "tokens"});
    r_.slots = PerRequest("slots", DType::kI32);
    r_.origins = PerRequest("origins", DType::kI32);
    r_.lengths = PerRequest("lengths", DType::kI32);
    const int64_t table = (o_.context + o_.page - 1) / o_.page;
    r_.pages = w_.Input("pages", DType::kI32, {-1, table}, {"batch", ""});
    r_.places = w_.Input("places", DType::kI32, {-1, -1, 2}, {"batch", "tokens", ""});
    r_.temperature = PerRequest("temperature", DType::kF32);
    r_.top_k = PerRequest("top_k", DType::kI32);
    r_.top_p = PerRequest("top_p", DType::kF32);
    r_.min_p = PerRequest("min_p", DType::kF32);
    r_.seeds = PerRequest("seeds", DType::kI64);
    sampled_ = w_.Input("sampled", DType::kI32, {slots()}, {""});
    FindPositions();
  }

  void FindPositions() {
    r_.extent = w_.Op("Gather", {w_.Op("Shape", {r_.tokens}), w_.Constant("one", ScalarInt(1))});
    const ValueId rows = w_.Op(
        "Range", {w_.Constant("zero", ScalarInt(0)), r_.extent, w_.Constant("step", ScalarInt(1))});
    r_.positions = w_.Add(w_.Unsqueeze(r_.origins, 1), w_.Cast(rows, DType::kI32));
  }

  static ir::Tensor ScalarInt(int64_t value) {
    return ir::Tensor::FromValues<int64_t>(DType::kI64, {}, std::span(&value, 1));
  }

  // A token below 0 stands for the one that the request's slot sampled last.
  Result<ValueId> Embed() {
    w_.Scope("embed");
    const ValueId last = w_.Unsqueeze(w_.Op("Gather", {sampled_, r_.slots}), 1);
    const ValueId from_slot = w_.Op("Less", {r_.tokens, w_.Int32(0)});
    const ValueId ids = w_.Op("Where", {from_slot, last, r_.tokens});
    AICF_ASSIGN_OR_RETURN(ValueId x, layers_.Rows("token_embd", ids));
    if (m_.embedding_scale != 1) x = w_.Mul(x, w_.Float(m_.embedding_scale));
    if (!layers_.Has("position_embd")) return x;
    AICF_ASSIGN_OR_RETURN(const ValueId learned, layers_.Rows("position_embd", r_.positions));
    return w_.Add(x, learned);
  }

  Turn TurnOf(const Rope& rope) {
    w_.Scope("rope");
    const bool longer = !rope.long_frequencies.empty() && o_.context > rope.short_context;
    const std::vector<float>& inverse = longer ? rope.long_frequencies : rope.inverse_frequencies;
    const auto pairs = static_cast<int64_t>(inverse.size());
    const ValueId position = w_.Unsqueeze(w_.Cast(r_.positions, DType::kF32), 2);
    const ValueId frequencies = w_.Floats("inverse_frequencies", inverse, {pairs});
    const ValueId angle = w_.Mul(position, frequencies);
    const Turn turn = {w_.Op("Cos", {angle}), w_.Op("Sin", {angle})};
    if (rope.magnitude == 1) return turn;
    const ValueId magnitude = w_.Float(rope.magnitude);
    return {w_.Mul(turn.cosine, magnitude), w_.Mul(turn.sine, magnitude)};
  }

  /// Queries [B, T, heads, head]. Keys and values are those of this run in the same form or, after
  /// Append, the whole caches.
  struct Heads {
    ValueId q, k, v;
  };

  Result<Heads> Project(int64_t layer, ValueId x) {
    const auto role = [&](std::string_view name) { return LayerRole(layer, name); };
    const bool joint = layers_.Has(role("attn_qkv"));
    AICF_ASSIGN_OR_RETURN(
        const ValueId all,
        layers_.Product(
            x, joint ? std::vector<std::string>{role("attn_qkv")}
                     : std::vector<std::string>{role("attn_q"), role("attn_k"), role("attn_v")}));
    const int64_t keys = m_.key_heads;
    const auto parts = w_.Split(all, {m_.heads * m_.head, keys * m_.head, keys * m_.head});
    Heads h = {w_.Reshape(parts[0], {0, 0, m_.heads, m_.head}),
               w_.Reshape(parts[1], {0, 0, keys, m_.head}),
               w_.Reshape(parts[2], {0, 0, keys, m_.head})};
    AICF_ASSIGN_OR_RETURN(h.q, layers_.Norm(role("attn_q_norm"), h.q));
    AICF_ASSIGN_OR_RETURN(h.k, layers_.Norm(role("attn_k_norm"), h.k));
    return h;
  }

  const LayerNumbers& Numbers(int64_t layer) const {
    return m_.layer_numbers[static_cast<size_t>(layer)];
  }

  ValueId Cache(std::string_view what, int64_t layer) {
    return w_.Input(StateName(what, layer), *o_.cache_dtype,
                    {pool(), o_.page, m_.key_heads, m_.head}, {});
  }

  // Appends keys and values of this run to their caches. Gives the queries in the form that
  // attention takes, and the caches with the new rows in them.
  Heads Append(int64_t layer, const Heads& h) {
    std::vector<ValueId> inputs = {h.k, h.v, r_.places, Cache("keys", layer),
                                   Cache("values", layer)};
    const bool turns = !m_.ropes.empty();
    if (turns) {
      const Turn& turn = turns_[static_cast<size_t>(Numbers(layer).rope)];
      inputs.insert(inputs.end(), {h.q, turn.cosine, turn.sine});
    }
    const std::vector<ValueId> next = w_.Ops(ir::kRotaryAppend, inputs, {}, turns ? 3 : 2);
    if (!turns) w_.graph().nodes.back().outputs.push_back(ir::kNoValue);
    next_states_.emplace_back(NextName(StateName("keys", layer)), next[0]);
    next_states_.emplace_back(NextName(StateName("values", layer)), next[1]);
    if (turns) return {next[2], next[0], next[1]};
    return {*o_.cache_dtype == DType::kF32 ? h.q : w_.Cast(h.q, *o_.cache_dtype), next[0], next[1]};
  }

  Result<ValueId> Attention(int64_t layer, ValueId x) {
    w_.Scope(LayerRole(layer, "attention"));
    AICF_ASSIGN_OR_RETURN(const Heads rows, Project(layer, x));
    const Heads h = Append(layer, rows);
    const ValueId q = w_.Transpose(h.q, {0, 2, 1, 3});
    // As [pages, key heads, page, head].
    const ValueId k = w_.Transpose(h.k, {0, 2, 1, 3}), v = w_.Transpose(h.v, {0, 2, 1, 3});
    ir::AttentionForm form;
    form.attrs.scale = m_.attention_scale;
    form.attrs.rows = abi::RowOrigin::kOperand;
    form.attrs.window_right = 0;
    const int64_t window = Numbers(layer).window;
    if (window > 0 && window < o_.context) form.attrs.window_left = window - 1;
    if (m_.attention_cap > 0) form.score = CapScore();
    ValueId o = w_.Op(ir::kAttention, {q, k, v, r_.lengths, r_.pages, r_.origins},
                      ir::AttentionAttributes(form));
    if (*o_.cache_dtype != DType::kF32) o = w_.Cast(o, DType::kF32);
    o = w_.Reshape(w_.Transpose(o, {0, 2, 1, 3}), {0, 0, m_.heads * m_.head});
    return layers_.Product(o, {LayerRole(layer, "attn_output")});
  }

  abi::Expr CapScore() const {
    abi::ExprBuilder b;
    const uint16_t cap = b.Const(m_.attention_cap, DType::kF32);
    const uint16_t s = b.Binary(abi::ExprOp::kDiv, b.Input(0, DType::kF32), cap);
    return b.Finish({b.Binary(abi::ExprOp::kMul, b.Unary(abi::ExprOp::kTanh, s), cap)});
  }

  Result<ValueId> Layer(int64_t layer, ValueId x) {
    const auto role = [&](std::string_view name) { return LayerRole(layer, name); };
    w_.Scope(role("attention"));
    AICF_ASSIGN_OR_RETURN(ValueId h, layers_.Norm(role("attn_norm"), x));
    AICF_ASSIGN_OR_RETURN(h, Attention(layer, h));
    AICF_ASSIGN_OR_RETURN(h, layers_.Norm(role("post_attention_norm"), h));
    x = w_.Add(x, h);
    w_.Scope(role("feed_forward"));
    AICF_ASSIGN_OR_RETURN(h, layers_.Norm(role("ffn_norm"), x));
    AICF_ASSIGN_OR_RETURN(h, layers_.FeedForward(layer, h));
    AICF_ASSIGN_OR_RETURN(h, layers_.Norm(role("post_ffw_norm"), h));
    return w_.Add(x, h);
  }

  // Only the last valid row goes on to the logits. An idle request has the length 0: its index
  // would be below the first row, so it reads the first row, at whose result no one looks. The
  // upper limit shows (to simplify-arithmetic) that where each request has one row the index is
  // always 0, so that nothing has to be looked up.
  Status Draw(ValueId x) {
    w_.Scope("logits");
    const ValueId rows = w_.Op("Sub", {r_.lengths, r_.origins});
    const ValueId most = w_.Op("Sub", {w_.Cast(r_.extent, DType::kI32), w_.Int32(1)});
    const ValueId valid = w_.Op("Max", {w_.Op("Sub", {rows, w_.Int32(1)}), w_.Int32(0)});
    const ValueId last = w_.Op("Min", {valid, most});
    ValueId h = w_.Op("GatherND", {x, w_.Unsqueeze(last, 1)}, {{"batch_dims", int64_t{1}}});
    AICF_ASSIGN_OR_RETURN(h, layers_.Norm("output_norm", h));
    AICF_ASSIGN_OR_RETURN(ValueId logits,
                          layers_.Product(h, {layers_.Has("output") ? "output" : "token_embd"}));
    if (m_.logit_cap > 0) logits = layers_.Capped(logits, m_.logit_cap);
    w_.Scope("draw");
    const std::vector<ValueId> drawn = w_.Ops(ir::kCategorical,
                                              {logits, r_.temperature, r_.top_k, r_.top_p, r_.min_p,
                                               r_.seeds, r_.lengths, sampled_, r_.slots},
                                              {}, 2);
    // The output between the two, whether the draw is valid, is read by nobody.
    std::vector<ValueId>& outputs = w_.graph().nodes.back().outputs;
    outputs.insert(outputs.begin() + 1, ir::kNoValue);
    next_states_.emplace_back(NextName("sampled"), drawn[1]);
    w_.Output("token", drawn[0]);
    if (o_.logits) w_.Output("logits", logits);
    return OkStatus();
  }

  const Model& m_;
  const LanguageOptions& o_;
  GraphWriter w_;
  Layers layers_;
  Requests r_{};
  ValueId sampled_ = ir::kNoValue;
  std::vector<Turn> turns_;
  std::vector<std::pair<std::string, ValueId>> next_states_;
};

}  // namespace

std::string StateName(std::string_view what, int64_t layer) { return StrCat(what, ".", layer); }
std::string NextName(std::string_view state) { return StrCat(state, ".next"); }

Result<ir::Graph> BuildDecoder(const Model& model, const LanguageOptions& options) {
  return DecoderBuilder(model, options).Build();
}

}  // namespace aicf::language
