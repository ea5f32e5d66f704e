#include "tests/faults/artifacts/mutation.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "kernels/abi/kernel.h"

namespace aicf::hostile {
namespace {

using schema::Buffer;
using schema::Program;
using schema::Step;
using schema::Storage;

/// A field that can be changed.
using Slot = std::function<void(Random&)>;

template <class T>
T WildInteger(T old, Random& random) {
  using Limits = std::numeric_limits<T>;
  const auto power = static_cast<T>(T{1} << random.Below(Limits::digits));
  const auto small = static_cast<T>(random.Below(12));
  switch (random.Below(12)) {
    case 0:
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) + 1u);
    case 1:
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) - 1u);
    case 2:
      return Limits::max();
    case 3:
      return Limits::min();
    case 4:
      return power;
    case 5:
      return static_cast<T>(power - 1);
    case 6:
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) * 2u);
    case 7:
      return static_cast<T>(old / 2);
    case 8:
      return static_cast<T>(0 - static_cast<std::make_unsigned_t<T>>(old));
    case 9:
      return static_cast<T>(static_cast<std::make_unsigned_t<T>>(old) ^
                            static_cast<std::make_unsigned_t<T>>(power));
    default:
      return small;
  }
}

double WildReal(double old, Random& random) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double wild[] = {0,
                         -0.0,
                         1,
                         -1,
                         0.5,
                         2,
                         1e30,
                         -1e30,
                         1e-30,
                         1e300,
                         kInf,
                         -kInf,
                         5e-324,
                         0x1p40,
                         0x1p-40,
                         1e9,
                         std::numeric_limits<double>::quiet_NaN()};
  if (random.Chance(30)) return old * (random.Chance(50) ? 1.5 : -3);
  return wild[random.Below(std::size(wild))];
}

/// Collects the fields of whatever is walked.
class Slots {
 public:
  template <class T>
  requires std::is_integral_v<T> &&(!std::is_same_v<T, bool>)void Add(T& field) {
    slots_.push_back([&field](Random& r) { field = WildInteger(field, r); });
  }
  void Add(bool& field) {
    slots_.push_back([&field](Random&) { field = !field; });
  }
  void Add(double& field) {
    slots_.push_back([&field](Random& r) { field = WildReal(field, r); });
  }
  template <class E>
  void AddEnum(E& field, int count) {
    slots_.push_back([&field, count](Random& r) {
      field = static_cast<E>(r.Below(static_cast<size_t>(count)));
    });
  }
  void Add(Dims& dims) {
    for (int i = 0; i < dims.rank(); ++i) {
      slots_.push_back([&dims, i](Random& r) { dims[i] = WildInteger(dims[i], r); });
    }
    slots_.push_back([&dims](Random& r) {
      if (dims.empty() || (r.Chance(50) && dims.rank() < kMaxRank)) {
        dims.push_back(static_cast<int64_t>(r.Below(4)));
      } else if (r.Chance(50)) {
        dims.erase(static_cast<int>(r.Below(static_cast<size_t>(dims.rank()))));
      } else {
        std::swap(dims[static_cast<int>(r.Below(static_cast<size_t>(dims.rank())))],
                  dims[static_cast<int>(r.Below(static_cast<size_t>(dims.rank())))]);
      }
    });
  }
  template <class T>
  void AddList(std::vector<T>& list) {
    slots_.push_back([&list](Random& r) {
      if (list.empty()) return;
      const size_t a = r.Below(list.size()), b = r.Below(list.size());
      if (r.Chance(40)) return std::swap(list[a], list[b]);
      if (r.Chance(50)) {
        list.erase(list.begin() + static_cast<ptrdiff_t>(a));
      } else {
        list.insert(list.begin() + static_cast<ptrdiff_t>(b), T(list[a]));
      }
    });
  }
  void AddChange(Slot slot) { slots_.push_back(std::move(slot)); }

  /// A field of its own, or those of what it is a part of: `weight` of the slots so far.
  size_t size() const { return slots_.size(); }
  void ChangeOne(Random& random) {
    if (!slots_.empty()) slots_[random.Below(slots_.size())](random);
  }

 private:
  std::vector<Slot> slots_;
};

/// Fields of attributes, as abi::Attrs names them.
struct AttrSlots {
  Slots& slots;

