#include <algorithm>
#include <cstddef>
#include <cstring>
#include <optional>
#include <string>
#include <utility>

#include "aicf/aicf.h"
#include "aicf/aicf_c.h"
#include "base/function_ref.h"
#include "base/guard.h"
#include "base/log.h"
#include "runtime/c_api_calls.h"
#include "runtime/handle_table.h"

namespace aicf {
namespace {

using ProgramTable = HandleTable<const std::shared_ptr<const Program>>;
struct OpenSession {
  std::shared_ptr<const Program> program;
  std::unique_ptr<Session> session;
};
using SessionTable = HandleTable<OpenSession>;

// Never destroyed: a thread may still be inside a call during exit.
ProgramTable& Programs() {
  static auto* const table = new ProgramTable(0x50);
  return *table;
}
SessionTable& Sessions() {
  static auto* const table = new SessionTable(0x53);
  return *table;
}

thread_local std::string last_error;

using c_api::Call;
using c_api::NotNull;
using c_api::Unknown;

Result<ProgramTable::Pin> FindProgram(aicf_program handle) {
  ProgramTable::Pin found = Programs().Find(handle);
  if (!found) return Unknown("program", handle);
  return found;
}

Result<SessionTable::Pin> FindSession(aicf_session handle) {
  SessionTable::Pin found = Sessions().Find(handle);
  if (!found) return Unknown("session", handle);
  return found;
}

// The number that a C caller passed as an enumeration. He may pass any int, while C++ may read only
// values of the enumeration through its type, so the bytes are copied.
template <class E>
int Passed(const E& value) {
  static_assert(sizeof(E) == sizeof(int));
  int passed = 0;
  std::memcpy(&passed, &value, sizeof passed);
  return passed;
}

aicf_code LoadProgram(aicf_program* out,
                      FunctionRef<Result<std::shared_ptr<const Program>>()> load) {
  return Call([&]() -> Status {
    AICF_RETURN_IF_ERROR(NotNull(out, "the program's address"));
    *out = 0;
    AICF_ASSIGN_OR_RETURN(std::shared_ptr<const Program> program, load());
    *out = Programs().Insert(
        std::make_unique<const std::shared_ptr<const Program>>(std::move(program)));
    return OkStatus();
  });
}

Status Describe(const std::vector<TensorInfo>& tensors, uint32_t index, aicf_tensor_info* info) {
  AICF_RETURN_IF_ERROR(NotNull(info, "the info's address"));
  if (index >= tensors.size()) {
    return Error(Code::kInvalidArgument, "index ", index, ": the program has ", tensors.size());
  }
  const TensorInfo& tensor = tensors[index];
  *info = {};
  info->name = tensor.name.c_str();
  info->dtype = DTypeName(tensor.dtype).data();  // names are literals, hence terminated
  info->bytes = tensor.bytes;
  info->rank = tensor.shape.rank();
  info->dynamic_axis = tensor.dynamic_axis;
  std::copy(tensor.shape.begin(), tensor.shape.end(), info->shape);
  return OkStatus();
}

Status FindEntry(const Program& program, uint32_t index, const EntryInfo** entry) {
  if (index >= program.entries().size()) {
    return Error(Code::kInvalidArgument, "entry point ", index, ": the program has ",
                 program.entries().size());
  }
  *entry = &program.entries()[index];
  return OkStatus();
}

Status DescribeAt(const std::vector<TensorInfo>& tensors, uint32_t index, aicf_tensor_info* info,
                  int64_t* min_shape) {
  AICF_RETURN_IF_ERROR(Describe(tensors, index, info));
  const Dims& least = tensors[index].min_shape;
  if (min_shape != nullptr) std::copy(least.begin(), least.end(), min_shape);
  return OkStatus();
}

Status CopyShape(const Result<Dims>& found, int64_t* shape, int32_t* rank) {
  if (!found.ok()) return found.status();
  std::copy(found->begin(), found->end(), shape);
  *rank = found->rank();
  return OkStatus();
}

/// A shape from outside. Errors: kInvalidArgument for a rank that no tensor has, or no address.
Result<Dims> ReadShape(const int64_t* shape, int32_t rank) {
  if (rank < 0 || rank > kMaxRank) {
    return Error(Code::kInvalidArgument, "rank ", rank, ", expected 0 to ", kMaxRank);
  }
  if (rank == 0) return Dims();
  AICF_RETURN_IF_ERROR(NotNull(shape, "the shape's address"));
  return Dims(std::span(shape, static_cast<size_t>(rank)));
}

Result<DType> ReadDType(const char* text) {
  AICF_RETURN_IF_ERROR(NotNull(text, "the dtype"));
  const std::optional<DType> dtype = ParseDType(text);
  if (dtype) return *dtype;
  return Error(Code::kInvalidArgument, "'", text, "' is no dtype");
}

/// The caller's tensor. Tensor: ConstTensor or MutableTensor.
template <class Tensor, class Data>
Result<Tensor> ReadTensor(const char* name, const char* dtype, const int64_t* shape, int32_t rank,
                          Data* data, uint64_t bytes) {
  AICF_RETURN_IF_ERROR(NotNull(name, "the name"));
  const Result<DType> type = ReadDType(dtype);
  if (!type.ok()) return type.status().WithContext(StrCat("'", name, "'"));
  const Result<Dims> dims = ReadShape(shape, rank);
  if (!dims.ok()) return dims.status().WithContext(StrCat("'", name, "'"));
  return Tensor{*type, *dims, data, bytes};
}

/// At most this many inputs are named without allocating; more go to the heap.
constexpr size_t kFewShapes = 16;

Status SelectShapes(Session& session, const aicf_input_shape* shapes, uint32_t count) {
  if (count > 0) AICF_RETURN_IF_ERROR(NotNull(shapes, "the shapes' address"));
  InputShape few[kFewShapes];
  std::vector<InputShape> many(count > kFewShapes ? count : 0);
  InputShape* const all = count > kFewShapes ? many.data() : few;
  for (uint32_t i = 0; i < count; ++i) {
    AICF_RETURN_IF_ERROR(NotNull(shapes[i].name, "an input's name"));
    const Result<Dims> shape = ReadShape(shapes[i].shape, shapes[i].rank);
    if (!shape.ok()) return shape.status().WithContext(StrCat("input '", shapes[i].name, "'"));
    all[i] = {shapes[i].name, *shape};
  }
  return session.SelectShapes({all, count});
}

Status BindAll(Session& session, const aicf_binding* bindings, uint32_t count) {
  if (count > 0) AICF_RETURN_IF_ERROR(NotNull(bindings, "the bindings' address"));
  std::vector<Binding> all;
  for (uint32_t i = 0; i < count; ++i) {
    const aicf_binding& b = bindings[i];
    AICF_RETURN_IF_ERROR(NotNull(b.name, "a binding's name"));
    const int kind = Passed(b.kind);
    if (kind < AICF_BIND_INPUT || kind > AICF_BIND_STATE) {
      return Error(Code::kInvalidArgument, "binding '", b.name, "': kind ", kind,
                   ", expected 0, 1 or 2");
    }
    all.push_back({static_cast<Binding::Kind>(b.kind), b.name, b.data, b.bytes});
  }
  return session.Bind(all);
}

Status CheckRoom(size_t steps, uint32_t capacity) {
  if (steps <= capacity) return OkStatus();
  return Error(Code::kInvalidArgument, "the program has ", steps, " steps, the array has room for ",
               capacity);
}

Status ProfileSteps(const OpenSession& open, int32_t iterations, aicf_step_profile* steps,
                    uint32_t capacity, uint32_t* count) {
  *count = open.program->entries()[open.session->selected_entry()].step_count;
  AICF_RETURN_IF_ERROR(CheckRoom(*count, capacity));
  if (*count > 0) AICF_RETURN_IF_ERROR(NotNull(steps, "the steps' address"));
  AICF_ASSIGN_OR_RETURN(const std::vector<StepProfile> profile, open.session->Profile(iterations));
  // Another thread may have selected an entry point with more steps since these were counted.
  *count = static_cast<uint32_t>(profile.size());
  AICF_RETURN_IF_ERROR(CheckRoom(*count, capacity));
  for (size_t i = 0; i < profile.size(); ++i) {
    steps[i] = {profile[i].step, 0, profile[i].median_us};
  }
  return OkStatus();
}

/// Calls f(session) when the handle is good.
aicf_code WithSession(aicf_session handle, FunctionRef<Status(Session&)> f) {
  return Call([&]() -> Status {
    AICF_ASSIGN_OR_RETURN(const SessionTable::Pin open, FindSession(handle));
    return f(*open->session);
  });
}

/// Copies the caller's tensor in or out. Tensor: ConstTensor or MutableTensor.
template <class Tensor, class Data>
aicf_code MoveTensor(aicf_session handle, Status (Session::*move)(std::string_view, const Tensor&),
                     const char* name, const char* dtype, const int64_t* shape, int32_t rank,
                     Data* data, uint64_t bytes) {
  return WithSession(handle, [&](Session& s) -> Status {
    AICF_ASSIGN_OR_RETURN(const Tensor tensor,
                          ReadTensor<Tensor>(name, dtype, shape, rank, data, bytes));
    return (s.*move)(name, tensor);
  });
}

aicf_code ShapeOf(aicf_session handle, Result<Dims> (Session::*shape_of)(std::string_view),
                  const char* name, int64_t* shape, int32_t* rank) {
  return WithSession(handle, [&](Session& s) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(name, "the name"));
    AICF_RETURN_IF_ERROR(NotNull(shape, "the shape's address"));
    AICF_RETURN_IF_ERROR(NotNull(rank, "the rank's address"));
    return CopyShape((s.*shape_of)(name), shape, rank);
  });
}

