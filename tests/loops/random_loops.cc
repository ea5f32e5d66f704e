#include "tests/loops/random_loops.h"

#include <cmath>

namespace aicf::loops {
namespace {

class Generator {
 public:
  explicit Generator(uint32_t seed) : rng_(seed) {}

  // The states start from `visible` values.
  std::shared_ptr<Block> MakeBlock(size_t states, std::vector<int> visible, int depth) {
    auto body = std::make_shared<Block>();
    for (size_t k = 0; k < states; ++k) body->states.push_back(values_++);
    visible.insert(visible.end(), body->states.begin(), body->states.end());
    const int length = 1 + Pick(5);
    for (int n = 0; n < length; ++n) {
      if (depth > 0 && Pick(4) == 0) {
        AddLoop(*body, visible, depth - 1);
      } else {
        AddOp(*body, visible);
      }
    }
    for (size_t k = 0; k < states; ++k) body->next.push_back(visible[Any(visible)]);
    return body;
  }
  void AddLoop(Block& body, std::vector<int>& visible, int depth) {
    Instruction loop{"Loop", {}, nullptr, 0, Pick(3)};
    const size_t states = 1 + static_cast<size_t>(Pick(3));
    for (size_t k = 0; k < states; ++k) loop.args.push_back(visible[Any(visible)]);
    loop.body = MakeBlock(states, visible, depth);
    loop.result = values_;
    for (size_t k = 0; k < states; ++k) visible.push_back(values_++);
    body.code.push_back(std::move(loop));
  }
  int values() const { return values_; }
  int NewValue() { return values_++; }

 private:
  int Pick(int n) { return static_cast<int>(rng_() % static_cast<uint32_t>(n)); }
  size_t Any(const std::vector<int>& v) {
    return static_cast<size_t>(Pick(static_cast<int>(v.size())));
  }

  void AddOp(Block& body, std::vector<int>& visible) {
    static constexpr const char* kOps[] = {"Add", "Sub", "Max", "Min", "Tanh", "Neg", "Identity"};
    const std::string op = kOps[Pick(7)];
    Instruction i{op, {visible[Any(visible)]}, nullptr, values_++, 0};
    if (op.size() == 3 && op != "Neg") i.args.push_back(visible[Any(visible)]);
    body.code.push_back(i);
    visible.push_back(i.result);
    if (op != "Add" && op != "Sub") return;
    // Bounded, whatever the loops do.
    body.code.push_back({"Tanh", {i.result}, nullptr, values_++, 0});
    visible.back() = body.code.back().result;
  }

  std::mt19937 rng_;
  int values_ = 0;
};

double Apply(const std::string& op, double a, double b) {
  if (op == "Add") return a + b;
  if (op == "Sub") return a - b;
  if (op == "Max") return std::max(a, b);
  if (op == "Min") return std::min(a, b);
  if (op == "Tanh") return std::tanh(a);
  return op == "Neg" ? -a : a;
}

}  // namespace

void Execute(const Block& block, int64_t trips, std::vector<Vector>& values) {
  for (const Instruction& i : block.code) {
    if (i.op == "Loop") {
      std::vector<Vector> state;
      for (int a : i.args) state.push_back(values[static_cast<size_t>(a)]);
      for (int64_t t = 0; t < trips + i.trips; ++t) {
        for (size_t k = 0; k < state.size(); ++k) {
          values[static_cast<size_t>(i.body->states[k])] = state[k];
        }
        Execute(*i.body, trips, values);
        for (size_t k = 0; k < state.size(); ++k) {
          state[k] = values[static_cast<size_t>(i.body->next[k])];
        }
      }
      for (size_t k = 0; k < state.size(); ++k)
        values[static_cast<size_t>(i.result) + k] = state[k];
      continue;
    }
    const Vector& a = values[static_cast<size_t>(i.args[0])];
    const Vector& b = values[static_cast<size_t>(i.args.back())];
    Vector out(kWidth);
    for (size_t e = 0; e < kWidth; ++e) out[e] = Apply(i.op, a[e], b[e]);
    values[static_cast<size_t>(i.result)] = out;
  }
}

std::string NameOf(int value) { return "v" + std::to_string(value); }

namespace {

void Write(const Block& body, onnx::GraphProto& graph, ModelBuilder& model, int* unique) {
  for (const Instruction& i : body.code) {
    Names inputs;
    for (int a : i.args) inputs.push_back(NameOf(a));
    if (i.op != "Loop") {
      AddNode(graph, i.op, inputs, {NameOf(i.result)});
      continue;
    }
    const std::string id = std::to_string((*unique)++);
    model.Ints("more" + id, {}, {i.trips});
    AddNode(graph, "Add", {"trips", "more" + id}, {"count" + id});
    inputs.insert(inputs.begin(), {"count" + id, ""});
    Names outputs, states{"i" + id, "go" + id}, next{"go" + id};
    for (size_t k = 0; k < i.args.size(); ++k) {
      outputs.push_back(NameOf(i.result + static_cast<int>(k)));
      states.push_back(NameOf(i.body->states[k]));
      // A result of a subgraph has a name of its own: two of them may be one value.
      next.push_back("next" + id + "_" + std::to_string(k));
    }
    onnx::NodeProto& node = AddNode(graph, "Loop", inputs, outputs);
    node.set_name("loop" + id);
    onnx::GraphProto& inner = AddBody(node, "body", states, next);
    Write(*i.body, inner, model, unique);
    for (size_t k = 0; k < i.args.size(); ++k) {
      AddNode(inner, "Identity", {NameOf(i.body->next[k])}, {next[k + 1]});
    }
  }
}

}  // namespace

size_t CountLoops(const Block& body) {
  size_t count = 0;
  for (const Instruction& i : body.code) {
    if (i.body != nullptr) count += 1 + CountLoops(*i.body);
  }
  return count;
}

Case MakeCase(uint32_t seed) {
  Generator generator(seed);
  Case c;
  c.model.Input("trips", {}, onnx::TensorProto::INT64);
  for (int k = 0; k < 3; ++k) {
    c.inputs.push_back(generator.NewValue());
    c.model.Input(NameOf(c.inputs.back()), {kWidth});
  }
  std::vector<int> visible = c.inputs;
  generator.AddLoop(c.main, visible, 2);
  generator.AddLoop(c.main, visible, 1);
  c.values = generator.values();
  int unique = 0;
  Write(c.main, c.model.graph(), c.model, &unique);
  for (size_t v = c.inputs.size(); v < visible.size(); ++v) c.model.Output(NameOf(visible[v]));
  c.main.next.assign(visible.begin() + static_cast<ptrdiff_t>(c.inputs.size()), visible.end());
  return c;
}

Feeds RandomFeeds(const Case& c, int64_t trips, std::mt19937& rng, std::vector<Vector>* values) {
  std::uniform_real_distribution<float> uniform(-1, 1);
  Feeds feeds{{"trips", Int(trips)}};
  for (int v : c.inputs) {
    std::vector<float> data(kWidth);
    for (float& x : data) x = uniform(rng);
    if (values != nullptr) (*values)[static_cast<size_t>(v)].assign(data.begin(), data.end());
    feeds[NameOf(v)] = Floats({kWidth}, data);
  }
  return feeds;
}

}  // namespace aicf::loops
