#include "tests/fuzz/onnx_mutation.h"

#include <google/protobuf/message.h>
#include <google/protobuf/stubs/logging.h>
#include <onnx_reflected.pb.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <vector>

#include "tests/faults/artifacts/random.h"
#include "tests/fuzz/parts.h"
#include "tests/fuzz/target.h"

namespace aicf::fuzz {
namespace {

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;
using hostile::Random;

struct Place {
  Message* message;
  const FieldDescriptor* field;
};

/// Every message of the model, outer ones first.
void Collect(Message* message, std::vector<Message*>& all) {
  all.push_back(message);
  const Reflection* r = message->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  r->ListFields(*message, &fields);
  for (const FieldDescriptor* f : fields) {
    if (f->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
    if (!f->is_repeated()) {
      Collect(r->MutableMessage(message, f), all);
      continue;
    }
    for (int i = 0; i < r->FieldSize(*message, f); ++i) {
      Collect(r->MutableRepeatedMessage(message, f, i), all);
    }
  }
}

int64_t WildInteger(int64_t now, Random& random) {
  constexpr int64_t kMin = std::numeric_limits<int64_t>::min();
  constexpr int64_t kMax = std::numeric_limits<int64_t>::max();
  constexpr int64_t kWild[] = {kMin,
                               kMin + 1,
                               -(int64_t{1} << 32),
                               -2,
                               -1,
                               0,
                               1,
                               2,
                               3,
                               4,
                               7,
                               8,
                               16,
                               255,
                               65535,
                               1 << 20,
                               1 << 30,
                               int64_t{1} << 31,
                               int64_t{1} << 32,
                               int64_t{1} << 62,
                               kMax - 1,
                               kMax};
  const size_t way = random.Below(100);
  if (way < 40) return static_cast<int64_t>(static_cast<uint64_t>(now) + random.Below(5) - 2);
  if (way < 70) return static_cast<int64_t>(random.Below(20));
  return kWild[random.Below(std::size(kWild))];
}

double WildReal(double now, Random& random) {
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const double wild[] = {0,
                         -0.0,
                         1,
                         -1,
                         0.5,
                         1e-40,
                         1e300,
                         -1e300,
                         kInf,
                         -kInf,
                         std::numeric_limits<double>::quiet_NaN()};
  return random.Chance(30) ? now * 2 : wild[random.Below(std::size(wild))];
}

/// A text of a message of the same type elsewhere: names that fit, ops that are known.
std::string TextElsewhere(const std::vector<Message*>& all, const FieldDescriptor* field,
                          Random& random) {
  std::vector<std::string> found;
  for (const Message* m : all) {
    std::vector<const FieldDescriptor*> fields;
    m->GetReflection()->ListFields(*m, &fields);
    for (const FieldDescriptor* f : fields) {
      if (f->cpp_type() != FieldDescriptor::CPPTYPE_STRING) continue;
      if (f->name() == "raw_data" || f->name() == "doc_string") continue;
      const bool named = f->name() == field->name();
      if (!named && !random.Chance(30)) continue;
      if (!f->is_repeated()) {
        found.push_back(m->GetReflection()->GetString(*m, f));
        continue;
      }
      for (int i = 0; i < m->GetReflection()->FieldSize(*m, f); ++i) {
        found.push_back(m->GetReflection()->GetRepeatedString(*m, f, i));
      }
    }
  }
  return found.empty() ? std::string() : found[random.Below(found.size())];
}

constexpr const char* kOps[] = {"Add",
                                "Mul",
                                "MatMul",
                                "Conv",
                                "ConvTranspose",
                                "Gemm",
                                "Relu",
                                "Softmax",
                                "Reshape",
                                "Slice",
                                "Concat",
                                "Transpose",
                                "Gather",
                                "GatherND",
                                "ScatterND",
                                "ScatterElements",
                                "Resize",
                                "Pad",
                                "Loop",
                                "If",
                                "Scan",
                                "Constant",
                                "ConstantOfShape",
                                "Shape",
                                "Range",
                                "Expand",
                                "Tile",
                                "Split",
                                "ReduceSum",
                                "ReduceMax",
                                "TopK",
                                "NonZero",
                                "NonMaxSuppression",
                                "LSTM",
                                "GRU",
                                "RNN",
                                "Einsum",
                                "OneHot",
                                "CumSum",
                                "Where",
                                "Cast",
                                "QuantizeLinear",
                                "DequantizeLinear",
                                "QLinearConv",
                                "MaxPool",
                                "AveragePool",
                                "MaxUnpool",
                                "RoiAlign",
                                "GridSample",
                                "DeformConv",
                                "Attention",
                                "LayerNormalization",
                                "InstanceNormalization",
                                "BatchNormalization",
                                "Squeeze",
                                "Unsqueeze",
                                "Flatten",
                                "DepthToSpace",
                                "SpaceToDepth",
                                "Dropout",
                                "Clip",
                                "Trilu",
                                "Mod",
                                "BitShift",
                                "EyeLike",
                                "ReverseSequence",
                                "Col2Im",
                                "DFT",
                                "STFT",
                                "MelWeightMatrix",
                                "Sum",
                                "Mean",
                                "Max"};

std::string WildText(const std::vector<Message*>& all, const FieldDescriptor* field,
                     const std::string& now, Random& random) {
  if (field->name() == "op_type" && random.Chance(70)) return kOps[random.Below(std::size(kOps))];
  if (random.Chance(60)) return TextElsewhere(all, field, random);
  if (random.Chance(20)) return {};
  std::string text = now;
  MutateString(text, std::min<size_t>(text.size() + 16, 4096));
  return text;
}

void SetOne(const std::vector<Message*>& all, Place p, Random& random) {
  const Reflection* r = p.message->GetReflection();
  const FieldDescriptor* f = p.field;
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r->SetInt32(p.message, f,
                         static_cast<int32_t>(WildInteger(r->GetInt32(*p.message, f), random)));
    case FieldDescriptor::CPPTYPE_INT64:
      return r->SetInt64(p.message, f, WildInteger(r->GetInt64(*p.message, f), random));
    case FieldDescriptor::CPPTYPE_UINT64:
      return r->SetUInt64(p.message, f, random.Bits());
    case FieldDescriptor::CPPTYPE_FLOAT:
      return r->SetFloat(p.message, f,
                         static_cast<float>(WildReal(r->GetFloat(*p.message, f), random)));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r->SetDouble(p.message, f, WildReal(r->GetDouble(*p.message, f), random));
    case FieldDescriptor::CPPTYPE_ENUM:
      return r->SetEnumValue(p.message, f, static_cast<int>(random.Below(24)));
    case FieldDescriptor::CPPTYPE_STRING:
      return r->SetString(p.message, f, WildText(all, f, r->GetString(*p.message, f), random));
    case FieldDescriptor::CPPTYPE_MESSAGE:
      (void)r->MutableMessage(p.message, f);
      return;
    default:
      return;
  }
}

void SetElement(const std::vector<Message*>& all, Place p, int i, Random& random) {
  const Reflection* r = p.message->GetReflection();
  const FieldDescriptor* f = p.field;
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r->SetRepeatedInt32(
          p.message, f, i,
          static_cast<int32_t>(WildInteger(r->GetRepeatedInt32(*p.message, f, i), random)));
    case FieldDescriptor::CPPTYPE_INT64:
      return r->SetRepeatedInt64(p.message, f, i,
                                 WildInteger(r->GetRepeatedInt64(*p.message, f, i), random));
    case FieldDescriptor::CPPTYPE_UINT64:
      return r->SetRepeatedUInt64(p.message, f, i, random.Bits());
    case FieldDescriptor::CPPTYPE_FLOAT:
      return r->SetRepeatedFloat(
          p.message, f, i,
          static_cast<float>(WildReal(r->GetRepeatedFloat(*p.message, f, i), random)));
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r->SetRepeatedDouble(p.message, f, i,
                                  WildReal(r->GetRepeatedDouble(*p.message, f, i), random));
    case FieldDescriptor::CPPTYPE_STRING:
      return r->SetRepeatedString(p.message, f, i,
                                  WildText(all, f, r->GetRepeatedString(*p.message, f, i), random));
    default:
      return;
  }
}

void AddElement(const std::vector<Message*>& all, Place p, Random& random) {
  const Reflection* r = p.message->GetReflection();
  const FieldDescriptor* f = p.field;
  const int size = r->FieldSize(*p.message, f);
  const bool copy = size > 0 && random.Chance(70);
  const int from = copy ? static_cast<int>(random.Below(static_cast<size_t>(size))) : 0;
  switch (f->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
      return r->AddInt32(p.message, f, copy ? r->GetRepeatedInt32(*p.message, f, from) : 1);
    case FieldDescriptor::CPPTYPE_INT64:
      return r->AddInt64(p.message, f, copy ? r->GetRepeatedInt64(*p.message, f, from) : 1);
    case FieldDescriptor::CPPTYPE_UINT64:
      return r->AddUInt64(p.message, f, 1);
    case FieldDescriptor::CPPTYPE_FLOAT:
      return r->AddFloat(p.message, f, copy ? r->GetRepeatedFloat(*p.message, f, from) : 1);
    case FieldDescriptor::CPPTYPE_DOUBLE:
      return r->AddDouble(p.message, f, copy ? r->GetRepeatedDouble(*p.message, f, from) : 1);
    case FieldDescriptor::CPPTYPE_STRING:
      return r->AddString(p.message, f, TextElsewhere(all, f, random));
    case FieldDescriptor::CPPTYPE_MESSAGE: {
      const std::unique_ptr<Message> copied(copy ? r->GetRepeatedMessage(*p.message, f, from).New()
                                                 : nullptr);
      if (copied != nullptr) copied->CopyFrom(r->GetRepeatedMessage(*p.message, f, from));
      Message* added = r->AddMessage(p.message, f);
      if (copied != nullptr) added->CopyFrom(*copied);
      return;
    }
    default:
      return;
  }
}

void ChangeRepeated(const std::vector<Message*>& all, Place p, Random& random) {
  const Reflection* r = p.message->GetReflection();
  const int size = r->FieldSize(*p.message, p.field);
  const size_t way = random.Below(100);
  if (size == 0 || way < 25) return AddElement(all, p, random);
  const auto pick = [&] { return static_cast<int>(random.Below(static_cast<size_t>(size))); };
  if (way < 45) return r->SwapElements(p.message, p.field, pick(), pick());
  if (way < 60) {
    r->SwapElements(p.message, p.field, pick(), size - 1);
    return r->RemoveLast(p.message, p.field);
  }
  SetElement(all, p, pick(), random);
}

/// A message takes the contents of another one of its type.
void CopyFromElsewhere(const std::vector<Message*>& all, Message* to, Random& random) {
  const Message* from = all[random.Below(all.size())];
  if (from->GetDescriptor() != to->GetDescriptor() || from == to) return;
  const std::unique_ptr<Message> copy(from->New());
  copy->CopyFrom(*from);
  to->CopyFrom(*copy);
}

/// The message that is changed: seldom one of bookkeeping, often a node, its attributes, a tensor.
Message* Pick(const std::vector<Message*>& all, Random& random) {
  for (int i = 0; i < 4; ++i) {
    Message* m = all[random.Below(all.size())];
    const std::string& type = m->GetDescriptor()->name();
    if (type != "StringStringEntryProto" && type != "OperatorSetIdProto") return m;
  }
  return all[random.Below(all.size())];
}

void ChangeOnce(onnx_reflected::ModelProto& model, Random& random) {
  std::vector<Message*> all;
  Collect(&model, all);
  Message* m = Pick(all, random);
  if (random.Chance(10)) return CopyFromElsewhere(all, m, random);
  const Reflection* r = m->GetReflection();
  std::vector<const FieldDescriptor*> fields;
  r->ListFields(*m, &fields);
  if (fields.empty() || random.Chance(10)) {
    const auto* descriptor = m->GetDescriptor();
    const auto count = static_cast<size_t>(descriptor->field_count());
    fields = {descriptor->field(static_cast<int>(random.Below(count)))};
  }
  const Place place{m, fields[random.Below(fields.size())]};
  if (place.field->name() == "raw_data" && random.Chance(80)) {
    std::string bytes = r->GetString(*m, place.field);
    MutateString(bytes, random.Chance(80) ? bytes.size() : bytes.size() + 8);
    return r->SetString(m, place.field, bytes);
  }
  if (random.Chance(8)) return r->ClearField(m, place.field);
  if (place.field->is_repeated()) return ChangeRepeated(all, place, random);
  SetOne(all, place, random);
}

}  // namespace

void MutateOnnxString(std::string& bytes, size_t room, uint64_t seed) {
  Random random(seed);
  const google::protobuf::LogSilencer silence;
  onnx_reflected::ModelProto model;
  if (random.Chance(10) || !model.ParseFromString(bytes)) return MutateString(bytes, room);
  const size_t changes = random.Chance(60) ? 1 : 1 + random.Below(4);
  for (size_t i = 0; i < changes; ++i) ChangeOnce(model, random);
  std::string changed;
  if (model.ByteSizeLong() <= room && model.SerializeToString(&changed)) bytes = std::move(changed);
}

size_t MutateOnnx(uint8_t* data, size_t size, size_t room, uint64_t seed) {
  std::string bytes(reinterpret_cast<const char*>(data), size);
  MutateOnnxString(bytes, room, seed);
  return Replace(data, size, room, bytes);
}

}  // namespace aicf::fuzz