aicf_code PointerOf(aicf_session handle, Result<void*> (Session::*pointer_of)(std::string_view),
                    const char* name, void** pointer) {
  return WithSession(handle, [&](Session& s) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(name, "the name"));
    AICF_RETURN_IF_ERROR(NotNull(pointer, "the pointer's address"));
    AICF_ASSIGN_OR_RETURN(*pointer, (s.*pointer_of)(name));
    return OkStatus();
  });
}

/// Calls f(program) when the handle and the result's address are good.
aicf_code WithProgram(aicf_program handle, const void* out, FunctionRef<Status(const Program&)> f) {
  return Call([&]() -> Status {
    AICF_RETURN_IF_ERROR(NotNull(out, "the result's address"));
    AICF_ASSIGN_OR_RETURN(const ProgramTable::Pin program, FindProgram(handle));
    return f(**program);
  });
}

}  // namespace

namespace c_api {

aicf_code Call(FunctionRef<Status()> f) noexcept {
  const Status status = Guarded(f);
  try {
    if (!status.ok()) last_error = status.message();
  } catch (...) {
    last_error.clear();  // no memory for the message: the code still tells
  }
  return static_cast<aicf_code>(status.code());
}

Status NotNull(const void* pointer, std::string_view what) {
  if (pointer != nullptr) return OkStatus();
  return Error(Code::kInvalidArgument, what, " is null");
}

Status Unknown(std::string_view what, uint64_t handle) {
  return Error(Code::kInvalidArgument, what, " handle ", handle,
               " names nothing: it was destroyed or never created");
}

Result<std::shared_ptr<const Program>> ProgramOf(aicf_program handle) {
  AICF_ASSIGN_OR_RETURN(const ProgramTable::Pin found, FindProgram(handle));
  return *found;
}

Status ReadOptions(const aicf_session_options* given, SessionOptions* options) {
  aicf_session_options full;
  aicf_session_options_init(&full);
  if (given != nullptr) {
    if (given->struct_bytes < offsetof(aicf_session_options, device)) {
      return Error(Code::kInvalidArgument, "options.struct_bytes is ", given->struct_bytes,
                   "; call aicf_session_options_init first");
    }
    std::memcpy(&full, given, std::min<size_t>(given->struct_bytes, sizeof(full)));
  }
  const int sync = Passed(full.sync);
  if (sync < AICF_FULL_SYNC || sync > AICF_NO_SYNC) {
    return Error(Code::kInvalidArgument, "options.sync is ", sync, ", expected 0, 1 or 2");
  }
  options->device = full.device != nullptr ? full.device : "";
  options->threads = full.threads;
  options->cuda_graph = full.cuda_graph != 0;
  options->transfers = full.transfers != 0;
  options->sync = static_cast<SyncPolicy>(full.sync);
  options->stream = full.stream;
  options->max_operations = full.max_operations;
  return OkStatus();
}

Status GiveMemory(const MemoryReport& memory, aicf_memory_report* report) {
  AICF_RETURN_IF_ERROR(NotNull(report, "the report's address"));
  *report = {memory.arena_bytes, memory.weights_bytes, memory.state_bytes, memory.staging_bytes,
             memory.total_device_bytes};
  return OkStatus();
}

Status GiveName(const std::string& full, char* name, uint64_t capacity) {
  AICF_RETURN_IF_ERROR(NotNull(name, "the name's address"));
  if (capacity == 0) return Error(Code::kInvalidArgument, "the capacity is 0");
  const size_t length = std::min<size_t>(full.size(), capacity - 1);
  std::memcpy(name, full.data(), length);
  name[length] = '\0';
  return OkStatus();
}

}  // namespace c_api
}  // namespace aicf

