#include <algorithm>
#include <cstring>
#include <map>
#include <utility>

#include "base/float16.h"
#include "base/float8.h"
#include "tools/aicf-run/language_metas.h"
#include "tools/aicf-run/tensors.h"
#include "tools/common/flags.h"
#include "tools/common/npy.h"
#include "tools/common/text.h"

namespace aicf::tools {
namespace {

/// The SplitMix64 generator, which gives the same numbers with every machine and standard library.
class Random {
 public:
  explicit Random(uint64_t seed) : state_(seed) {}
  uint64_t Next() {
    uint64_t z = (state_ += 0x9e3779b97f4a7c15ull);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
    return z ^ (z >> 31);
  }
  /// Uniform in [-1, 1).
  double Real() { return static_cast<double>(Next() >> 11) * 0x1p-52 - 1; }

 private:
  uint64_t state_;
};

/// How made-up values of the dtype are described. Integers are small, since they are mostly
/// indices, lengths and token ids.
std::string_view OriginOf(DType dtype) {
  if (IsFloat(dtype)) return "random in [-1, 1)";
  if (dtype == DType::kBool || IsStorageOnly(dtype)) return "random";
  return DTypeBytes(dtype) == 1 ? "random bytes" : "random in [0, 10)";
}

/// Lowest and highest value of an integer below 8 bits.
std::pair<int, int> RangeOf(DType dtype) {
  const int bits = dtype == DType::kI4 || dtype == DType::kU4 ? 4 : 2;
  if (KindOf(dtype) == DTypeKind::kSigned) return {-(1 << (bits - 1)), (1 << (bits - 1)) - 1};
  return {0, (1 << bits) - 1};
}

int SmallInteger(uint64_t random, DType dtype) {
  const auto [low, high] = RangeOf(dtype);
  return low + static_cast<int>(random % static_cast<uint64_t>(high - low + 1));
}

template <class T>
T Draw(Random& random, DType dtype) {
  if (dtype == DType::kF16) return static_cast<T>(F32ToF16(static_cast<float>(random.Real())));
  if (dtype == DType::kBF16) return static_cast<T>(F32ToBF16(static_cast<float>(random.Real())));
  if (IsFloat(dtype) && IsStorageOnly(dtype)) {
    return static_cast<T>(F32ToFloat8(static_cast<float>(random.Real()), dtype));
  }
  if (IsFloat(dtype)) return static_cast<T>(random.Real());
  if (IsStorageOnly(dtype)) return static_cast<T>(SmallInteger(random.Next(), dtype));
  if (dtype == DType::kBool) return static_cast<T>(random.Next() & 1);
  return static_cast<T>(DTypeBytes(dtype) == 1 ? random.Next() : random.Next() % 10);
}

InputSource MakeUp(const TensorInfo& info, uint64_t seed) {
  InputSource source{info, std::vector<std::byte>(info.bytes), std::string(OriginOf(info.dtype))};
  Random random(seed);
  VisitStorage(info.dtype, [&](auto sample) {
    for (uint64_t at = 0; at < info.bytes; at += sizeof sample) {
      sample = Draw<decltype(sample)>(random, info.dtype);
      std::memcpy(&source.data[at], &sample, sizeof sample);
    }
  });
  return source;
}

/// Refuses values that do not fit an integer below 8 bits, since the bytes of a file could hold
/// more.
Status CheckRange(const TensorInfo& info, const NpyArray& array, const std::string& path) {
  if (!IsStorageOnly(info.dtype) || IsFloat(info.dtype)) return OkStatus();
  const auto [low, high] = RangeOf(info.dtype);
  const bool is_signed = low < 0;
  for (std::byte b : array.data) {
    const int value = is_signed ? static_cast<int8_t>(b) : std::to_integer<int>(b);
    if (value >= low && value <= high) continue;
    return Error(Code::kInvalidArgument, "input '", info.name, "': ", path, " holds ", value,
                 ", which is no ", DTypeName(info.dtype));
  }
  return OkStatus();
}

Result<InputSource> CheckInput(const TensorInfo& info, const std::string& path, NpyArray array) {
  if (array.dtype != NpyDType(info.dtype) || !(array.shape == info.shape)) {
    return Error(Code::kInvalidArgument, "input '", info.name, "': expected ",
                 DTypeName(info.dtype), " ", ToString(info.shape), ", ", path, " holds ",
                 DTypeName(array.dtype), " ", ToString(array.shape));
  }
  AICF_RETURN_IF_ERROR(CheckRange(info, array, path));
  return InputSource{info, std::move(array.data), path};
}

InputSource Zero(const TensorInfo& info) {
  return {info, std::vector<std::byte>(info.bytes), std::string(kZeroOrigin)};
}

/// The tensor at the shape chosen for it.
TensorInfo At(TensorInfo info, const Dims& shape) {
  info.shape = shape;
  info.bytes = static_cast<uint64_t>(ElementCount(shape).value_or(0) * DTypeBytes(info.dtype));
  return info;
}

bool OneShapeOnly(const Program& program) {
  const EntryInfo& first = program.entries()[0];
  return program.entries().size() == 1 &&
         std::ranges::all_of(first.inputs,
                             [](const TensorInfo& t) { return t.min_shape == t.shape; });
}

Result<EntryChoice> WholeShapes(const Program& program, size_t entry) {
  EntryChoice choice{entry, {}, {}};
  for (const TensorInfo& t : program.entries()[entry].inputs) choice.inputs.push_back(t.shape);
  for (const TensorInfo& t : program.entries()[entry].outputs) choice.outputs.push_back(t.shape);
  return choice;
}

using Arrays = std::map<std::string, NpyArray, std::less<>>;

bool IsInput(const Program& program, std::string_view name) {
  return std::ranges::any_of(program.inputs(), [&](const TensorInfo& t) { return t.name == name; });
}

Result<EntryChoice> ChooseEntry(const Program& program, const std::string& name,
                                const Arrays& arrays) {
  if (!name.empty()) {
    std::vector<std::string> known;
    for (size_t e = 0; e < program.entries().size(); ++e) {
      if (program.entries()[e].name == name) return WholeShapes(program, e);
      known.push_back(program.entries()[e].name);
    }
    return Error(Code::kInvalidArgument, "--entry: no entry point is named '", name,
                 "'; the artifact has ", Join(known, ", "));
  }
  // Where the program has only one shape, there is nothing to choose, and a wrong shape is reported
  // as an error of the input.
  if (OneShapeOnly(program)) return WholeShapes(program, 0);
  std::vector<InputShape> shapes;
  for (const auto& [input, array] : arrays) {
    if (IsInput(program, input)) shapes.push_back({input, array.shape});
  }
  return program.Choose(shapes);
}

/// Whether the output can have this shape after a replay.
bool MayHaveShape(const TensorInfo& info, Dims shape) {
  const int axis = info.dynamic_axis;
  if (axis >= 0 && shape.rank() == info.shape.rank() && shape[axis] <= info.shape[axis]) {
    shape[axis] = info.shape[axis];
  }
  return shape == info.shape;
}

std::vector<std::string> NamesOf(const std::vector<TensorInfo>& tensors) {
  std::vector<std::string> names;
  names.reserve(tensors.size());
  for (const TensorInfo& t : tensors) names.push_back(t.name);
  return names;
}

}  // namespace

Result<Selection> GatherInputs(const Program& program, const std::string& entry,
                               const std::vector<std::string>& load_inputs) {
  std::vector<std::string> known = NamesOf(program.inputs());
  for (const TensorInfo& meta : program.entries()[0].metas) known.push_back(meta.name);
  AICF_ASSIGN_OR_RETURN(const auto files, ParseNamedFiles("--load-inputs", load_inputs, known));
  Arrays arrays;
  for (const auto& [name, path] : files) {
    AICF_ASSIGN_OR_RETURN(NpyArray array, ReadNpy(path));
    arrays.emplace(name, std::move(array));
  }
  Selection selection;
  AICF_ASSIGN_OR_RETURN(selection.choice, ChooseEntry(program, entry, arrays));
  const EntryInfo& info = program.entries()[selection.choice.entry];
  for (size_t i = 0; i < info.inputs.size(); ++i) {
    const TensorInfo tensor = At(info.inputs[i], selection.choice.inputs[i]);
    const auto array = arrays.find(tensor.name);
    if (array == arrays.end()) {
      selection.inputs.push_back(MakeUp(tensor, i));
      continue;
    }
    AICF_ASSIGN_OR_RETURN(InputSource source, CheckInput(tensor, files.find(tensor.name)->second,
                                                         std::move(array->second)));
    selection.inputs.push_back(std::move(source));
  }
  for (size_t o = 0; o < info.outputs.size(); ++o) {
    selection.outputs.push_back(At(info.outputs[o], selection.choice.outputs[o]));
  }
  for (const TensorInfo& meta : info.metas) {
    const auto array = arrays.find(meta.name);
    selection.metas.push_back(Zero(meta));
    if (array == arrays.end()) continue;
    AICF_ASSIGN_OR_RETURN(selection.metas.back(), CheckInput(meta, files.find(meta.name)->second,
                                                             std::move(array->second)));
  }
  AICF_RETURN_IF_ERROR(MakeUpRequests(program, &selection));
  return selection;
}

Status GatherStates(const Program& program, const std::vector<std::string>& load_states,
                    bool make_up, Selection* selection) {
  AICF_ASSIGN_OR_RETURN(const auto files,
                        ParseNamedFiles("--load-state", load_states, NamesOf(program.states())));
  for (const TensorInfo& state : program.states()) {
    const auto file = files.find(state.name);
    const bool random = make_up && IsFloat(state.dtype);
    selection->states.push_back(random ? MakeUp(state, selection->states.size() + 1000)
                                       : Zero(state));
    if (file == files.end()) continue;
    AICF_ASSIGN_OR_RETURN(NpyArray array, ReadNpy(file->second));
    AICF_ASSIGN_OR_RETURN(selection->states.back(),
                          CheckInput(state, file->second, std::move(array)));
  }
  return OkStatus();
}

Status SetTensors(Session& session, const Selection& selection) {
  const auto tensor_of = [](const InputSource& s) {
    return ConstTensor{s.info.dtype, s.info.shape, s.data.data(), s.data.size()};
  };
  for (const InputSource& input : selection.inputs) {
    AICF_RETURN_IF_ERROR(session.SetInput(input.info.name, tensor_of(input)));
  }
  for (const InputSource& meta : selection.metas) {
    AICF_RETURN_IF_ERROR(session.SetMeta(meta.info.name, tensor_of(meta)));
  }
  for (const InputSource& state : selection.states) {
    AICF_RETURN_IF_ERROR(session.SeedState(state.info.name, tensor_of(state)));
  }
  return session.ResetStates();
}

Status Select(Session& session, const Program& program, const Selection& selection) {
  AICF_RETURN_IF_ERROR(session.SelectEntry(program.entries()[selection.choice.entry].name));
  std::vector<InputShape> shapes;
  bool padded = false;
  for (size_t i = 0; i < selection.inputs.size(); ++i) {
    const TensorInfo& info = selection.inputs[i].info;
    shapes.push_back({info.name, info.shape});
    padded = padded || info.shape != program.entries()[selection.choice.entry].inputs[i].shape;
  }
  return padded ? session.SelectShapes(shapes) : OkStatus();
}

Result<std::vector<Reference>> LoadReferences(const std::vector<TensorInfo>& outputs,
                                              const std::vector<std::string>& load_ref_outputs) {
  AICF_ASSIGN_OR_RETURN(const auto files,
                        ParseNamedFiles("--load-ref-outputs", load_ref_outputs, NamesOf(outputs)));
  std::vector<Reference> references;
  for (const TensorInfo& info : outputs) {
    const auto file = files.find(info.name);
    if (file == files.end()) continue;
    AICF_ASSIGN_OR_RETURN(NpyArray array, ReadNpy(file->second));
    if (!MayHaveShape(info, array.shape)) {
      return Error(Code::kInvalidArgument, "output '", info.name, "': expected ",
                   ToString(info.shape), ", ", file->second, " holds ", ToString(array.shape));
    }
    const bool same = array.dtype == NpyDType(info.dtype);
    references.push_back(
        {info, file->second, same ? info.dtype : array.dtype, array.shape, std::move(array.data)});
  }
  return references;
}

}  // namespace aicf::tools
