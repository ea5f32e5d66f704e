// The Python classes for generators and their requests.
#include <nanobind/nanobind.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "python/src/bindings.h"
#include "python/src/generate.h"
#include "python/src/program.h"
#include "python/src/status.h"

namespace aicf::python {
namespace {

using Ids = std::vector<uint32_t>;

std::shared_ptr<LiveGenerator> CreateGenerator(const LoadedProgram& program,
                                               const std::string& device, int threads,
                                               bool batch_invariant, int prefills_in_a_row) {
  GeneratorOptions options;
  options.session.device = device;
  options.session.threads = threads;
  options.batch_invariant = batch_invariant;
  options.prefills_in_a_row = prefills_in_a_row;
  return Unlocked([&] { return LiveGenerator::Create(program.program, options); });
}

nb::dict InfoOf(const LiveGenerator& live) {
  const auto generator = Take(live.Open());
  const LanguageInfo& i = generator->info();
  nb::dict out;
  out["architecture"] = ToText(i.architecture);
  out["vocabulary"] = i.vocabulary;
  out["context"] = i.context;
  out["trained_context"] = i.trained_context;
  out["page"] = i.page;
  out["pages"] = i.pages;
  out["slots"] = i.slots;
  out["largest_prefill"] = i.largest_prefill;
  out["largest_decode"] = i.largest_decode;
  out["end_tokens"] = nb::tuple(nb::cast(i.end_tokens));
  out["has_tokenizer"] = i.has_tokenizer;
  out["chat_template"] = ToText(i.chat_template);
  return out;
}

Ids EncodeText(const LiveGenerator& live, const std::string& text, bool parse_special,
               bool add_special) {
  const auto generator = Take(live.Open());
  return Unlocked([&] { return generator->Encode(text, parse_special, add_special); });
}

Ids EncodeChat(const LiveGenerator& live,
               const std::vector<std::pair<std::string, std::string>>& given) {
  const auto generator = Take(live.Open());
  std::vector<ChatMessage> messages;
  for (const auto& [role, content] : given) messages.push_back({role, content});
  return Unlocked([&] { return generator->EncodeChat(messages); });
}

nb::str DecodeIds(const LiveGenerator& live, const Ids& ids) {
  const auto generator = Take(live.Open());
  return ToText(Unlocked([&] { return generator->Decode(ids); }));
}

std::unique_ptr<LiveRequest> Submit(LiveGenerator& live, Ids prompt, int64_t max_new_tokens,
                                    float temperature, int top_k, float top_p, float min_p,
                                    int64_t seed, bool ignore_end, Ids stop_tokens,
                                    std::vector<std::string> stop_texts) {
  GenerateRequest request;
  request.prompt = std::move(prompt);
  request.max_new_tokens = max_new_tokens;
  request.temperature = temperature;
  request.top_k = top_k;
  request.top_p = top_p;
  request.min_p = min_p;
  request.seed = seed;
  request.ignore_end = ignore_end;
  request.stop_tokens = std::move(stop_tokens);
  request.stop_texts = std::move(stop_texts);
  return Unlocked([&] { return live.Submit(std::move(request)); });
}

/// Raises what a signal asks for, such as KeyboardInterrupt.
void CheckSignals() {
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// Makes one run, and gives the number of requests that are unfinished after it.
size_t Step(LiveGenerator& live) {
  while (!Unlocked([&] { return live.Advance([] { return false; }); })) CheckSignals();
  return Take(live.Open())->unfinished();
}

nb::object FinishText(FinishReason finish) {
  return finish == FinishReason::kNone ? nb::none() : nb::object(ToText(FinishReasonName(finish)));
}

/// Text, tokens, and how it ended.
nb::tuple PartTuple(const TextPart& part) {
  return nb::make_tuple(ToText(part.text), part.tokens, FinishText(part.finish));
}

/// Waits until there is something new. Nothing is lost where a signal ends the wait.
nb::tuple NextPart(LiveRequest& request) {
  for (;;) {
    const TextPart part = Unlocked([&] { return request.Next(); });
    if (!part.empty()) return PartTuple(part);
    CheckSignals();
  }
}

nb::tuple ResultTuple(const LiveRequest& request) {
  if (!request.result()) Raise(Error(Code::kInvalidArgument, "the request has not ended"));
  const GenerateResult& r = *request.result();
  return nb::make_tuple(ToText(r.text), r.tokens, FinishText(r.finish), r.prompt_tokens,
                        r.preemptions, r.first_token_ms, r.total_ms);
}

void BindRequest(nb::module_& m) {
  nb::class_<LiveRequest>(m, "NativeRequest")
      .def("next", &NextPart)
      .def("take", [](LiveRequest& r) { return PartTuple(Unlocked([&] { return r.Take(); })); })
      .def_prop_ro("result", &ResultTuple)
      .def("cancel", [](LiveRequest& r) { Unlocked([&] { return r.Cancel(); }); })
      .def("release", &LiveRequest::Release, nb::call_guard<nb::gil_scoped_release>());
}

}  // namespace

void BindGenerator(nb::module_& m) {
  BindRequest(m);
  nb::class_<LiveGenerator>(m, "NativeGenerator")
      .def_prop_ro("info", &InfoOf)
      .def("encode", &EncodeText, nb::arg("text"), nb::arg("parse_special"), nb::arg("add_special"))
      .def("encode_chat", &EncodeChat)
      .def("decode", &DecodeIds)
      .def("submit", &Submit, nb::arg("prompt"), nb::arg("max_new_tokens"), nb::arg("temperature"),
           nb::arg("top_k"), nb::arg("top_p"), nb::arg("min_p"), nb::arg("seed"),
           nb::arg("ignore_end"), nb::arg("stop_tokens"), nb::arg("stop_texts"))
      .def("step", &Step)
      .def_prop_ro("unfinished",
                   [](const LiveGenerator& live) { return Take(live.Open())->unfinished(); })
      .def_prop_ro("free_pages",
                   [](const LiveGenerator& live) { return Take(live.Open())->free_pages(); })
      .def_prop_ro(
          "memory",
          [](const LiveGenerator& live) { return MemoryDict(Take(live.Open())->memory()); })
      .def_prop_ro("device_name",
                   [](const LiveGenerator& live) { return Take(live.Open())->device_name(); })
      .def("close", &LiveGenerator::Close, nb::call_guard<nb::gil_scoped_release>());
  m.def("create_generator", &CreateGenerator, nb::arg("program"), nb::arg("device"),
        nb::arg("threads"), nb::arg("batch_invariant"), nb::arg("prefills_in_a_row"));
}

}  // namespace aicf::python