using aicf::NotNull;
using aicf::OkStatus;
using aicf::Program;
using aicf::Session;
using aicf::Status;

const char* aicf_last_error(void) { return aicf::last_error.c_str(); }

const char* aicf_code_name(aicf_code code) {
  const int passed = aicf::Passed(code);
  if (passed < AICF_OK || passed > AICF_INTERNAL) return "unknown";
  return aicf::CodeName(static_cast<aicf::Code>(passed)).data();  // literals
}

aicf_code aicf_program_load(const char* path, aicf_program* program) {
  return aicf::LoadProgram(program, [&]() -> aicf::Result<std::shared_ptr<const Program>> {
    AICF_RETURN_IF_ERROR(NotNull(path, "the path"));
    return Program::Load(path);
  });
}

aicf_code aicf_program_from_bytes(const void* data, uint64_t bytes, aicf_program* program) {
  return aicf::LoadProgram(program, [&]() -> aicf::Result<std::shared_ptr<const Program>> {
    AICF_RETURN_IF_ERROR(NotNull(data, "the data"));
    return Program::FromBytes({static_cast<const std::byte*>(data), bytes});
  });
}

aicf_code aicf_program_load_signed(const char* path, const char* public_keys,
                                   aicf_program* program) {
  return aicf::LoadProgram(program, [&]() -> aicf::Result<std::shared_ptr<const Program>> {
    AICF_RETURN_IF_ERROR(NotNull(path, "the path"));
    AICF_RETURN_IF_ERROR(NotNull(public_keys, "the text of public keys"));
    return Program::Load(path, {.require_signature = public_keys});
  });
}

