#include "compiler/import/onnx_budget.h"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/io/zero_copy_stream_impl.h>
#include <google/protobuf/wire_format_lite.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace aicf {
namespace {

using google::protobuf::internal::WireFormatLite;

// The messages of onnx.proto that nest or repeat, and two kinds of leaf. The generated classes are
// of the lite runtime, which has no descriptors to ask.
enum class Type : uint8_t {
  kText,
  kNumbers,
  kModel,
  kGraph,
  kNode,
  kAttribute,
  kTensor,
  kSparse,
  kValueInfo,
  kTypeProto,
  kTypeInner,
  kShape,
  kFunction,
  kTraining,
  kAnnotation,
  kFlat,
};

struct Field {
  Type parent;
  uint8_t number;
  Type type;
};

// Length-delimited fields that are not listed are text or bytes.
constexpr Field kFields[] = {
    {Type::kModel, 7, Type::kGraph},          {Type::kModel, 8, Type::kFlat},
    {Type::kModel, 14, Type::kFlat},          {Type::kModel, 20, Type::kTraining},
    {Type::kModel, 25, Type::kFunction},      {Type::kGraph, 1, Type::kNode},
    {Type::kGraph, 5, Type::kTensor},         {Type::kGraph, 11, Type::kValueInfo},
    {Type::kGraph, 12, Type::kValueInfo},     {Type::kGraph, 13, Type::kValueInfo},
    {Type::kGraph, 14, Type::kAnnotation},    {Type::kGraph, 15, Type::kSparse},
    {Type::kNode, 5, Type::kAttribute},       {Type::kAttribute, 5, Type::kTensor},
    {Type::kAttribute, 6, Type::kGraph},      {Type::kAttribute, 8, Type::kNumbers},
    {Type::kAttribute, 10, Type::kTensor},    {Type::kAttribute, 11, Type::kGraph},
    {Type::kAttribute, 14, Type::kTypeProto}, {Type::kAttribute, 15, Type::kTypeProto},
    {Type::kAttribute, 22, Type::kSparse},    {Type::kAttribute, 23, Type::kSparse},
    {Type::kTensor, 1, Type::kNumbers},       {Type::kTensor, 3, Type::kFlat},
    {Type::kTensor, 5, Type::kNumbers},       {Type::kTensor, 7, Type::kNumbers},
    {Type::kTensor, 11, Type::kNumbers},      {Type::kTensor, 13, Type::kFlat},
    {Type::kSparse, 1, Type::kTensor},        {Type::kSparse, 2, Type::kTensor},
    {Type::kSparse, 3, Type::kNumbers},       {Type::kValueInfo, 2, Type::kTypeProto},
    {Type::kTypeProto, 1, Type::kTypeInner},  {Type::kTypeProto, 4, Type::kTypeInner},
    {Type::kTypeProto, 5, Type::kTypeInner},  {Type::kTypeProto, 8, Type::kTypeInner},
    {Type::kTypeProto, 9, Type::kTypeInner},  {Type::kTypeInner, 1, Type::kTypeProto},
    {Type::kTypeInner, 2, Type::kShape},      {Type::kShape, 1, Type::kFlat},
    {Type::kFunction, 7, Type::kNode},        {Type::kFunction, 9, Type::kFlat},
    {Type::kFunction, 11, Type::kAttribute},  {Type::kTraining, 1, Type::kGraph},
    {Type::kTraining, 2, Type::kGraph},       {Type::kTraining, 3, Type::kFlat},
    {Type::kTraining, 4, Type::kFlat},        {Type::kAnnotation, 2, Type::kFlat},
};

Type TypeOfField(Type parent, int number) {
  for (const Field& f : kFields) {
    if (f.parent == parent && f.number == number) return f.type;
  }
  return Type::kText;
}

constexpr int kMaxMessageDepth = 100;
constexpr int kGraphDepth = 1;  // of the model's graph
// What one parsed element takes, pointer and allocator included. Upper bounds for protobuf 3.21.
constexpr uint64_t kMessageBytes = 256;
constexpr uint64_t kStringBytes = 64;
constexpr uint64_t kNumberBytes = 8;

class Walk {
 public:
  Walk(google::protobuf::io::CodedInputStream& in, uint64_t budget) : in_(in), left_(budget) {}

  bool out_of_budget() const { return out_of_budget_; }
  int64_t nodes() const { return nodes_; }

  // One message of `type` up to the current limit; false when malformed or over budget.
  bool Message(Type type, int depth) {
    if (depth > kMaxMessageDepth) return false;
    while (const uint32_t tag = in_.ReadTag()) {
      const bool delimited = (tag & 7) == WireFormatLite::WIRETYPE_LENGTH_DELIMITED;
      const bool ok = delimited ? Delimited(TypeOfField(type, static_cast<int>(tag >> 3)), depth)
                                : Spend(kNumberBytes) && WireFormatLite::SkipField(&in_, tag);
      if (!ok) return false;
    }
    return in_.ConsumedEntireMessage();
  }

 private:
  bool Delimited(Type type, int depth) {
    uint32_t length = 0;
    if (!in_.ReadVarint32(&length) || length > INT32_MAX) return false;
    // Packed numbers may take one byte each in the file, and eight in memory.
    if (type == Type::kNumbers) return Spend(uint64_t{length} * kNumberBytes) && Skip(length);
    if (type == Type::kText) return Spend(kStringBytes) && Skip(length);
    if (!Spend(kMessageBytes)) return false;
    if (type == Type::kNode && depth == kGraphDepth) ++nodes_;
    const auto limit = in_.PushLimit(static_cast<int>(length));
    if (!Message(type, depth + 1)) return false;
    in_.PopLimit(limit);
    return true;
  }

  bool Skip(uint32_t length) { return in_.Skip(static_cast<int>(length)); }

  bool Spend(uint64_t bytes) {
    out_of_budget_ = bytes > left_;
    if (!out_of_budget_) left_ -= bytes;
    return !out_of_budget_;
  }

  google::protobuf::io::CodedInputStream& in_;
  uint64_t left_;
  bool out_of_budget_ = false;
  int64_t nodes_ = 0;  // of the model's graph, without those of subgraphs and functions
};

}  // namespace

Status CheckParseBudget(int fd, const Budgets& budgets) {
  const int64_t budget = budgets.Of(Budget::kModelBytes);
  Status status;
  {
    google::protobuf::io::FileInputStream file(fd);
    google::protobuf::io::CodedInputStream in(&file);
    Walk walk(in, static_cast<uint64_t>(budget));
    if (!walk.Message(Type::kModel, 0)) {
      status = walk.out_of_budget()
                   ? budgets.Check(Budget::kModelBytes, budget + 1)
                   : Error(Code::kBadModel, "the file is not an ONNX model (malformed protobuf)");
    }
    if (status.ok()) status = budgets.Check(Budget::kNodes, walk.nodes());
    if (file.GetErrno() != 0) {
      status = Error(Code::kIo, "cannot read the model: ", std::strerror(file.GetErrno()));
    }
  }
  if (lseek(fd, 0, SEEK_SET) != 0) {
    return Error(Code::kIo, "cannot rewind the model: ", std::strerror(errno));
  }
  return status;
}

}  // namespace aicf
