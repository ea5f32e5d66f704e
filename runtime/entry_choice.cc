#include "runtime/entry_choice.h"

#include <algorithm>

#include "runtime/session_names.h"

namespace aicf {
namespace {

std::vector<TensorInfo> Describe(const schema::Program& program,
                                 const std::vector<uint32_t>& buffers) {
  std::vector<TensorInfo> tensors;
  tensors.reserve(buffers.size());
  for (uint32_t index : buffers) {
    const schema::Buffer& b = program.buffers[index];
    tensors.push_back({b.name, b.dtype, b.shape, b.bytes, -1, b.shape});
  }
  return tensors;
}

EntryInfo DescribeEntry(const schema::Program& program, const schema::EntryPoint& entry) {
  EntryInfo info{entry.name,
                 Describe(program, entry.inputs),
                 Describe(program, entry.outputs),
                 Describe(program, entry.metas),
                 entry.first_step,
                 entry.step_count};
  // Callers do not see the counts of extents; the session reads them itself (OutputShape).
  info.outputs.resize(entry.model_outputs());
  for (const schema::OutputExtent& e : entry.extents) {
    info.outputs[e.output].dynamic_axis = static_cast<int>(e.axis);
  }
  for (const schema::Padding& p : entry.paddings) {
    const schema::PaddedInput& first = p.inputs[0];
    const int64_t lost =
        info.inputs[first.input].shape[static_cast<int>(first.axis)] - static_cast<int64_t>(p.min);
    for (const schema::PaddedInput& i : p.inputs) {
      info.inputs[i.input].min_shape[static_cast<int>(i.axis)] -= lost;
    }
    for (const schema::PaddedOutput& o : p.outputs) {
      info.outputs[o.output].min_shape[static_cast<int>(o.axis)] -= lost * o.factor;
    }
  }
  return info;
}

const InputShape* FindShape(std::span<const InputShape> shapes, std::string_view name) {
  for (const InputShape& s : shapes) {
    if (s.name == name) return &s;
  }
  return nullptr;
}

bool HasInput(const EntryInfo& entry, std::string_view name) {
  return std::ranges::any_of(entry.inputs, [&](const TensorInfo& t) { return t.name == name; });
}

Status CheckNames(const std::vector<EntryInfo>& entries, std::span<const InputShape> shapes) {
  for (const InputShape& s : shapes) {
    const Status rank = CheckRank(s.shape);
    if (!rank.ok()) return rank.WithContext(StrCat("input '", s.name, "'"));
    if (FindShape(shapes, s.name) != &s) {
      return Error(Code::kInvalidArgument, "input '", s.name, "' is given two shapes");
    }
    if (std::ranges::any_of(entries, [&](const EntryInfo& e) { return HasInput(e, s.name); })) {
      continue;
    }
    std::string known;
    for (const TensorInfo& t : entries[0].inputs) {
      known += StrCat(known.empty() ? "'" : ", '", t.name, "'");
    }
    return Error(Code::kInvalidArgument, "no input is named '", s.name, "'; the program has ",
                 known.empty() ? "none" : known);
  }
  return OkStatus();
}

/// The extent that the axes of this padding must have without padding so that the named inputs fit:
/// the one that those inputs ask for.
int64_t WantedExtent(const schema::Padding& padding, const EntryInfo& info,
                     std::span<const InputShape> shapes) {
  const schema::PaddedInput& first = padding.inputs[0];
  int64_t wanted = info.inputs[first.input].shape[static_cast<int>(first.axis)];
  for (const schema::PaddedInput& i : padding.inputs) {
    const InputShape* given = FindShape(shapes, info.inputs[i.input].name);
    if (given == nullptr || static_cast<int>(i.axis) >= given->shape.rank()) continue;
    wanted = std::min(wanted, given->shape[static_cast<int>(i.axis)]);
  }
  return wanted;
}

/// Fills `choice` with the shapes at which the entry point serves these; false when it does not.
bool Serve(const schema::EntryPoint& entry, const std::vector<EntryInfo>& entries, size_t index,
           std::span<const InputShape> shapes, EntryChoice* choice) {
  const EntryInfo& info = entries[index];
  ChooseWhole(entries, index, choice);
  for (const schema::Padding& p : entry.paddings) {
    const int64_t extent = WantedExtent(p, info, shapes);
    if (extent < static_cast<int64_t>(p.min)) return false;
    const schema::PaddedInput& first = p.inputs[0];
    const int64_t lost = choice->inputs[first.input][static_cast<int>(first.axis)] - extent;
    for (const schema::PaddedInput& i : p.inputs) {
      choice->inputs[i.input][static_cast<int>(i.axis)] -= lost;
    }
    for (const schema::PaddedOutput& o : p.outputs) {
      choice->outputs[o.output][static_cast<int>(o.axis)] -= lost * o.factor;
    }
  }
  // Every input now has exactly one shape. It differs from the requested one where axes that are
  // padded together were asked for with different extents.
  size_t served = 0;
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    const InputShape* given = FindShape(shapes, info.inputs[i].name);
    if (given == nullptr) continue;
    if (given->shape != choice->inputs[i]) return false;
    ++served;
  }
  return served == shapes.size();
}

double InputElements(const EntryInfo& info) {
  double sum = 0;
  for (const TensorInfo& t : info.inputs)
    sum += static_cast<double>(ElementCount(t.shape).value_or(0));
  return sum;
}

Status NothingServes(const std::vector<EntryInfo>& entries, std::span<const InputShape> shapes) {
  std::string asked, exist;
  for (const InputShape& s : shapes) {
    asked += StrCat(asked.empty() ? "'" : ", '", s.name, "' ", ToString(s.shape));
  }
  for (const EntryInfo& e : entries) {
    exist += StrCat(exist.empty() ? "" : "; ", "'", e.name, "':");
    for (const TensorInfo& t : e.inputs) {
      exist += StrCat(&t == &e.inputs[0] ? " " : ", ", t.name, " ", ToString(t.shape));
      if (t.min_shape != t.shape) exist += StrCat(" down to ", ToString(t.min_shape));
    }
  }
  return Error(Code::kInvalidArgument, "no entry point takes ", asked, "; there is ", exist);
}

}  // namespace

