// Subjects of each form.
#include "schema/decision.h"

namespace aicf::schema {
namespace {

Subject WithForm(SubjectForm form) {
  Subject s;
  s.form = form;
  return s;
}

}  // namespace

Subject Subject::Step(int step, NodeNames nodes) {
  Subject s = WithForm(SubjectForm::kStep);
  s.step = step;
  s.nodes = std::move(nodes);
  return s;
}

Subject Subject::StepOutput(int step, NodeNames nodes, std::string value) {
  Subject s = Step(step, std::move(nodes));
  s.form = SubjectForm::kStepOutput;
  s.value = std::move(value);
  return s;
}

Subject Subject::Edge(NodeNames producer, NodeNames consumer) {
  Subject s = WithForm(SubjectForm::kEdge);
  s.nodes = std::move(producer);
  s.into = std::move(consumer);
  return s;
}

Subject Subject::Op(std::string op, std::string node) {
  Subject s = WithForm(SubjectForm::kOp);
  s.op = std::move(op);
  s.nodes = {std::move(node)};
  return s;
}

Subject Subject::Of(SubjectForm form, NodeNames nodes) {
  Subject s = WithForm(form);
  s.nodes = std::move(nodes);
  return s;
}

Subject Subject::ValueOf(SubjectForm form, std::string value, NodeNames nodes) {
  Subject s = Of(form, std::move(nodes));
  s.value = std::move(value);
  return s;
}

Subject Subject::Named(SubjectForm form, std::string value, std::string next) {
  Subject s = WithForm(form);
  s.value = std::move(value);
  s.next = std::move(next);
  return s;
}

Subject Subject::Extent(std::string label, int64_t positions) {
  Subject s = Named(SubjectForm::kExtent, std::move(label));
  s.extent = positions;
  return s;
}

}  // namespace aicf::schema
