/* aicf's C interface: the meaning of aicf.h without C++ types.
 *
 *   aicf_program program;
 *   aicf_session session;
 *   if (aicf_program_load("model.aicf", &program) != AICF_OK) return fail(aicf_last_error());
 *   if (aicf_session_create(program, NULL, &session) != AICF_OK) return fail(aicf_last_error());
 *   aicf_session_set_input(session, "x", "f32", x_shape, 4, pixels, sizeof(pixels));
 *   aicf_session_run(session);
 *   aicf_session_get_output(session, "y", "f32", y_shape, 2, scores, sizeof(scores));
 *   aicf_session_destroy(session);
 *   aicf_program_destroy(program);
 *
 * Every function that can fail returns an aicf_code; aicf_last_error() has the sentence. Handles
 * are numbers in a table, never addresses: a destroyed, foreign or zero handle is
 * AICF_INVALID_ARGUMENT. No function throws, aborts or writes to a stream.
 *
 * Thread safety: every function may be called from any thread. Two calls inside one session at
 * once: the later gets AICF_INVALID_ARGUMENT ("busy"); destroying waits for calls under way. Only
 * aicf_session_selected_entry, _memory and _device_name never find the session busy.
 */
#ifndef AICF_AICF_C_H_
#define AICF_AICF_C_H_

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define AICF_C_API __attribute__((visibility("default")))

/* The values are those of aicf::Code. */
typedef enum aicf_code {
  AICF_OK = 0,
  AICF_CHECK_FAILED = 1,
  AICF_INVALID_ARGUMENT = 2,
  AICF_BAD_MODEL = 3,
  AICF_UNSUPPORTED = 4,
  AICF_BAD_ARTIFACT = 5,
  AICF_DEVICE = 6,
  AICF_RESOURCE = 7,
  AICF_IO = 8,
  AICF_INTERNAL = 9
} aicf_code;

typedef uint64_t aicf_program; /* 0: none */
typedef uint64_t aicf_session; /* 0: none */

/* The message of this thread's last failed call, "" if none failed. Valid until the thread's next
 * call into this library. */
AICF_C_API const char* aicf_last_error(void);
/* "bad-artifact"; "unknown" for a value outside aicf_code. */
AICF_C_API const char* aicf_code_name(aicf_code code);

/* Reads and verifies an artifact; touches no device. *program is 0 after an error. */
AICF_C_API aicf_code aicf_program_load(const char* path, aicf_program* program);
/* The same from memory, which is copied. */
AICF_C_API aicf_code aicf_program_from_bytes(const void* data, uint64_t bytes,
                                             aicf_program* program);
/* The same for an artifact that one of these keys has to have signed: `public_keys` is PEM text
 * with one or more Ed25519 public keys, and never NULL. AICF_BAD_ARTIFACT for another or no
 * signature, AICF_INVALID_ARGUMENT for a text without a key. docs/security.md says what a signature
 * gives. */
AICF_C_API aicf_code aicf_program_load_signed(const char* path, const char* public_keys,
                                              aicf_program* program);
AICF_C_API aicf_code aicf_program_from_bytes_signed(const void* data, uint64_t bytes,
                                                    const char* public_keys, aicf_program* program);
/* Sessions made from the program stay usable. */
AICF_C_API aicf_code aicf_program_destroy(aicf_program program);

typedef struct aicf_tensor_info {
  const char* name;  /* valid while the program, or a session of it, exists */
  const char* dtype; /* "f32", "i64", ...; valid for ever */
  uint64_t bytes;
  int64_t shape[8];
  int32_t rank;
  int32_t dynamic_axis; /* outputs: the axis whose extent each run decides (see
                           aicf_session_output_shape); -1: none */
} aicf_tensor_info;

/* *target: "cuda:sm_90a"; valid while the program exists. */
AICF_C_API aicf_code aicf_program_target(aicf_program program, const char** target);
AICF_C_API aicf_code aicf_program_input_count(aicf_program program, uint32_t* count);
AICF_C_API aicf_code aicf_program_output_count(aicf_program program, uint32_t* count);
AICF_C_API aicf_code aicf_program_input(aicf_program program, uint32_t index,
                                        aicf_tensor_info* info);
AICF_C_API aicf_code aicf_program_output(aicf_program program, uint32_t index,
                                         aicf_tensor_info* info);

/* A program compiled for several sets of shapes has an entry point for each; the functions above
 * describe the first one. All entry points of one compilation have inputs and outputs of the same
 * names and dtypes. */
typedef struct aicf_entry_info {
  const char*
      name; /* "main", or the bucket's; valid while the program, or a session of it, exists */
  uint32_t inputs;
  uint32_t outputs;
  uint32_t first_step; /* number of its first step among the program's steps */
  uint32_t steps;
} aicf_entry_info;
AICF_C_API aicf_code aicf_program_entry_count(aicf_program program, uint32_t* count);
AICF_C_API aicf_code aicf_program_entry(aicf_program program, uint32_t entry,
                                        aicf_entry_info* info);