std::vector<EntryInfo> DescribeEntries(const schema::Program& program) {
  std::vector<EntryInfo> entries;
  for (const schema::EntryPoint& e : program.entry_points) {
    entries.push_back(DescribeEntry(program, e));
  }
  return entries;
}

std::vector<uint32_t> StateBuffers(const schema::Program& program) {
  std::vector<uint32_t> states;
  for (uint32_t b = 0; b < program.buffers.size(); ++b) {
    if (schema::IsState(program.buffers[b])) states.push_back(b);
  }
  return states;
}

std::vector<TensorInfo> DescribeStates(const schema::Program& program) {
  return Describe(program, StateBuffers(program));
}

void ChooseWhole(const std::vector<EntryInfo>& entries, size_t entry, EntryChoice* choice) {
  choice->entry = entry;
  choice->inputs.clear();
  choice->outputs.clear();
  for (const TensorInfo& t : entries[entry].inputs) choice->inputs.push_back(t.shape);
  for (const TensorInfo& t : entries[entry].outputs) choice->outputs.push_back(t.shape);
}

Status ChooseEntry(const schema::Program& program, const std::vector<EntryInfo>& entries,
                   std::span<const InputShape> shapes, EntryChoice* choice) {
  AICF_RETURN_IF_ERROR(CheckNames(entries, shapes));
  size_t best = entries.size();
  bool best_exact = false;
  double best_size = 0;
  for (size_t e = 0; e < entries.size() && !best_exact; ++e) {
    if (!Serve(program.entry_points[e], entries, e, shapes, choice)) continue;
    const bool exact = std::ranges::equal(
        choice->inputs, entries[e].inputs,
        [](const Dims& now, const TensorInfo& whole) { return now == whole.shape; });
    const double size = InputElements(entries[e]);
    if (best < entries.size() && !exact && size >= best_size) continue;
    best = e;
    best_exact = exact;
    best_size = size;
  }
  if (best == entries.size()) return NothingServes(entries, shapes);
  (void)Serve(program.entry_points[best], entries, best, shapes, choice);
  return OkStatus();
}

}  // namespace aicf
