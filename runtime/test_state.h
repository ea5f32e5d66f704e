/// Programs with a state and metas, made by hand, for the runtime's tests. Tests only.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "runtime/test_program.h"
#include "runtime/test_tensors.h"

namespace aicf::testing {

inline constexpr int64_t kStateElements = 96;

/// Two entry points that share the state h:
///   "add": y = -h; h' = h + x          metas: none
///   "mul": t = x * scale; z = t + offset; h' = h * x, with metas scale and offset
/// Buffers: 0 h; of add 1 x, 2 y, 3 h'; of mul 4 x, 5 scale, 6 offset, 7 t, 8 z, 9 h'.
inline schema::Contents StateContents(const std::string& target) {
  using schema::Role;
  using schema::Storage;
  ChainOptions chain;
  chain.target = target;
  chain.elements = kStateElements;
  schema::Contents contents;
  schema::Program& p = contents.program;
  p.target = target;
  const uint64_t bytes = static_cast<uint64_t>(kStateElements) * 4;
  uint64_t arena = 0;
  const auto add = [&](const std::string& name, Role role) {
    schema::Buffer b;
    b.name = name;
    b.shape = {kStateElements};
    b.bytes = bytes;
    b.role = role;
    b.storage = Storage::kArena;
    if (role != Role::kState) {
      b.offset = arena;
      arena += Padded(bytes);
      p.arena_bytes = std::max(p.arena_bytes, arena);
    } else if (name == "h") {
      b.storage = Storage::kState;
    } else {
      b.storage = Storage::kAlias;
      b.alias_of = 0;
    }
    p.buffers.push_back(b);
    return static_cast<uint32_t>(p.buffers.size() - 1);
  };
  p.state_bytes = Padded(bytes);
  const uint32_t h = add("h", Role::kState);
  const uint32_t x = add("x", Role::kInput), y = add("y", Role::kOutput);
  const uint32_t sum = add("h.sum", Role::kState);
  p.steps.push_back(Negate(target, DType::kF32, {kStateElements}, h, y));
  p.steps.push_back(ChainStep(chain, abi::ExprOp::kAdd, h, x, sum));
  arena = 0;  // the entry points lie over each other
  const uint32_t x2 = add("x", Role::kInput);
  const uint32_t scale = add("scale", Role::kMeta), offset = add("offset", Role::kMeta);
  const uint32_t t = add("%t", Role::kTemp), z = add("z", Role::kOutput);
  const uint32_t product = add("h.product", Role::kState);
  p.steps.push_back(ChainStep(chain, abi::ExprOp::kMul, x2, scale, t));
  p.steps.push_back(ChainStep(chain, abi::ExprOp::kAdd, t, offset, z));
  p.steps.push_back(ChainStep(chain, abi::ExprOp::kMul, h, x2, product));
  p.entry_points.push_back({"add", {x}, {y}, 0, 2});
  p.entry_points.push_back({"mul", {x2}, {z}, 2, 3});
  p.entry_points[1].metas = {scale, offset};
  if (target.starts_with("cuda")) {
    contents.images = EmptyCubin();
    p.images.push_back(
        {"sm_90a", "test compiler", HashBytes(contents.images), 0, contents.images.size()});
  }
  return contents;
}

inline std::vector<float> Filled(float value) {
  return std::vector<float>(static_cast<size_t>(kStateElements), value);
}

inline uint64_t ByteCount(const std::vector<float>& values) { return values.size() * 4; }

/// Memory for one tensor.
struct FloatMemory {
  float* at = nullptr;
  float* data() const { return at; }
  uint64_t bytes() const { return static_cast<uint64_t>(kStateElements) * 4; }
};

/// Host memory, aligned as Bind requires on every device.
class AlignedFloats : public FloatMemory {
 public:
  explicit AlignedFloats(float value = 0) : storage_(static_cast<size_t>(kStateElements) + 64) {
    at = storage_.data() + (256 - reinterpret_cast<uintptr_t>(storage_.data()) % 256) % 256 / 4;
    std::fill_n(at, kStateElements, value);
  }
  AlignedFloats(const AlignedFloats&) = delete;
  AlignedFloats& operator=(const AlignedFloats&) = delete;