/* min_shape, which may be NULL, receives the tensor's smallest shape that the entry point serves by
 * padding; equal to info->shape where nothing may be padded. */
AICF_C_API aicf_code aicf_program_entry_input(aicf_program program, uint32_t entry, uint32_t index,
                                              aicf_tensor_info* info, int64_t min_shape[8]);
AICF_C_API aicf_code aicf_program_entry_output(aicf_program program, uint32_t entry, uint32_t index,
                                               aicf_tensor_info* info, int64_t min_shape[8]);
/* An entry point's metas: small inputs that the host rewrites before a run; listed apart from its
 * inputs, set by aicf_session_set_meta. */
AICF_C_API aicf_code aicf_program_entry_meta_count(aicf_program program, uint32_t entry,
                                                   uint32_t* count);
AICF_C_API aicf_code aicf_program_entry_meta(aicf_program program, uint32_t entry, uint32_t index,
                                             aicf_tensor_info* info);
/* States are tensors that live across runs. All entry points share them, and no list of inputs or
 * outputs has them. */
AICF_C_API aicf_code aicf_program_state_count(aicf_program program, uint32_t* count);
AICF_C_API aicf_code aicf_program_state(aicf_program program, uint32_t index,
                                        aicf_tensor_info* info);

typedef struct aicf_program_sizes {
  uint64_t steps; /* of the first entry point */
  uint64_t arena_bytes;
  uint64_t weights_bytes;
} aicf_program_sizes;

AICF_C_API aicf_code aicf_program_get_sizes(aicf_program program, aicf_program_sizes* sizes);

typedef enum aicf_sync {
  AICF_FULL_SYNC = 0,    /* run returns when outputs are ready */
  AICF_EVENT_RECORD = 1, /* run records an event; wait waits for it */
  AICF_NO_SYNC = 2       /* run only enqueues; the caller synchronises the stream */
} aicf_sync;

/* Fields as in aicf::SessionOptions. Fill with aicf_session_options_init first. */
typedef struct aicf_session_options {
  uint32_t struct_bytes; /* sizeof(aicf_session_options) of the caller's header */
  int32_t threads;
  const char* device; /* NULL or "": the artifact's own target */
  int32_t cuda_graph;
  int32_t transfers;
  int32_t sync; /* aicf_sync */
  int32_t reserved;
  void* stream;
  double max_operations; /* CPU: limit of operations of one run; 0: the default. Negative numbers
                            and NaN are AICF_INVALID_ARGUMENT */
} aicf_session_options;

AICF_C_API void aicf_session_options_init(aicf_session_options* options);

/* Allocates, uploads, captures. options NULL: the defaults. *session is 0 after an error. */
AICF_C_API aicf_code aicf_session_create(aicf_program program, const aicf_session_options* options,
                                         aicf_session* session);
/* Waits for calls under way in other threads, then frees everything. */
AICF_C_API aicf_code aicf_session_destroy(aicf_session session);

/* A shape that the caller wants an input to have. */
typedef struct aicf_input_shape {
  const char* name;
  int64_t shape[8];
  int32_t rank;
  int32_t reserved; /* 0 */
} aicf_input_shape;
/* Selects the entry point that serves these shapes: exactly, or by padding where the compiler
 * proved that padding changes no result. Every other session function refers to the selected entry
 * point (at first the program's first). From then on set_input takes inputs of these shapes. A new
 * selection makes all inputs zero; selecting what is selected already changes nothing. The message
 * of AICF_INVALID_ARGUMENT lists the shapes that exist. */
AICF_C_API aicf_code aicf_session_select_shapes(aicf_session session,
                                                const aicf_input_shape* shapes, uint32_t count);
/* The same by the entry point's name, with its whole shapes. */
AICF_C_API aicf_code aicf_session_select_entry(aicf_session session, const char* name);
/* *entry: the selected entry point's index. */
AICF_C_API aicf_code aicf_session_selected_entry(aicf_session session, uint32_t* entry);
/* The shape that set_input takes. */
AICF_C_API aicf_code aicf_session_input_shape(aicf_session session, const char* name,
                                              int64_t shape[8], int32_t* rank);
/* Copies a dense row-major host tensor in. dtype ("f32", as in aicf_tensor_info) and shape have to
 * be the input's, and bytes, the size of the memory, what they take; `shape` may be NULL when rank
 * is 0, `data` when there are no elements. Everything else is AICF_INVALID_ARGUMENT, naming
 * expected and found, and changes nothing. */
AICF_C_API aicf_code aicf_session_set_input(aicf_session session, const char* name,
                                            const char* dtype, const int64_t* shape, int32_t rank,
                                            const void* data, uint64_t bytes);
/* Copies an output out, under the same rules; its shape is that of aicf_session_output_shape. */
AICF_C_API aicf_code aicf_session_get_output(aicf_session session, const char* name,
                                             const char* dtype, const int64_t* shape, int32_t rank,
                                             void* data, uint64_t bytes);
