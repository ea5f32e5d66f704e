/* The C form of generator.h: generating text with a compiled language model. Part of libaicf,
 * not of libaicf_cuda.
 *
 *   aicf_generator generator;
 *   uint64_t id, count;
 *   uint32_t ids[1000];
 *   aicf_generate_request request;
 *   aicf_generate_part part;
 *   if (aicf_generator_create(program, NULL, &generator) != AICF_OK) return fail();
 *   aicf_generator_encode(generator, "Once upon a time", 0, 1, ids, 1000, &count);
 *   aicf_generate_request_init(&request);
 *   request.prompt = ids, request.prompt_count = count, request.max_new_tokens = 100;
 *   aicf_generator_submit(generator, &request, &id);
 *   aicf_generator_wait(generator, id, &part);            (part.text)
 *
 * Errors, handles and threads are as in aicf_c.h, except that any number of threads may be inside
 * one generator at once; generator.h says how its functions behave then.
 */
#ifndef AICF_GENERATOR_C_H_
#define AICF_GENERATOR_C_H_

#include "aicf/aicf_c.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef uint64_t aicf_generator; /* 0: none */

typedef struct aicf_generator_options {
  uint32_t struct_bytes; /* sizeof(aicf_generator_options) of the caller's header */
  int32_t threads;       /* CPU threads; 0: one per core */
  const char* device;    /* NULL or "": the artifact's own target */
  int32_t batch_invariant;
  int32_t prefills_in_a_row;
} aicf_generator_options;

/* Fills in the defaults. Call it before setting members. */
AICF_C_API void aicf_generator_options_init(aicf_generator_options* options);

/* NULL options: the defaults. The program's handle may be destroyed afterwards. */
AICF_C_API aicf_code aicf_generator_create(aicf_program program,
                                           const aicf_generator_options* options,
                                           aicf_generator* generator);
/* Cancels all requests of the generator first, so that aicf_generator_wait in another thread
 * returns after the run that goes on, with what it has and AICF_FINISH_CANCELLED. Waits for all
 * calls under way in other threads; the handle names nothing after that, and meanwhile takes no
 * requests. */
AICF_C_API aicf_code aicf_generator_destroy(aicf_generator generator);

/* What a request has to fit, and what there is: the members of aicf::LanguageInfo. */
typedef struct aicf_language_info {
  const char* architecture;
  const char* chat_template; /* its family; "": none */
  int64_t vocabulary;        /* token ids are below it */
  int64_t context;           /* most positions of a request, limited by the cache as well */
  int64_t trained_context;
  int64_t page;               /* positions in a page of the cache */
  int64_t pages;              /* pages of the cache */
  int64_t slots;              /* most requests at work at once */
  int64_t largest_prefill;    /* tokens of a prompt that one run takes */
  int64_t largest_decode;     /* requests that one run decodes */
  const uint32_t* end_tokens; /* ascending */
  uint64_t end_token_count;
  int32_t has_tokenizer;
  int32_t reserved; /* 0 */
} aicf_language_info;

/* The pointers in *info are valid while the generator exists. */
AICF_C_API aicf_code aicf_generator_get_info(aicf_generator generator, aicf_language_info* info);
/* Pages of the cache that no request has. */
AICF_C_API aicf_code aicf_generator_free_pages(aicf_generator generator, int64_t* pages);
/* Requests that have not ended. Makes no run. */
AICF_C_API aicf_code aicf_generator_unfinished(aicf_generator generator, uint64_t* unfinished);
AICF_C_API aicf_code aicf_generator_memory(aicf_generator generator, aicf_memory_report* report);
/* Copies the device's name, cut to fit and always terminated. */
AICF_C_API aicf_code aicf_generator_device_name(aicf_generator generator, char* name,
                                                uint64_t capacity);

/* Text to ids. *count receives the number of ids, even where `capacity` is smaller: then `ids` is
 * left unchanged and the call fails with AICF_INVALID_ARGUMENT. */
AICF_C_API aicf_code aicf_generator_encode(aicf_generator generator, const char* text,
                                           int32_t parse_special, int32_t add_special,
                                           uint32_t* ids, uint64_t capacity, uint64_t* count);
/* The same for a chat: `count_of_messages` roles and contents. */
AICF_C_API aicf_code aicf_generator_encode_chat(aicf_generator generator, const char* const* roles,
                                                const char* const* contents,
                                                uint32_t count_of_messages, uint32_t* ids,
                                                uint64_t capacity, uint64_t* count);
/* Ids to text: UTF-8 with a NUL behind it; special tokens leave nothing in it. *bytes receives the
 * text's bytes without that NUL, even where `capacity`, the size of the memory, has no room for
 * both: then `text`, which may be NULL where `capacity` is 0, is left unchanged and the call fails
 * with AICF_INVALID_ARGUMENT. Ids one by one need not give whole characters: what a request says
 * comes from aicf_generator_poll. */
AICF_C_API aicf_code aicf_generator_decode(aicf_generator generator, const uint32_t* ids,
                                           uint64_t count, char* text, uint64_t capacity,
                                           uint64_t* bytes);

/* The members are those of aicf::GenerateRequest. aicf_generator_submit copies all of it. */
typedef struct aicf_generate_request {
  uint32_t struct_bytes; /* sizeof(aicf_generate_request) of the caller's header */
  int32_t ignore_end;
  const uint32_t* prompt;
  uint64_t prompt_count;
  int64_t max_new_tokens; /* 0: as many as the context has room for */
  float temperature;      /* 0: greedy */
  int32_t top_k;          /* 0: all */
  float top_p;
  float min_p;
  int64_t seed;
  const uint32_t* stop_tokens;
  uint64_t stop_token_count;
  const char* const* stop_texts;
  uint64_t stop_text_count;
} aicf_generate_request;

AICF_C_API void aicf_generate_request_init(aicf_generate_request* request);

/* Equal to aicf::FinishReason. */
typedef enum aicf_finish_reason {
  AICF_FINISH_NONE = 0,
  AICF_FINISH_LENGTH = 1,
  AICF_FINISH_CONTEXT = 2,
  AICF_FINISH_END_TOKEN = 3,
  AICF_FINISH_STOP_TOKEN = 4,
  AICF_FINISH_STOP_TEXT = 5,
  AICF_FINISH_CANCELLED = 6
} aicf_finish_reason;

/* What Poll and Wait give. The pointers are valid until the thread's next Poll or Wait. */
typedef struct aicf_generate_part {
  const uint32_t* tokens;
  uint64_t token_count;
  const char* text; /* UTF-8, with a NUL behind it */
  uint64_t text_bytes;
  aicf_finish_reason finish;
} aicf_generate_part;

AICF_C_API aicf_code aicf_generator_submit(aicf_generator generator,
                                           const aicf_generate_request* request, uint64_t* id);
/* One run. *unfinished (may be NULL): requests that have not ended after it. */
AICF_C_API aicf_code aicf_generator_step(aicf_generator generator, uint64_t* unfinished);
/* What is new since the last Poll. A request that has ended is forgotten by the Poll that says so.
 */
AICF_C_API aicf_code aicf_generator_poll(aicf_generator generator, uint64_t id,
                                         aicf_generate_part* part);
/* Steps until the request has ended, gives all of it and forgets it. */
AICF_C_API aicf_code aicf_generator_wait(aicf_generator generator, uint64_t id,
                                         aicf_generate_part* part);
AICF_C_API aicf_code aicf_generator_cancel(aicf_generator generator, uint64_t id);
AICF_C_API aicf_code aicf_generator_forget(aicf_generator generator, uint64_t id);

#ifdef __cplusplus
}
#endif

#endif
