#include "compiler/decisions/encoded_decision.h"

#include <cstring>

namespace aicf {
namespace {

using schema::Alternative;
using schema::Decision;
using schema::NodeNames;

class DecisionWriter {
 public:
  DecisionWriter(TextPool& texts, std::string& out) : texts_(texts), out_(out) {}

  void Number(uint64_t n) {
    for (; n > 127; n >>= 7) out_.push_back(static_cast<char>((n & 127) | 128));
    out_.push_back(static_cast<char>(n));
  }
  void Text(std::string_view text) { Number(texts_.Add(text)); }
  // -1, the usual one, as one byte.
  void Real(double value) {
    Number(value == -1 ? 0 : 1);
    if (value == -1) return;
    char bytes[sizeof value];
    std::memcpy(bytes, &value, sizeof value);
    out_.append(bytes, sizeof value);
  }
  void Names(const NodeNames& names) {
    Number(names.size());
    for (const std::string& name : names) Text(name);
  }

 private:
  TextPool& texts_;
  std::string& out_;
};

class DecisionReader {
 public:
  DecisionReader(std::string_view& bytes, const TextPool& texts) : bytes_(bytes), texts_(texts) {}

  uint64_t Number() {
    uint64_t n = 0;
    size_t i = 0;
    for (;; ++i) {
      n |= (static_cast<uint64_t>(bytes_[i]) & 127) << (7 * i);
      if ((bytes_[i] & 128) == 0) break;
    }
    bytes_.remove_prefix(i + 1);
    return n;
  }
  std::string Text() { return std::string(texts_.At(static_cast<uint32_t>(Number()))); }
  double Real() {
    if (Number() == 0) return -1;
    double value;
    std::memcpy(&value, bytes_.data(), sizeof value);
    bytes_.remove_prefix(sizeof value);
    return value;
  }
  NodeNames Names() {
    NodeNames names(Number());
    for (std::string& name : names) name = Text();
    return names;
  }

 private:
  std::string_view& bytes_;
  const TextPool& texts_;
};

void Write(const schema::Subject& s, DecisionWriter& out) {
  out.Number(static_cast<uint64_t>(s.form));
  out.Text(s.entry);
  out.Number(static_cast<uint64_t>(int64_t{s.step} + 1));
  out.Names(s.nodes);
  out.Names(s.into);
  out.Text(s.value);
  out.Text(s.next);
  out.Text(s.op);
  out.Number(static_cast<uint64_t>(s.extent));
}

schema::Subject ReadSubject(DecisionReader& in) {
  schema::Subject s;
  s.form = static_cast<schema::SubjectForm>(in.Number());
  s.entry = in.Text();
  s.step = static_cast<int>(static_cast<int64_t>(in.Number()) - 1);
  s.nodes = in.Names();
  s.into = in.Names();
  s.value = in.Text();
  s.next = in.Text();
  s.op = in.Text();
  s.extent = static_cast<int64_t>(in.Number());
  return s;
}

}  // namespace

void AppendEncoded(const Decision& d, TextPool& texts, std::string& bytes) {
  DecisionWriter out(texts, bytes);
  out.Number(static_cast<uint64_t>(d.kind));
  Write(d.subject, out);
  out.Text(d.choice);
  out.Number(static_cast<uint64_t>(d.reason));
  out.Text(d.sentence);
  out.Text(d.pass);
  out.Real(d.cost_us);
  out.Real(d.measured_us);
  out.Number(d.alternatives.size());
  for (const Alternative& a : d.alternatives) {
    out.Text(a.choice);
    out.Text(a.refusal);
    out.Real(a.cost_us);
    out.Real(a.measured_us);
  }
}

Decision TakeEncoded(std::string_view& bytes, const TextPool& texts) {
  DecisionReader in(bytes, texts);
  Decision d;
  d.kind = static_cast<schema::DecisionKind>(in.Number());
  d.subject = ReadSubject(in);
  d.choice = in.Text();
  d.reason = static_cast<schema::Reason>(in.Number());
  d.sentence = in.Text();
  d.pass = in.Text();
  d.cost_us = in.Real();
  d.measured_us = in.Real();
  d.alternatives.resize(in.Number());
  for (Alternative& a : d.alternatives) {
    a.choice = in.Text();
    a.refusal = in.Text();
    a.cost_us = in.Real();
    a.measured_us = in.Real();
  }
  return d;
}

}  // namespace aicf