/* The shape that the last run gave the output: the one that get_output takes. */
AICF_C_API aicf_code aicf_session_output_shape(aicf_session session, const char* name,
                                               int64_t shape[8], int32_t* rank);
AICF_C_API aicf_code aicf_session_input_pointer(aicf_session session, const char* name,
                                                void** pointer);
AICF_C_API aicf_code aicf_session_output_pointer(aicf_session session, const char* name,
                                                 void** pointer);

/* Metas, states and memory of the caller, as in aicf.h. Tensors are described as for set_input,
 * with exactly the dtype and shape that aicf_program_entry_meta or aicf_program_state says. */
AICF_C_API aicf_code aicf_session_set_meta(aicf_session session, const char* name,
                                           const char* dtype, const int64_t* shape, int32_t rank,
                                           const void* data, uint64_t bytes);
/* Every state becomes its seed: zeros, or what seed_state said. */
AICF_C_API aicf_code aicf_session_reset_states(aicf_session session);
AICF_C_API aicf_code aicf_session_seed_state(aicf_session session, const char* name,
                                             const char* dtype, const int64_t* shape, int32_t rank,
                                             const void* data, uint64_t bytes);
AICF_C_API aicf_code aicf_session_export_state(aicf_session session, const char* name,
                                               const char* dtype, const int64_t* shape,
                                               int32_t rank, void* data, uint64_t bytes);
AICF_C_API aicf_code aicf_session_import_state(aicf_session session, const char* name,
                                               const char* dtype, const int64_t* shape,
                                               int32_t rank, const void* data, uint64_t bytes);
AICF_C_API aicf_code aicf_session_state_pointer(aicf_session session, const char* name,
                                                void** pointer);
/* A new session with a copy of the states; the caller destroys it. *fork is 0 after an error. */
AICF_C_API aicf_code aicf_session_fork(aicf_session session, aicf_session* fork);

typedef enum aicf_binding_kind {
  AICF_BIND_INPUT = 0,
  AICF_BIND_OUTPUT = 1,
  AICF_BIND_STATE = 2
} aicf_binding_kind;

/* Memory for a tensor in place of the session's own: 256-byte aligned on CUDA, 64-byte aligned on
 * the CPU. data NULL: the session's own again. */
typedef struct aicf_binding {
  const char* name;
  void* data;
  uint64_t bytes;
  int32_t kind;     /* aicf_binding_kind */
  int32_t reserved; /* 0 */
} aicf_binding;
/* Binds all of these tensors or, after an error, none. CUDA: captures the graph again, so bind all
 * tensors in one call; run stays one graph launch. */
AICF_C_API aicf_code aicf_session_bind(aicf_session session, const aicf_binding* bindings,
                                       uint32_t count);

AICF_C_API aicf_code aicf_session_run(aicf_session session);
AICF_C_API aicf_code aicf_session_wait(aicf_session session);
/* Writes `iterations` times in microseconds to times_us. */
AICF_C_API aicf_code aicf_session_time_replays(aicf_session session, int32_t iterations,
                                               double* times_us);

typedef struct aicf_step_profile {
  uint32_t step;
  uint32_t reserved;
  double median_us;
} aicf_step_profile;

/* Measures every step. *count receives the number of steps, even where `capacity` is smaller: then
 * `steps`, which may be NULL where `capacity` is 0, is left unchanged, nothing is measured and the
 * call fails with AICF_INVALID_ARGUMENT. */
AICF_C_API aicf_code aicf_session_profile(aicf_session session, int32_t iterations,
                                          aicf_step_profile* steps, uint32_t capacity,
                                          uint32_t* count);

typedef struct aicf_memory_report {
  uint64_t arena_bytes;
  uint64_t weights_bytes;
  uint64_t state_bytes;
  uint64_t staging_bytes;
  uint64_t total_device_bytes;
} aicf_memory_report;

AICF_C_API aicf_code aicf_session_memory(aicf_session session, aicf_memory_report* report);
/* Copies the device's name, cut to fit and always terminated. */
AICF_C_API aicf_code aicf_session_device_name(aicf_session session, char* name, uint64_t capacity);

/* AICF_OK while this process can use its GPUs. AICF_DEVICE, for good, once a call has met a device
 * fault, such as an illegal address: every session on a GPU then fails, and the process has to end
 * and be started again. Touches no device. */
AICF_C_API aicf_code aicf_device_health(void);

/* Receives the library's messages, from any thread; NULL silences the library (the default).
 * level: 0 debug, 1 information, 2 warning, 3 error. The sink must not throw and must not call into
 * this library: a lock is held meanwhile. */
typedef void (*aicf_log_sink)(int level, const char* message, void* user);
AICF_C_API aicf_code aicf_set_log_sink(aicf_log_sink sink, void* user);

#ifdef __cplusplus
}
#endif

#endif /* AICF_AICF_C_H_ */