 private:
  std::vector<float> storage_;
};

/// All elements of the state, which are equal.
inline float StateOf(Session& session) {
  std::vector<float> h = Filled(-1);
  const Status got = session.ExportState("h", TensorInto(h));
  EXPECT_TRUE(got.ok()) << got.ToString();
  EXPECT_EQ(h, Filled(h[0]));
  return h[0];
}

/// Runs entry point "add" with x = `value` everywhere.
inline void Add(Session& session, float value) {
  const std::vector<float> x = Filled(value);
  const Status selected = session.SelectEntry("add");
  ASSERT_TRUE(selected.ok()) << selected.ToString();
  const Status set = testing::SetValues(session, "x", x);
  ASSERT_TRUE(set.ok()) << set.ToString();
  const Status ran = session.Run();
  ASSERT_TRUE(ran.ok()) << ran.ToString();
  ASSERT_TRUE(session.Wait().ok());
}

inline float OutputOf(Session& session, const char* name) {
  std::vector<float> y = Filled(-1);
  const Status got = testing::GetValues(session, name, y);
  EXPECT_TRUE(got.ok()) << got.ToString();
  return y[0];
}

// What every kind of session does with states, metas and bound memory; `session` is a fresh one.

inline void ExpectRefused(const Status& status, std::string_view sentence) {
  EXPECT_EQ(status.code(), Code::kInvalidArgument) << status.ToString();
  EXPECT_NE(status.message().find(sentence), std::string::npos) << status.ToString();
}

inline void ExpectStates(Session& session) {
  ASSERT_EQ(session.states().size(), 1u);
  EXPECT_EQ(session.states()[0].name, "h");
  EXPECT_EQ(session.states()[0].shape, Dims{kStateElements});
  EXPECT_EQ(StateOf(session), 0);
  Add(session, 3);
  EXPECT_EQ(OutputOf(session, "y"), 0);
  Add(session, 4);
  EXPECT_EQ(OutputOf(session, "y"), -3);
  EXPECT_EQ(StateOf(session), 7);
  // The other entry point goes on with the same state, and nothing was lost by selecting it.
  ASSERT_TRUE(session.SelectEntry("mul").ok());
  EXPECT_EQ(StateOf(session), 7);
  const std::vector<float> two = Filled(2);
  ASSERT_TRUE(testing::SetValues(session, "x", two).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(StateOf(session), 14);
  Add(session, 1);
  EXPECT_EQ(OutputOf(session, "y"), -14);
  // Export, go on, import: the same again, bit for bit.
  std::vector<float> kept = Filled(0);
  for (size_t i = 0; i < kept.size(); ++i) kept[i] = 0.1f * static_cast<float>(i);
  ASSERT_TRUE(session.ImportState("h", TensorOf(kept)).ok());
  std::vector<float> first = Filled(0), second = Filled(0), back = Filled(0);
  ASSERT_TRUE(session.ExportState("h", TensorInto(back)).ok());
  EXPECT_EQ(back, kept);
  Add(session, 0.3f);
  ASSERT_TRUE(session.ExportState("h", TensorInto(first)).ok());
  ASSERT_TRUE(session.ImportState("h", TensorOf(kept)).ok());
  Add(session, 0.3f);
  ASSERT_TRUE(session.ExportState("h", TensorInto(second)).ok());
  EXPECT_EQ(first, second);
  EXPECT_NE(first, kept);
}

/// Another shape or dtype of equal bytes, and memory of another size, change nothing.
inline void ExpectStateTensorsRefused(Session& session, std::vector<float>& memory) {
  ExpectRefused(session.ImportState("h", {DType::kF32, {kStateElements}, memory.data(), 380}),
                "takes 384 bytes");
  ExpectRefused(session.SeedState("h", {DType::kF32, {kStateElements}, nullptr, 384}), "null");
  const Dims folded{2, kStateElements / 2};
  const std::string sentence = "state 'h': expected f32 96, got f32 2x48";
  ExpectRefused(session.ImportState("h", TensorOf(memory, folded)), sentence);
  ExpectRefused(session.ExportState("h", TensorInto(memory, folded)), sentence);
  ExpectRefused(session.SeedState("h", TensorOf(memory, folded)), sentence);
  ExpectRefused(session.ImportState("h", {DType::kI32, {kStateElements}, memory.data(), 384}),
                "expected f32 96, got i32 96");
}

inline void ExpectSeedsAndErrors(Session& session) {
  const std::vector<float> seed = Filled(5);
  ASSERT_TRUE(session.SeedState("h", TensorOf(seed)).ok());
  EXPECT_EQ(StateOf(session), 0) << "a seed counts from the next reset on";
  Add(session, 1);
  ASSERT_TRUE(session.ResetStates().ok());
  EXPECT_EQ(StateOf(session), 5);
  Add(session, 1);
  EXPECT_EQ(StateOf(session), 6);
  ASSERT_TRUE(session.ResetStates().ok());
  EXPECT_EQ(StateOf(session), 5);
  std::vector<float> memory = Filled(0);
  ExpectRefused(session.ExportState("g", TensorInto(memory)), "no state is named 'g'");
  ExpectStateTensorsRefused(session, memory);
  ExpectRefused(testing::SetValues(session, "h", memory), "no input is named 'h'");
  ExpectRefused(testing::GetValues(session, "h.sum", memory), "no output is named 'h.sum'");
  EXPECT_EQ(StateOf(session), 5);
}

inline void ExpectForks(Session& session) {
  const std::vector<float> seed = Filled(9);
  ASSERT_TRUE(session.SeedState("h", TensorOf(seed)).ok());
  Add(session, 2);
  auto fork = session.Fork();
  ASSERT_TRUE(fork.ok()) << fork.status().ToString();
  EXPECT_EQ(StateOf(**fork), 2);
  Add(session, 10);
  Add(**fork, 100);
  EXPECT_EQ(StateOf(session), 12);
  EXPECT_EQ(StateOf(**fork), 102);
  EXPECT_EQ(OutputOf(session, "y"), -2);
  EXPECT_EQ(OutputOf(**fork, "y"), -2);
  ASSERT_TRUE((*fork)->ResetStates().ok());
  EXPECT_EQ(StateOf(**fork), 9) << "seeds are taken over";
  EXPECT_EQ(StateOf(session), 12);
}

inline void ExpectMetas(Session& session) {
  ASSERT_TRUE(session.SelectEntry("mul").ok());
  const std::vector<float> x = Filled(3), scale = Filled(10), offset = Filled(1);
  ASSERT_TRUE(testing::SetValues(session, "x", x).ok());
  ExpectRefused(testing::SetValues(session, "scale", x), "no input is named 'scale'");
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(OutputOf(session, "z"), 0) << "a meta never set is zero";
  ASSERT_TRUE(session.SetMeta("scale", TensorOf(scale)).ok());
  ASSERT_TRUE(session.SetMeta("offset", TensorOf(offset)).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(OutputOf(session, "z"), 31);
  ASSERT_TRUE(session.SetMeta("offset", TensorOf(x)).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(OutputOf(session, "z"), 33) << "the other meta stays";
  ExpectRefused(session.SetMeta("offset", {DType::kF32, {kStateElements}, x.data(), 3}),
                "takes 384 bytes");
  ExpectRefused(session.SetMeta("offset", {DType::kI32, {kStateElements}, x.data(), 384}),
                "meta 'offset': expected f32 96, got i32 96");
  ExpectRefused(session.SetMeta("offset", TensorOf(x, {1, kStateElements})),
                "meta 'offset': expected f32 96, got f32 1x96");
  ExpectRefused(session.SetMeta("x", TensorOf(x)), "no meta is named 'x'");
  ASSERT_TRUE(session.SelectEntry("add").ok());
  ExpectRefused(session.SetMeta("scale", TensorOf(x)), "no meta is named 'scale'");
  ASSERT_TRUE(session.SelectEntry("mul").ok());
  ASSERT_TRUE(testing::SetValues(session, "x", x).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(OutputOf(session, "z"), 0) << "another entry point was selected in between";
}

/// `x`, `y` and `h` are memory that the session can reach. They are bound, and written and read on
/// the host, which a session on the fake driver or on the CPU allows.
inline void ExpectBindings(Session& session, const FloatMemory& x, const FloatMemory& y,
                           const FloatMemory& h) {
  using Kind = Binding::Kind;
  Add(session, 1);
  const Binding all[] = {{Kind::kInput, "x", x.data(), x.bytes()},
                         {Kind::kOutput, "y", y.data(), y.bytes()},
                         {Kind::kState, "h", h.data(), h.bytes()}};
  const Status bound = session.Bind(all);
  ASSERT_TRUE(bound.ok()) << bound.ToString();
  EXPECT_EQ(*session.InputPointer("x"), x.data());
  EXPECT_EQ(*session.OutputPointer("y"), y.data());
  EXPECT_EQ(*session.StatePointer("h"), h.data());
  std::fill_n(x.data(), kStateElements, 4.0f);
  std::fill_n(h.data(), kStateElements, 20.0f);
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(y.data()[0], -20);
  EXPECT_EQ(h.data()[kStateElements - 1], 24);
  EXPECT_EQ(StateOf(session), 24);
  std::vector<float> memory = Filled(0);
  ExpectRefused(testing::SetValues(session, "x", memory), "bound to memory of the caller");
  ExpectRefused(testing::GetValues(session, "y", memory), "bound to memory of the caller");
  // The other entry point uses the bound state, too, and selecting it leaves bound inputs alone.
  ASSERT_TRUE(session.SelectEntry("mul").ok());
  const std::vector<float> half = Filled(0.5f);
  ASSERT_TRUE(testing::SetValues(session, "x", half).ok());
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(h.data()[0], 12);
  ASSERT_TRUE(session.SelectEntry("add").ok());
  EXPECT_EQ(x.data()[0], 4);
  ASSERT_TRUE(session.Run().ok());
  EXPECT_EQ(y.data()[0], -12);
  EXPECT_EQ(h.data()[0], 16);
  // A fork has memory of its own.
  auto fork = session.Fork();
  ASSERT_TRUE(fork.ok()) << fork.status().ToString();
  Add(**fork, 1);
  EXPECT_EQ(StateOf(**fork), 17);
  EXPECT_EQ(h.data()[0], 16);
  // Back to the session's own: the state is what it was before it was bound.
  ASSERT_TRUE(session.BindState("h", nullptr, 0).ok());
  EXPECT_EQ(StateOf(session), 1);
  ASSERT_TRUE(session.BindInput("x", nullptr, 0).ok());
  ASSERT_TRUE(session.BindOutput("y", nullptr, 0).ok());
  Add(session, 2);
  EXPECT_EQ(OutputOf(session, "y"), -1);
  EXPECT_EQ(h.data()[0], 16);
}

inline void ExpectBindingsRefused(Session& session, const FloatMemory& a, const FloatMemory& b) {
  using Kind = Binding::Kind;
  ExpectRefused(session.BindInput("g", a.data(), 384), "no input is named 'g'");
  ExpectRefused(session.BindOutput("x", a.data(), 384), "no output is named 'x'");
  ExpectRefused(session.BindState("y", a.data(), 384), "no state is named 'y'");
  ExpectRefused(session.BindInput("x", a.data(), 400), "expected 384 bytes");
  ExpectRefused(session.BindInput("x", a.data() + 1, 384), "is not aligned to");
  const Binding twice[] = {{Kind::kInput, "x", a.data(), 384}, {Kind::kInput, "x", b.data(), 384}};
  ExpectRefused(session.Bind(twice), "bound twice");
  const Binding same[] = {{Kind::kInput, "x", a.data(), 384}, {Kind::kState, "h", a.data(), 384}};
  ExpectRefused(session.Bind(same), "overlapping memory");
  ExpectRefused(session.BindOutput("y", *session.StatePointer("h"), 384), "this session's own");
  // States belong to all entry points: they stay apart from what another one has bound, too.
  ASSERT_TRUE(session.BindInput("x", a.data(), 384).ok());
  ASSERT_TRUE(session.SelectEntry("mul").ok());
  ExpectRefused(session.BindState("h", a.data(), 384), "overlapping memory");
  ASSERT_TRUE(session.SelectEntry("add").ok());
  ASSERT_TRUE(session.BindInput("x", nullptr, 384).ok());
  Add(session, 6);  // nothing was bound
  EXPECT_EQ(StateOf(session), 6);
}

}  // namespace aicf::testing