aicf_code aicf_program_from_bytes_signed(const void* data, uint64_t bytes, const char* public_keys,
                                         aicf_program* program) {
  return aicf::LoadProgram(program, [&]() -> aicf::Result<std::shared_ptr<const Program>> {
    AICF_RETURN_IF_ERROR(NotNull(data, "the data"));
    AICF_RETURN_IF_ERROR(NotNull(public_keys, "the text of public keys"));
    return Program::FromBytes({static_cast<const std::byte*>(data), bytes},
                              {.require_signature = public_keys});
  });
}

aicf_code aicf_program_destroy(aicf_program program) {
  return aicf::Call([&]() -> Status {
    if (aicf::Programs().Remove(program) == nullptr) return aicf::Unknown("program", program);
    return OkStatus();
  });
}

aicf_code aicf_program_target(aicf_program program, const char** target) {
  return aicf::WithProgram(program, target, [&](const Program& p) {
    *target = p.target().c_str();
    return OkStatus();
  });
}

aicf_code aicf_program_input_count(aicf_program program, uint32_t* count) {
  return aicf::WithProgram(program, count, [&](const Program& p) {
    *count = static_cast<uint32_t>(p.inputs().size());
    return OkStatus();
  });
}

aicf_code aicf_program_output_count(aicf_program program, uint32_t* count) {
  return aicf::WithProgram(program, count, [&](const Program& p) {
    *count = static_cast<uint32_t>(p.outputs().size());
    return OkStatus();
  });
}

