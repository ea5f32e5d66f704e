/// A strict JSON reader. It refuses every event except those that a derived class accepts, so a
/// document of another form ends at its first wrong token, and nothing is built from it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "base/status.h"
#include "base/utf8.h"

namespace aicf::safetensors {

class JsonEvents {
 public:
  using string_t = nlohmann::json::string_t;
  using binary_t = nlohmann::json::binary_t;

  virtual ~JsonEvents() = default;

  virtual bool start_object(size_t) { return Refuse("an object"); }
  virtual bool end_object() { return Refuse("the end of an object"); }
  virtual bool start_array(size_t) { return Refuse("an array"); }
  virtual bool end_array() { return Refuse("the end of an array"); }
  virtual bool key(string_t&) { return Refuse("a key"); }
  virtual bool string(string_t&) { return Refuse("a string"); }
  virtual bool number_unsigned(uint64_t) { return Refuse("a number"); }
  virtual bool number_integer(int64_t) { return Refuse("a negative number"); }
  virtual bool number_float(double, const string_t& text) {
    return Refuse("the number " + text.substr(0, 40));
  }
  virtual bool boolean(bool) { return Refuse("a bool"); }
  virtual bool null() { return Refuse("null"); }
  bool binary(binary_t&) { return Refuse("binary data"); }
  bool parse_error(size_t position, const std::string&, const nlohmann::json::exception&) {
    return Fail(Error(Code::kBadModel, "malformed JSON at byte ", position));
  }

  /// What ended the reading.
  const Status& status() const { return status_; }

 protected:
  /// What the reader waits for, e.g. `tensor "a": a shape`.
  virtual std::string Expected() const = 0;

  bool Refuse(std::string_view found) {
    return Fail(Error(Code::kBadModel, "found ", found, ", expected ", Expected()));
  }
  bool Fail(Status status) {
    if (status_.ok()) status_ = std::move(status);
    return false;
  }

 private:
  Status status_;
};

/// Reads one JSON text to its end. Errors: kBadModel, also for text that is not UTF-8 or holds a
/// NUL, which the JSON reader would take for the end.
inline Status ReadJson(std::string_view text, JsonEvents& events) {
  if (!IsCleanText(text)) return Error(Code::kBadModel, "the JSON text is not UTF-8");
  if (text.empty() || text[0] != '{') {
    return Error(Code::kBadModel, "the JSON text does not begin with \"{\"");
  }
  const bool complete = nlohmann::json::sax_parse(text.begin(), text.end(), &events);
  if (complete || !events.status().ok()) return events.status();
  return Error(Code::kBadModel, "malformed JSON");
}

}  // namespace aicf::safetensors