  void operator()(std::string_view, int64_t& v) { slots.Add(v); }
  template <int64_t kBefore>
  void operator()(std::string_view, abi::AddedInt<kBefore>& v) {
    slots.Add(v.value);
  }
  void operator()(std::string_view, abi::AddedReal& v) { slots.Add(v.value); }
  void operator()(std::string_view, bool& v) { slots.Add(v); }
  void operator()(std::string_view, double& v) { slots.Add(v); }
  void operator()(std::string_view, Dims& v) { slots.Add(v); }
  void operator()(std::string_view, std::vector<Dims>& v) {
    for (Dims& d : v) slots.Add(d);
    slots.AddList(v);
  }
  void operator()(std::string_view, std::vector<double>& v) {
    for (double& d : v) slots.Add(d);
    slots.AddList(v);
  }
  template <class E>
  requires std::is_enum_v<E>
  void operator()(std::string_view, E& v) { slots.AddEnum(v, static_cast<int>(E::kCount)); }
};

void AddView(Slots& slots, abi::View& view) {
  slots.AddEnum(view.dtype, kDTypeCount);
  slots.Add(view.shape);
  slots.Add(view.strides);
  slots.Add(view.offset);
}

void AddExpr(Slots& slots, abi::Expr& expr) {
  for (abi::ExprNode& n : expr.nodes) {
    slots.AddEnum(n.op, abi::kExprOpCount);
    slots.AddEnum(n.dtype, kDTypeCount);
    for (uint16_t& arg : n.args) slots.Add(arg);
    slots.Add(n.imm);
  }
  for (uint16_t& r : expr.results) slots.Add(r);
  slots.AddList(expr.nodes);
}

void AddProblem(Slots& slots, abi::Problem& p) {
  // Most of what kernels compute with comes from here, so it has more than its share.
  for (int i = 0; i < 4; ++i) std::visit([&](auto& a) { a.Visit(AttrSlots{slots}); }, p.attrs);
  for (abi::View& v : p.inputs) AddView(slots, v);
  for (abi::View& v : p.outputs) AddView(slots, v);
  for (abi::Expr* e : {&p.prologue, &p.epilogue, &p.score}) AddExpr(slots, *e);
  slots.Add(p.core_inputs);
  slots.AddEnum(p.math, static_cast<int>(abi::MathMode::kCount));
  slots.AddList(p.inputs);
  slots.AddList(p.outputs);
}

void UseOtherKernel(Step& s, Random& random) {
  const auto kernels = abi::KernelsOf(s.problem.family);
  const abi::KernelInfo& other = kernels[random.Below(kernels.size())];
  s.kernel = other.key;
}

void AddStep(Slots& slots, Step& s) {
  AddProblem(slots, s.problem);
  for (uint32_t& b : s.inputs) slots.Add(b);
  for (uint32_t& b : s.outputs) slots.Add(b);
  slots.AddList(s.inputs);
  slots.AddList(s.outputs);
  for (schema::Guard& g : s.guards) {
    slots.Add(g.buffer);
    slots.Add(g.expected);
  }
  slots.Add(s.packed_inputs);
  slots.Add(s.workspace_offset);
  slots.Add(s.workspace_bytes);
  for (auto* dim : {&s.launch.grid, &s.launch.block, &s.launch.cluster}) {
    for (uint32_t& extent : *dim) slots.Add(extent);
  }
  slots.Add(s.stream);
  slots.Add(s.programmatic);
  slots.AddList(s.waits);
  slots.AddChange([&s](Random& r) {
    std::vector<abi::Parameter> list(s.parameters.begin(), s.parameters.end());
    if (list.empty()) return;
    int64_t& value = list[r.Below(list.size())].value;
    value = WildInteger(value, r);
    s.parameters = abi::Parameters(std::move(list));
  });
  for (int i = 0; i < 6; ++i) slots.AddChange([&s](Random& r) { UseOtherKernel(s, r); });
}

void AddBuffer(Slots& slots, Buffer& b) {
  slots.AddEnum(b.dtype, kDTypeCount);
  slots.AddEnum(b.role, static_cast<int>(schema::Role::kCount));
  slots.AddEnum(b.storage, static_cast<int>(Storage::kCount));
  slots.Add(b.shape);
  slots.Add(b.bytes);
  slots.Add(b.offset);
  slots.Add(b.alias_of);
}

void AddEntry(Slots& slots, schema::EntryPoint& e) {
  for (std::vector<uint32_t>* list : {&e.inputs, &e.outputs, &e.metas}) {
    for (uint32_t& b : *list) slots.Add(b);
    slots.AddList(*list);
  }
  slots.Add(e.first_step);
  slots.Add(e.step_count);
  for (schema::OutputExtent& x : e.extents) {
    slots.Add(x.output);
    slots.Add(x.axis);
    slots.Add(x.count);
  }
  for (schema::Loop& l : e.loops) {
    slots.Add(l.first_step);
    slots.Add(l.step_count);
    slots.Add(l.condition);
  }
  for (schema::Padding& p : e.paddings) {
    slots.Add(p.min);
    for (schema::PaddedInput& i : p.inputs) slots.Add(i.axis);
    for (schema::PaddedOutput& o : p.outputs) slots.Add(o.factor);
  }
}