aicf_code aicf_program_input(aicf_program program, uint32_t index, aicf_tensor_info* info) {
  return aicf::WithProgram(program, info, [&](const Program& p) {
    return aicf::Describe(p.inputs(), index, info).WithContext("input");
  });
}

aicf_code aicf_program_output(aicf_program program, uint32_t index, aicf_tensor_info* info) {
  return aicf::WithProgram(program, info, [&](const Program& p) {
    return aicf::Describe(p.outputs(), index, info).WithContext("output");
  });
}

aicf_code aicf_program_entry_count(aicf_program program, uint32_t* count) {
  return aicf::WithProgram(program, count, [&](const Program& p) {
    *count = static_cast<uint32_t>(p.entries().size());
    return OkStatus();
  });
}

aicf_code aicf_program_entry(aicf_program program, uint32_t entry, aicf_entry_info* info) {
  return aicf::WithProgram(program, info, [&](const Program& p) -> Status {
    const aicf::EntryInfo* e = nullptr;
    AICF_RETURN_IF_ERROR(aicf::FindEntry(p, entry, &e));
    *info = {e->name.c_str(), static_cast<uint32_t>(e->inputs.size()),
             static_cast<uint32_t>(e->outputs.size()), e->first_step, e->step_count};
    return OkStatus();
  });
}

aicf_code aicf_program_entry_input(aicf_program program, uint32_t entry, uint32_t index,
                                   aicf_tensor_info* info, int64_t min_shape[8]) {
  return aicf::WithProgram(program, info, [&](const Program& p) -> Status {
    const aicf::EntryInfo* e = nullptr;
    AICF_RETURN_IF_ERROR(aicf::FindEntry(p, entry, &e));
    return aicf::DescribeAt(e->inputs, index, info, min_shape).WithContext("input");
  });
}

aicf_code aicf_program_entry_output(aicf_program program, uint32_t entry, uint32_t index,
                                    aicf_tensor_info* info, int64_t min_shape[8]) {
  return aicf::WithProgram(program, info, [&](const Program& p) -> Status {
    const aicf::EntryInfo* e = nullptr;
    AICF_RETURN_IF_ERROR(aicf::FindEntry(p, entry, &e));
    return aicf::DescribeAt(e->outputs, index, info, min_shape).WithContext("output");
  });
}

aicf_code aicf_program_entry_meta_count(aicf_program program, uint32_t entry, uint32_t* count) {
  return aicf::WithProgram(program, count, [&](const Program& p) -> Status {
    const aicf::EntryInfo* e = nullptr;
    AICF_RETURN_IF_ERROR(aicf::FindEntry(p, entry, &e));
    *count = static_cast<uint32_t>(e->metas.size());
    return OkStatus();
  });
}

aicf_code aicf_program_entry_meta(aicf_program program, uint32_t entry, uint32_t index,
                                  aicf_tensor_info* info) {
  return aicf::WithProgram(program, info, [&](const Program& p) -> Status {
    const aicf::EntryInfo* e = nullptr;
    AICF_RETURN_IF_ERROR(aicf::FindEntry(p, entry, &e));
    return aicf::Describe(e->metas, index, info).WithContext("meta");
  });
}

aicf_code aicf_program_state_count(aicf_program program, uint32_t* count) {
  return aicf::WithProgram(program, count, [&](const Program& p) {
    *count = static_cast<uint32_t>(p.states().size());
    return OkStatus();
  });
}

aicf_code aicf_program_state(aicf_program program, uint32_t index, aicf_tensor_info* info) {
  return aicf::WithProgram(program, info, [&](const Program& p) {
    return aicf::Describe(p.states(), index, info).WithContext("state");
  });
}

