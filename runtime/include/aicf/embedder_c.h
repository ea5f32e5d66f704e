/* The C form of embedder.h: vectors of texts with a compiled embedding model. Part of libaicf, not
 * of libaicf_cuda.
 *
 *   aicf_embedder embedder;
 *   uint64_t count, size;
 *   uint32_t ids[512];
 *   float vector[1024];
 *   if (aicf_embedder_create(program, NULL, &embedder) != AICF_OK) return fail();
 *   aicf_embedder_encode(embedder, "Once upon a time", 0, ids, 512, &count);
 *   aicf_embedder_embed(embedder, ids, count, vector, 1024, &size);
 *   aicf_embedder_destroy(embedder);
 *
 * Errors, handles and threads are as in aicf_c.h, except that any number of threads may be inside
 * one embedder at once: the texts that they embed take turns.
 */
#ifndef AICF_EMBEDDER_C_H_
#define AICF_EMBEDDER_C_H_

#include "aicf/aicf_c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t aicf_embedder; /* 0: none */

/* *serves: 1 where the program's artifact holds an embedding model, else 0. */
AICF_C_API aicf_code aicf_embedder_serves(aicf_program program, int32_t* serves);

/* options NULL: the defaults; `sync` is not read. The program's handle may be destroyed afterwards.
 * *embedder is 0 after an error: AICF_UNSUPPORTED for an artifact that is of no embedding model. */
AICF_C_API aicf_code aicf_embedder_create(aicf_program program, const aicf_session_options* options,
                                          aicf_embedder* embedder);
/* Waits for calls under way in other threads, then frees everything. */
AICF_C_API aicf_code aicf_embedder_destroy(aicf_embedder embedder);

/* The members of aicf::EmbedderInfo. */
typedef struct aicf_embedder_info {
  const char* architecture;
  int64_t vocabulary; /* token ids are below it */
  int64_t context;    /* most tokens of a text */
  int64_t size;       /* elements of a vector */
  int32_t has_tokenizer;
  int32_t reserved; /* 0 */
} aicf_embedder_info;

/* The pointers in *info are valid while the embedder exists. */
AICF_C_API aicf_code aicf_embedder_get_info(aicf_embedder embedder, aicf_embedder_info* info);
AICF_C_API aicf_code aicf_embedder_memory(aicf_embedder embedder, aicf_memory_report* report);
/* Copies the device's name, cut to fit and always terminated. */
AICF_C_API aicf_code aicf_embedder_device_name(aicf_embedder embedder, char* name,
                                               uint64_t capacity);

/* Text to ids, with the special tokens that the model wants around it; parse_special as in
 * aicf_generator_encode. *count receives the number of ids, even where `capacity` is smaller: then
 * `ids` is left unchanged and the call fails with AICF_INVALID_ARGUMENT. */
AICF_C_API aicf_code aicf_embedder_encode(aicf_embedder embedder, const char* text,
                                          int32_t parse_special, uint32_t* ids, uint64_t capacity,
                                          uint64_t* count);
/* The vector of a text, from one run. *size receives the number of its elements, even where
 * `capacity` is smaller: then nothing runs, `vector` is left unchanged and the call fails with
 * AICF_INVALID_ARGUMENT, as it does for no id, more than the context, or one outside the
 * vocabulary. */
AICF_C_API aicf_code aicf_embedder_embed(aicf_embedder embedder, const uint32_t* ids,
                                         uint64_t count, float* vector, uint64_t capacity,
                                         uint64_t* size);

#ifdef __cplusplus
}
#endif

#endif