void AddRest(Slots& slots, Program& p) {
  slots.Add(p.arena_bytes);
  slots.Add(p.arena_lower_bound);
  slots.Add(p.weights_bytes);
  slots.Add(p.state_bytes);
  slots.Add(p.guard_image);
  slots.AddList(p.steps);
  slots.AddList(p.buffers);
}

/// An extent of one value changes, for everyone who sees the whole of it.
void Reshape(Program& p, Random& random) {
  if (p.buffers.empty()) return;
  const auto b = static_cast<uint32_t>(random.Below(p.buffers.size()));
  Dims& shape = p.buffers[b].shape;
  if (shape.empty()) return;
  const Dims before = shape;
  const auto axis = static_cast<int>(random.Below(static_cast<size_t>(shape.rank())));
  shape[axis] = static_cast<int64_t>(random.Below(9));
  for (Step& s : p.steps) {
    const auto follow = [&](const std::vector<uint32_t>& buffers, std::vector<abi::View>& views) {
      for (size_t k = 0; k < buffers.size() && k < views.size(); ++k) {
        if (buffers[k] == b && views[k].shape == before) {
          views[k] = abi::DenseView(views[k].dtype, shape);
        }
      }
    };
    follow(s.inputs, s.problem.inputs);
    follow(s.outputs, s.problem.outputs);
  }
}

/// Bytes, places without reuse, workspaces, launches and symbols, as they follow from the rest.
void Repair(Program& p) {
  static constexpr uint64_t kLarge = uint64_t{1} << 40;
  const auto place = [](uint64_t& end, uint64_t bytes) {
    const uint64_t at =
        (end + schema::kBufferAlignment - 1) / schema::kBufferAlignment * schema::kBufferAlignment;
    end = at + std::min(bytes, kLarge);
    return at;
  };
  uint64_t arena = 0, weights = 0, state = 0;
  for (Buffer& b : p.buffers) {
    const std::optional<int64_t> count = ElementCount(b.shape);
    if (IsValid(b.dtype) && count && *count < static_cast<int64_t>(kLarge)) {
      b.bytes = static_cast<uint64_t>(*count * DTypeBytes(b.dtype));
    }
    if (b.storage == Storage::kArena) b.offset = place(arena, b.bytes);
    if (b.storage == Storage::kWeights) b.offset = place(weights, b.bytes);
    if (b.storage == Storage::kState) b.offset = place(state, b.bytes);
  }
  const Result<abi::DeviceSpec> device = abi::FindDevice(p.target);
  for (Step& s : p.steps) {
    const abi::KernelInfo* kernel = abi::FindKernel(s.kernel);
    if (kernel == nullptr || !device.ok() || kernel->family != s.problem.family ||
        !abi::ValidateProblem(s.problem).ok() || !kernel->supports(s.problem, *device).empty()) {
      continue;
    }
    if (kernel->workspace_bytes != nullptr) {
      s.workspace_bytes = kernel->workspace_bytes(s.problem, *device);
    }
    if (kernel->derive != nullptr &&
        abi::CheckParameters(s.parameters, kernel->parameters).empty() &&
        (kernel->refuse == nullptr || kernel->refuse(s.problem, s.parameters, *device).empty())) {
      abi::Variant variant = kernel->variant(s.problem, s.parameters);
      variant.parameters = s.parameters;
      schema::SetVariant(s, std::move(variant));
      s.symbol = abi::InstanceSymbol(s.kernel, s.problem, schema::VariantOf(s));
    }
    s.workspace_offset = s.workspace_bytes == 0 ? 0 : place(arena, s.workspace_bytes);
  }
  p.arena_bytes = arena;
  p.weights_bytes = weights;
  p.state_bytes = state;
  p.arena_lower_bound = 0;
}

}  // namespace

Program Mutated(const Program& program, Random& random) {
  Program p = program;
  const size_t changes = random.Chance(60) ? 1 : 1 + random.Below(3);
  for (size_t i = 0; i < changes; ++i) {
    if (random.Chance(15)) {
      Reshape(p, random);
      continue;
    }
    Slots slots;
    const size_t what = random.Below(100);
    if (what < 70 && !p.steps.empty()) {
      AddStep(slots, p.steps[random.Below(p.steps.size())]);
    } else if (what < 85 && !p.buffers.empty()) {
      AddBuffer(slots, p.buffers[random.Below(p.buffers.size())]);
    } else if (what < 95 && !p.entry_points.empty()) {
      AddEntry(slots, p.entry_points[random.Below(p.entry_points.size())]);
    } else {
      AddRest(slots, p);
    }
    slots.ChangeOne(random);
  }
  if (random.Chance(75)) Repair(p);
  return p;
}

}  // namespace aicf::hostile