aicf_code aicf_program_get_sizes(aicf_program program, aicf_program_sizes* sizes) {
  return aicf::WithProgram(program, sizes, [&](const Program& p) {
    *sizes = {p.step_count(), p.arena_bytes(), p.weights_bytes()};
    return OkStatus();
  });
}

void aicf_session_options_init(aicf_session_options* options) {
  if (options == nullptr) return;
  *options = {};
  options->struct_bytes = sizeof(*options);
  options->cuda_graph = 1;
  options->transfers = 1;
  options->sync = AICF_FULL_SYNC;
}

aicf_code aicf_session_create(aicf_program program, const aicf_session_options* options,
                              aicf_session* session) {
  return aicf::Call([&]() -> Status {
    AICF_RETURN_IF_ERROR(NotNull(session, "the session's address"));
    *session = 0;
    aicf::SessionOptions full;
    AICF_RETURN_IF_ERROR(aicf::c_api::ReadOptions(options, &full));
    auto open = std::make_unique<aicf::OpenSession>();
    // From here on the handle may be destroyed.
    AICF_ASSIGN_OR_RETURN(open->program, aicf::c_api::ProgramOf(program));
    AICF_ASSIGN_OR_RETURN(open->session, Session::Create(open->program, full));
    *session = aicf::Sessions().Insert(std::move(open));
    return OkStatus();
  });
}

aicf_code aicf_session_destroy(aicf_session session) {
  return aicf::Call([&]() -> Status {
    if (aicf::Sessions().Remove(session) == nullptr) return aicf::Unknown("session", session);
    return OkStatus();
  });
}

aicf_code aicf_session_select_shapes(aicf_session session, const aicf_input_shape* shapes,
                                     uint32_t count) {
  return aicf::WithSession(session,
                           [&](Session& s) { return aicf::SelectShapes(s, shapes, count); });
}

aicf_code aicf_session_select_entry(aicf_session session, const char* name) {
  return aicf::WithSession(session, [&](Session& s) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(name, "the name"));
    return s.SelectEntry(name);
  });
}

aicf_code aicf_session_selected_entry(aicf_session session, uint32_t* entry) {
  return aicf::WithSession(session, [&](Session& s) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(entry, "the index's address"));
    *entry = static_cast<uint32_t>(s.selected_entry());
    return OkStatus();
  });
}

aicf_code aicf_session_input_shape(aicf_session session, const char* name, int64_t shape[8],
                                   int32_t* rank) {
  return aicf::ShapeOf(session, &Session::InputShapeOf, name, shape, rank);
}

aicf_code aicf_session_set_input(aicf_session session, const char* name, const char* dtype,
                                 const int64_t* shape, int32_t rank, const void* data,
                                 uint64_t bytes) {
  return aicf::MoveTensor(session, &Session::SetInput, name, dtype, shape, rank, data, bytes);
}

aicf_code aicf_session_get_output(aicf_session session, const char* name, const char* dtype,
                                  const int64_t* shape, int32_t rank, void* data, uint64_t bytes) {
  return aicf::MoveTensor(session, &Session::GetOutput, name, dtype, shape, rank, data, bytes);
}

aicf_code aicf_session_output_shape(aicf_session session, const char* name, int64_t shape[8],
                                    int32_t* rank) {
  return aicf::ShapeOf(session, &Session::OutputShape, name, shape, rank);
}

aicf_code aicf_session_input_pointer(aicf_session session, const char* name, void** pointer) {
  return aicf::PointerOf(session, &Session::InputPointer, name, pointer);
}

aicf_code aicf_session_output_pointer(aicf_session session, const char* name, void** pointer) {
  return aicf::PointerOf(session, &Session::OutputPointer, name, pointer);
}

aicf_code aicf_session_set_meta(aicf_session session, const char* name, const char* dtype,
                                const int64_t* shape, int32_t rank, const void* data,
                                uint64_t bytes) {
  return aicf::MoveTensor(session, &Session::SetMeta, name, dtype, shape, rank, data, bytes);
}

aicf_code aicf_session_reset_states(aicf_session session) {
  return aicf::WithSession(session, [](Session& s) { return s.ResetStates(); });
}

