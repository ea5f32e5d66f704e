#include "tools/common/lowered.h"

#include "base/scanner.h"

namespace aicf::tools {
namespace {

constexpr size_t kMaxOperands = 1 << 16;

class Reader {
 public:
  Result<std::vector<RecordedProgram>> Run(std::string_view text) {
    for (size_t number = 1; !text.empty(); ++number) {
      const size_t end = text.find('\n');
      const Status status = Line(text.substr(0, end));
      if (!status.ok()) {
        return Error(Code::kBadArtifact, "lowered section, line ", number, ": ", status.message());
      }
      text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
    }
    return std::move(programs_);
  }

 private:
  Status Line(std::string_view line) {
    Scanner in(line);
    if (in.Accept("entry")) {
      AICF_ASSIGN_OR_RETURN(entry_, in.Quoted());
      return OkStatus();
    }
    if (in.Peek("lowered")) {
      programs_.push_back({std::move(entry_), {}, {}});
      entry_.clear();
      return OkStatus();
    }
    if (programs_.empty()) return in.AtEnd() ? OkStatus() : in.Fail("\"lowered\"");
    if (in.Accept("%")) return Buffer(in);
    if (in.Accept("step")) return Step(in);
    return OkStatus();  // lines about inputs, outputs and loops: the plan has these as well
  }

  Status Buffer(Scanner& in) {
    RecordedBuffer b;
    AICF_RETURN_IF_ERROR(in.Int().status());
    AICF_RETURN_IF_ERROR(in.Expect("="));
    AICF_ASSIGN_OR_RETURN(const std::string_view role, in.Word());
    b.role = role;
    AICF_ASSIGN_OR_RETURN(b.name, in.Quoted());
    AICF_ASSIGN_OR_RETURN(const std::string_view dtype, in.Word());
    const std::optional<DType> known = ParseDType(dtype);
    if (!known) return in.Fail("a dtype before this");
    b.dtype = *known;
    AICF_ASSIGN_OR_RETURN(b.shape, in.Shape());
    programs_.back().buffers.push_back(std::move(b));
    return OkStatus();
  }

  Status Step(Scanner& in) {
    RecordedStep s;
    AICF_RETURN_IF_ERROR(in.Expect("["));
    while (!in.Accept("]")) {
      if (!s.sources.empty()) AICF_RETURN_IF_ERROR(in.Expect(","));
      AICF_ASSIGN_OR_RETURN(std::string source, in.Quoted());
      s.sources.push_back(std::move(source));
    }
    if (in.Accept("loop")) {
      AICF_ASSIGN_OR_RETURN(const int64_t loop, in.Int());
      s.loop = static_cast<int32_t>(loop);
    }
    while (in.Accept("if")) {
      s.guarded = true;
      (void)in.Accept("not");
      uint32_t guard = 0;
      AICF_RETURN_IF_ERROR(Id(in, guard));
    }
    AICF_RETURN_IF_ERROR(Ids(in, s.inputs));
    AICF_RETURN_IF_ERROR(in.Expect("->"));
    AICF_RETURN_IF_ERROR(Ids(in, s.outputs));
    AICF_RETURN_IF_ERROR(in.Expect(":"));
    AICF_ASSIGN_OR_RETURN(s.problem, abi::ParseProblemFrom(in));
    programs_.back().steps.push_back(std::move(s));
    return OkStatus();
  }

  Status Id(Scanner& in, uint32_t& out) const {
    AICF_RETURN_IF_ERROR(in.Expect("%"));
    AICF_ASSIGN_OR_RETURN(const int64_t id, in.Int());
    if (id < 0 || static_cast<uint64_t>(id) >= programs_.back().buffers.size()) {
      return in.Fail("a buffer defined above");
    }
    out = static_cast<uint32_t>(id);
    return OkStatus();
  }

  Status Ids(Scanner& in, std::vector<uint32_t>& out) const {
    AICF_RETURN_IF_ERROR(in.Expect("("));
    while (!in.Accept(")")) {
      if (out.size() > kMaxOperands) return in.Fail("fewer operands");
      if (!out.empty()) AICF_RETURN_IF_ERROR(in.Expect(","));
      AICF_RETURN_IF_ERROR(Id(in, out.emplace_back()));
    }
    return OkStatus();
  }

  std::string entry_;  // entry point of the program that comes next
  std::vector<RecordedProgram> programs_;
};

}  // namespace

Result<std::vector<RecordedProgram>> ReadLowered(std::string_view text) {
  return Reader().Run(text);
}

}  // namespace aicf::tools