aicf_code aicf_session_seed_state(aicf_session session, const char* name, const char* dtype,
                                  const int64_t* shape, int32_t rank, const void* data,
                                  uint64_t bytes) {
  return aicf::MoveTensor(session, &Session::SeedState, name, dtype, shape, rank, data, bytes);
}

aicf_code aicf_session_export_state(aicf_session session, const char* name, const char* dtype,
                                    const int64_t* shape, int32_t rank, void* data,
                                    uint64_t bytes) {
  return aicf::MoveTensor(session, &Session::ExportState, name, dtype, shape, rank, data, bytes);
}

aicf_code aicf_session_import_state(aicf_session session, const char* name, const char* dtype,
                                    const int64_t* shape, int32_t rank, const void* data,
                                    uint64_t bytes) {
  return aicf::MoveTensor(session, &Session::ImportState, name, dtype, shape, rank, data, bytes);
}

aicf_code aicf_session_state_pointer(aicf_session session, const char* name, void** pointer) {
  return aicf::PointerOf(session, &Session::StatePointer, name, pointer);
}

aicf_code aicf_session_fork(aicf_session session, aicf_session* fork) {
  return aicf::Call([&]() -> Status {
    AICF_RETURN_IF_ERROR(NotNull(fork, "the fork's address"));
    *fork = 0;
    AICF_ASSIGN_OR_RETURN(const aicf::SessionTable::Pin open, aicf::FindSession(session));
    auto forked = std::make_unique<aicf::OpenSession>();
    forked->program = open->program;
    AICF_ASSIGN_OR_RETURN(forked->session, open->session->Fork());
    *fork = aicf::Sessions().Insert(std::move(forked));
    return OkStatus();
  });
}

aicf_code aicf_session_bind(aicf_session session, const aicf_binding* bindings, uint32_t count) {
  return aicf::WithSession(session, [&](Session& s) { return aicf::BindAll(s, bindings, count); });
}

aicf_code aicf_session_run(aicf_session session) {
  return aicf::WithSession(session, [](Session& s) { return s.Run(); });
}

aicf_code aicf_session_wait(aicf_session session) {
  return aicf::WithSession(session, [](Session& s) { return s.Wait(); });
}

aicf_code aicf_session_time_replays(aicf_session session, int32_t iterations, double* times_us) {
  return aicf::WithSession(session, [&](Session& s) -> Status {
    AICF_RETURN_IF_ERROR(NotNull(times_us, "the times' address"));
    AICF_ASSIGN_OR_RETURN(const std::vector<double> times, s.TimeReplays(iterations));
    std::copy(times.begin(), times.end(), times_us);
    return OkStatus();
  });
}

aicf_code aicf_session_profile(aicf_session session, int32_t iterations, aicf_step_profile* steps,
                               uint32_t capacity, uint32_t* count) {
  return aicf::Call([&]() -> Status {
    AICF_RETURN_IF_ERROR(NotNull(count, "the count's address"));
    AICF_ASSIGN_OR_RETURN(const aicf::SessionTable::Pin open, aicf::FindSession(session));
    return aicf::ProfileSteps(*open, iterations, steps, capacity, count);
  });
}

aicf_code aicf_session_memory(aicf_session session, aicf_memory_report* report) {
  return aicf::WithSession(session,
                           [&](Session& s) { return aicf::c_api::GiveMemory(s.memory(), report); });
}

aicf_code aicf_session_device_name(aicf_session session, char* name, uint64_t capacity) {
  return aicf::WithSession(
      session, [&](Session& s) { return aicf::c_api::GiveName(s.device_name(), name, capacity); });
}

aicf_code aicf_device_health(void) {
  return aicf::Call([] { return aicf::DeviceHealth(); });
}

aicf_code aicf_set_log_sink(aicf_log_sink sink, void* user) {
  return aicf::Call([&]() -> Status {
    if (sink == nullptr) {
      aicf::SetLogSink({});
      return OkStatus();
    }
    aicf::SetLogSink([sink, user](aicf::LogLevel level, std::string_view message) {
      sink(static_cast<int>(level), std::string(message).c_str(), user);
    });
    return OkStatus();
  });
}
