#include "compiler/passes/lowered/norm_moments.h"

#include <algorithm>

#include "compiler/ir/views.h"
#include "compiler/passes/lowered/kernel_guard.h"
#include "kernels/abi/raw_dtype.h"

namespace aicf {
namespace {

using abi::ExprOp;
using abi::Problem;
using abi::View;

// Placeholders for buffers that are added to the program only when nothing can fail any more: the
// moments of rows, the moments of parts of rows, constants, and rows multiplied with a gain.
constexpr ir::BufferId kMoments = ~ir::BufferId{0}, kParts = kMoments - 1, kLater = kParts - 1,
                       kGained = kLater - 1;

// Columns of a part: as many neighbouring results as the kernels that store moments of parts have
// at once.
constexpr int64_t kPartColumns = 64;

// A view of the moments of parts, shaped like the product's result `made`, in which every element
// shows the first number of its row. In their buffer a number's rows lie next to each other,
// because neighbouring threads have neighbouring rows.
View RowsOfParts(const View& made) {
  Dims rows = made.shape;
  const int last = rows.rank() - 1;
  rows[last] = 1;
  View view = abi::DenseView(DType::kF32, rows);
  view.shape[last] = made.shape[last];
  view.strides[last] = 0;
  return view;
}

// The view that shows all `numbers` numbers of each row of such a view. The buffer has as many rows
// as `made`, so that the numbers of a row are that far apart.
View PartsOf(View rows, int64_t numbers, const View& made) {
  const int last = rows.shape.rank() - 1;
  rows.shape[last] = numbers;
  rows.strides[last] = abi::ElementsOf(made) / made.shape.back();
  return rows;
}

bool IsAlongLastAxis(const View& v) {
  for (int d = 0; d + 1 < v.shape.rank(); ++d) {
    if (v.shape[d] != 1 && v.strides[d] != 0) return false;
  }
  return true;
}

// An operand with one element for each column of `out`, the same for all rows. It is vector number
// `which` of those that lie one after the other in a buffer.
View ColumnsOf(const View& out, int which) {
  View v = out;
  const int last = v.shape.rank() - 1;
  v.dtype = DType::kF32;
  v.strides = Dims::Filled(v.shape.rank(), 0);
  v.strides[last] = 1;
  v.offset = which * v.shape[last];
  return v;
}

// Whether the step's expression may be that long and have so many operands and results, with `raws`
// raw inputs.
bool FitsLimits(const Problem& p, int raws) {
  return p.epilogue.nodes.size() <= abi::kMaxExprNodes &&
         raws + p.extra_inputs() <= abi::kMaxExprInputs && p.outputs.size() <= abi::kMaxExprResults;
}

}  // namespace

bool IsNormOfRows(const ir::LoweredStep& step) {
  const Problem& p = step.problem;
  if (p.family != abi::Family::kNormalize) return false;
  const auto& a = p.as<abi::NormalizeAttrs>();
  const int last = p.inputs[0].shape.rank() - 1;
  const bool known =
      a.kind == abi::NormalizeKind::kLayerNorm || a.kind == abi::NormalizeKind::kRmsNorm;
  return known && a.axes == Dims{last};
}

bool MultipliesNormOfRows(const ir::LoweredStep& producer, const ir::LoweredStep& consumer) {
  return IsNormOfRows(producer) && consumer.problem.family == abi::Family::kGemm &&
         consumer.inputs[0] == producer.outputs[0];
}

NormMoments::NormMoments(const ir::StepEditor& editor, const PassContext& context, int norm)
    : editor_(editor),
      context_(context),
      at_(norm),
      norm_(editor.step(norm)),
      is_rms_(norm_.problem.as<abi::NormalizeAttrs>().kind == abi::NormalizeKind::kRmsNorm) {}

std::string NormMoments::Check() {
  std::string refusal = CheckNorm();
  if (refusal.empty()) refusal = FindReaders();
  if (!refusal.empty()) return refusal;
  const int producer = FindProducer();
  if (HasGainedRows()) {
    refusal = producer >= 0 ? Form(producer)
                            : "family: no product makes the rows, which could multiply them with "
                              "the gain";
  } else if (producer < 0 || !Form(producer).empty()) {
    refusal = Form(-1);
  }
  return refusal.empty() ? MakeConstants() : refusal;
}

std::string NormMoments::Form(int producer) {
  formed_producer_.reset();
  formed_products_.clear();
  formed_others_.clear();
  std::string refusal = producer >= 0 ? FormProducer(producer) : "";
  if (refusal.empty()) refusal = FormProducts();
  for (size_t i = 0; i < others_.size() && refusal.empty(); ++i) refusal = FormOther(others_[i]);
  return refusal.empty() ? CheckCosts() : refusal;
}

int NormMoments::FindProducer() const {
  const int at = editor_.OnlyWriter(norm_.inputs[0]);
  if (at < 0 || at > at_ || editor_.IsMany(at)) return -1;
  const Problem& p = editor_.step(at).problem;
  if (p.family != abi::Family::kGemm || abi::StoresMoments(p) || abi::StoresParts(p)) return -1;
  if (!CheckProducer(editor_, context_, at, at_).empty()) return -1;
  const View &made = p.outputs[0], &x = norm_.problem.inputs[0];
  const bool whole = made.shape.back() > 0 && made.shape.back() % kPartColumns == 0;
  return whole && HasSameRows(x, made) ? at : -1;
}

std::string NormMoments::FormProducer(int at) {
  Reader producer{at, editor_.step(at)};
  Problem& p = producer.step.problem;
  const View made = p.outputs[0];
  const int64_t numbers = 2 * (made.shape.back() / kPartColumns);
  if (HasGainedRows()) AddGainedRows(made, producer.step);
  std::get<abi::GemmAttrs>(p.attrs).part_columns = kPartColumns;
  p.outputs.push_back(PartsOf(RowsOfParts(made), numbers, made));
  producer.step.outputs.push_back(kParts);
  const bool fits = FitsLimits(p, abi::RawInputs(p));
  formed_producer_ = std::move(producer);
  return fits ? "" : StrCat("limits: the epilogue of ", NamesOf(editor_.step(at)), " is too long");
}

// Makes the rows that a producer makes another result of it, multiplied with the gain.
void NormMoments::AddGainedRows(const View& made, ir::LoweredStep& producer) const {
  Problem& p = producer.problem;
  const auto operand = static_cast<size_t>(affine_.gain);
  View gain = norm_.problem.inputs[operand];
  const int64_t step = gain.strides.back();
  gain.shape = made.shape;
  gain.strides = Dims::Filled(made.shape.rank(), 0);
  gain.strides[made.shape.rank() - 1] = step;
  abi::ExprBuilder b;
  std::vector<uint16_t> values;
  const int raws = abi::RawInputs(p);
  for (int i = 0; i < raws; ++i) values.push_back(b.Input(i, abi::RawDType(p)));
  for (int i = 0; i < p.extra_inputs(); ++i) {
    const View& v = p.inputs[static_cast<size_t>(p.core_inputs + i)];
    values.push_back(b.Input(raws + i, abi::ComputeDType(v.dtype)));
  }
  const uint16_t own = p.epilogue.empty() ? values[0] : b.Inline(p.epilogue, values)[0];
  const uint16_t factor = b.Input(raws + p.extra_inputs(), abi::ComputeDType(gain.dtype));
  p.epilogue = b.Finish({own, b.Binary(ExprOp::kMul, own, factor)});
  p.inputs.push_back(gain);
  producer.inputs.push_back(norm_.inputs[operand]);
  View gained = made;
  gained.dtype = norm_.problem.outputs[0].dtype;
  p.outputs.push_back(gained);
  producer.outputs.push_back(kGained);
}

// Makes the moments of parts, if a producer stores them, core operand 2 of a product that reads
// what the norm reads.
std::string NormMoments::AddParts(ir::LoweredStep& step) const {
  if (!formed_producer_) return "";
  Problem& p = step.problem;
  const Problem& producer = formed_producer_->step.problem;
  const View& made = producer.outputs[0];
  const int64_t numbers = producer.outputs.back().shape.back();
  const auto rows = ir::Remap(p.inputs[0], made, RowsOfParts(made));
  const int last = p.inputs[0].shape.rank() - 1;
  if (!rows || rows->strides[last] != 0) {
    return StrCat("domain: the moments of parts cannot follow the shape of ", NamesOf(step));
  }
  std::get<abi::GemmAttrs>(p.attrs).part_terms = producer.as<abi::GemmAttrs>().part_columns;
  p.inputs.insert(p.inputs.begin() + 2, PartsOf(*rows, numbers, made));
  step.inputs.insert(step.inputs.begin() + 2, kParts);
  p.core_inputs = 3;
  return "";
}

std::string NormMoments::CheckNorm() {
  const Problem& p = norm_.problem;
  if (!p.prologue.empty() || p.core_inputs != 1) return "prologue: the norm computes what it reads";
  if (p.outputs.size() != 1) return StrCat("outputs: the norm has ", p.outputs.size());
  if (p.inputs[0].shape.back() == 0) return "domain: its rows are empty";
  std::string refusal = RefuseEpsilon(p);
  if (!refusal.empty()) return refusal;
  const auto affine = AffineOf(p);
  if (!affine) return "epilogue: the norm does more than multiply with a gain and add a shift";
  affine_ = *affine;
  if (is_rms_ && affine_.shift >= 0) return "epilogue: the norm adds a shift";
  for (const int k : {affine_.gain, affine_.shift}) {
    if (k < 0) continue;
    const auto operand = static_cast<size_t>(k);
    if (!editor_.buffer(norm_.inputs[operand]).constant.has_data() ||
        !IsAlongLastAxis(p.inputs[operand])) {
      return "operand: its gain and shift are no constants, the same for all rows";
    }
  }
  if (is_rms_ && HasGainOfOnes()) affine_.gain = -1;
  // The norm's result is small where its rows are large. A row times the gain may be larger still.
  if (HasGainedRows() && p.outputs[0].dtype == DType::kF16)
    return "range: rows multiplied with the gain may be beyond f16";
  return "";
}

bool NormMoments::HasGainOfOnes() const {
  if (affine_.gain < 0) return false;
  const auto operand = static_cast<size_t>(affine_.gain);
  const std::vector<double> gain =
      LastAxisOf(editor_.buffer(norm_.inputs[operand]), norm_.problem.inputs[operand]);
  return std::ranges::all_of(gain, [](double g) { return g == 1; });
}

std::string NormMoments::FindReaders() {
  const ir::BufferId made = norm_.outputs[0];
  if (editor_.IsCondition(made)) return "loop: its result is a condition";
  for (const int reader : editor_.readers(made)) {
    std::string refusal = CheckReader(reader);
    if (!refusal.empty()) return refusal;
    const bool product = MultipliesNormOfRows(norm_, editor_.step(reader));
    (product ? products_ : others_).push_back(reader);
  }
  if (products_.empty()) return "family: no product reads the norm";
  if (is_rms_ && !others_.empty()) {
    return StrCat("family: ", NamesOf(editor_.step(others_[0])), " reads the norm, too");
  }
  for (const int product : products_) {
    std::string refusal = CheckProduct(product);
    if (!refusal.empty()) return refusal;
  }
  if (!others_.empty() && others_[0] < products_[0]) {
    return StrCat("order: ", NamesOf(editor_.step(others_[0])),
                  " needs the norm before the product that would store its moments");
  }
  return "";
}

std::string NormMoments::CheckReader(int reader) const {
  const ir::LoweredStep& step = editor_.step(reader);
  if (editor_.IsMany(reader)) return "pass: a reader was replaced by several steps";
  std::string refusal = CheckProducer(editor_, context_, at_, reader);
  if (!refusal.empty()) return refusal;
  const bool elementwise = IsElementwise(step), epilogue = HasEpilogue(step);
  const bool product = MultipliesNormOfRows(norm_, step);
  for (size_t k = 0; k < step.inputs.size(); ++k) {
    if (step.inputs[k] != norm_.outputs[0] || (product && k == 0)) continue;
    const bool extra = k >= static_cast<size_t>(step.problem.core_inputs);
    if (!elementwise && (!epilogue || !extra)) {
      return StrCat("family: ", NamesOf(step), ", a ", abi::FamilyName(step.problem.family),
                    ", reads the norm as operand ", k);
    }
    if (product) return StrCat("operand: ", NamesOf(step), " reads the norm in other places, too");
  }
  return "";
}

std::string NormMoments::CheckProduct(int reader) const {
  const ir::LoweredStep& step = editor_.step(reader);
  const Problem& p = step.problem;
  if (SeesMoments(p) || NormalizesRows(p) || HasBlockScales(p)) {
    return StrCat("operand: ", NamesOf(step), " does something with its rows already");
  }
  const View &x = norm_.problem.inputs[0], &b = p.inputs[1];
  if (!HasGainedRows() && x.dtype != b.dtype) {
    return StrCat("dtype: the norm reads ", DTypeName(x.dtype), ", the weights of ", NamesOf(step),
                  " are ", DTypeName(b.dtype));
  }
  if (!is_rms_) {
    const std::string weights = ScaledWeights::Refusal(editor_.buffer(step.inputs[1]), b);
    if (!weights.empty()) return weights;
  }
  if (!HasSameRows(p.inputs[0], norm_.problem.outputs[0])) {
    return StrCat("domain: the rows of ", NamesOf(step), " are not the norm's");
  }
  if (!ir::Remap(p.inputs[0], norm_.problem.outputs[0], x)) {
    return StrCat("domain: the norm's operand cannot follow the shape of ", NamesOf(step));
  }
  return "";
}

View NormMoments::MomentView(int which) const {
  Dims shape = norm_.problem.outputs[0].shape;
  const int last = shape.rank() - 1;
  const int64_t length = shape[last];
  shape[last] = 2;
  View view = abi::DenseView(DType::kF32, shape);
  view.shape[last] = length;
  view.strides[last] = 0;
  view.offset = which;
  return view;
}

// Puts the end of the norm in front of a product's epilogue. New extra operands come before the
// product's own: for each sum (a product of halves has two) the vector that the mean is multiplied
// with and, where the norm has a shift, the vector that is added.
std::string NormMoments::AddEpilogue(ir::LoweredStep& step) const {
  Problem& p = step.problem;
  const int sums = abi::SumInputs(p), of_sum = affine_.shift >= 0 ? 2 : 1, raws = sums + 2;
  abi::ExprBuilder b;
  const auto input = [&](int i) { return b.Input(i, DType::kF32); };
  const uint16_t mean = b.Unary(ExprOp::kNeg, input(sums)), scale = input(sums + 1);
  std::vector<uint16_t> values;
  std::vector<View> views;
  for (int s = 0; s < sums; ++s) {
    const int first = raws + s * of_sum;
    // Each node is made by a statement of its own, so that the C++ compiler does not choose their
    // order.
    const uint16_t own = input(s), weight = input(first);
    const uint16_t centred = b.Fma(mean, weight, own);
    values.push_back(of_sum > 1 ? b.Fma(centred, scale, input(first + 1))
                                : b.Binary(ExprOp::kMul, centred, scale));
    views.resize(views.size() + static_cast<size_t>(of_sum), ColumnsOf(p.outputs[0], s));
  }
  const int own = raws + static_cast<int>(views.size());
  for (int k = 0; k < p.extra_inputs(); ++k) {
    const View& v = p.inputs[static_cast<size_t>(p.core_inputs + k)];
    values.push_back(b.Input(own + k, abi::ComputeDType(v.dtype)));
  }
  p.epilogue = b.Finish(p.epilogue.empty() ? std::vector<uint16_t>{values[0]}
                                           : b.Inline(p.epilogue, values));
  p.inputs.insert(p.inputs.begin() + p.core_inputs, views.begin(), views.end());
  step.inputs.insert(step.inputs.begin() + p.core_inputs, views.size(), kLater);
  return FitsLimits(p, raws) ? ""
                             : StrCat("limits: the epilogue of ", NamesOf(step), " is too long");
}

// The same for a norm by the root mean square, whose gain is in the rows: each sum is multiplied
// with the scale, and that is made of mean and scale.
std::string NormMoments::AddRootMeanSquare(ir::LoweredStep& step) const {
  Problem& p = step.problem;
  const int sums = abi::SumInputs(p), raws = sums + 2;
  abi::ExprBuilder b;
  const uint16_t mean = b.Input(sums, DType::kF32), scale = b.Input(sums + 1, DType::kF32);
  const uint16_t spread = b.Unary(ExprOp::kRecip, b.Binary(ExprOp::kMul, scale, scale));
  const uint16_t own_scale = b.Unary(ExprOp::kRsqrt, b.Fma(mean, mean, spread));
  std::vector<uint16_t> values;
  for (int s = 0; s < sums; ++s) {
    const uint16_t sum = b.Input(s, DType::kF32);
    values.push_back(b.Binary(ExprOp::kMul, sum, own_scale));
  }
  for (int k = 0; k < p.extra_inputs(); ++k) {
    const View& v = p.inputs[static_cast<size_t>(p.core_inputs + k)];
    values.push_back(b.Input(raws + k, abi::ComputeDType(v.dtype)));
  }
  p.epilogue = b.Finish(p.epilogue.empty() ? std::vector<uint16_t>{values[0]}
                                           : b.Inline(p.epilogue, values));
  return FitsLimits(p, raws) ? ""
                             : StrCat("limits: the epilogue of ", NamesOf(step), " is too long");
}

std::string NormMoments::AddStoredMoments(const View& a, ir::LoweredStep& step) const {
  Problem& p = step.problem;
  const auto rows = ir::Remap(a, norm_.problem.outputs[0], MomentView(0));
  if (!rows) return StrCat("domain: the moments cannot follow the shape of ", NamesOf(step));
  View stored = *rows;
  stored.shape[stored.shape.rank() - 1] = 2;
  stored.strides[stored.shape.rank() - 1] = 1;
  std::get<abi::GemmAttrs>(p.attrs).stores_moments = 1;
  p.outputs.push_back(stored);
  step.outputs.push_back(kMoments);
  return p.outputs.size() <= abi::kMaxExprResults
             ? ""
             : StrCat("limits: ", NamesOf(step), " has no room for another output");
}

std::string NormMoments::FormProducts() {
  for (const int at : products_) {
    Reader reader{at, editor_.step(at)};
    ir::LoweredStep& step = reader.step;
    Problem& p = step.problem;
    const View a = p.inputs[0];
    step.sources = JoinedSources(norm_.sources, step.sources);
    p.inputs[0] = *ir::Remap(a, norm_.problem.outputs[0], norm_.problem.inputs[0]);
    step.inputs[0] = norm_.inputs[0];
    std::string refusal = AddParts(step);
    if (HasGainedRows()) {
      p.inputs[0].dtype = a.dtype;
      step.inputs[0] = kGained;
    }
    if (refusal.empty()) refusal = is_rms_ ? AddRootMeanSquare(step) : AddEpilogue(step);
    std::get<abi::GemmAttrs>(p.attrs).moments_epsilon =
        norm_.problem.as<abi::NormalizeAttrs>().epsilon;
    const bool stores = at == products_[0] && !others_.empty();
    if (refusal.empty() && stores) refusal = AddStoredMoments(a, step);
    if (!refusal.empty()) return refusal;
    formed_products_.push_back(std::move(reader));
  }
  return "";
}

// The norm's value, computed from the moments, at the elements that view `read` of another step
// shows; nullopt where the norm's operands cannot be viewed so.
std::optional<uint16_t> NormMoments::ValueAt(const View& read, OperandExpr& expr) const {
  const Problem& p = norm_.problem;
  const auto load = [&](ir::BufferId buffer, const View& to) -> std::optional<uint16_t> {
    const auto view = ir::Remap(read, p.outputs[0], to);
    return view ? std::optional(expr.Load({buffer, *view})) : std::nullopt;
  };
  const auto x = load(norm_.inputs[0], p.inputs[0]);
  const auto mean = load(kMoments, MomentView(0)), scale = load(kMoments, MomentView(1));
  if (!x || !mean || !scale) return std::nullopt;
  abi::ExprBuilder& b = expr.builder();
  std::vector<uint16_t> values = {
      b.Binary(ExprOp::kMul, b.Binary(ExprOp::kSub, *x, *mean), *scale)};
  for (size_t k = 1; k < norm_.inputs.size(); ++k) {
    const auto extra = load(norm_.inputs[k], p.inputs[k]);
    if (!extra) return std::nullopt;
    values.push_back(*extra);
  }
  return p.epilogue.empty() ? values[0] : b.Inline(p.epilogue, values)[0];
}

std::string NormMoments::FormOther(int at) {
  const ir::LoweredStep& from = editor_.step(at);
  const Problem& p = from.problem;
  const bool elementwise = IsElementwise(from);
  const auto cores = static_cast<size_t>(elementwise ? 0 : p.core_inputs);
  OperandExpr expr(RawInputs(p));
  std::vector<uint16_t> values;
  for (int r = 0; r < RawInputs(p); ++r) values.push_back(expr.Raw(RawDType(p), r));
  for (size_t k = cores; k < from.inputs.size(); ++k) {
    const bool reads = from.inputs[k] == norm_.outputs[0];
    const auto value = reads ? ValueAt(p.inputs[k], expr)
                             : std::optional(expr.Load({from.inputs[k], p.inputs[k]}));
    if (!value) return StrCat("domain: the norm cannot follow the shape of ", NamesOf(from));
    values.push_back(*value);
  }
  Reader reader{at, from};
  Problem& q = reader.step.problem;
  q.epilogue = expr.Finish(expr.builder().Inline(p.epilogue, values));
  if (q.epilogue.nodes.size() > abi::kMaxExprNodes || expr.input_count() > abi::kMaxExprInputs) {
    return StrCat("limits: the epilogue of ", NamesOf(from), " is too long");
  }
  q.inputs.resize(cores);
  reader.step.inputs.resize(cores);
  AppendOperands(expr.operands(), q, reader.step.inputs);
  if (elementwise) q.core_inputs = static_cast<int>(q.inputs.size());
  formed_others_.push_back(std::move(reader));
  return "";
}

std::string NormMoments::CheckCosts() {
  // A norm between products begins while the product before it ends, and its rows are in the cache:
  // 1.3 us were measured on an H100 where 1.6 are predicted.
  constexpr double kOverlapUs = 0.32;
  std::string refusal;
  const auto norm_us = PredictedUs(norm_.problem, context_.device, &refusal);
  double one = 0, two = std::max(0.0, norm_us.value_or(0) - kOverlapUs);
  bool all_known = norm_us.has_value();
  std::vector<Reader> producers;
  if (formed_producer_) producers.push_back(*formed_producer_);
  for (const std::vector<Reader>* readers : {&producers, &formed_products_, &formed_others_}) {
    for (const Reader& reader : *readers) {
      const Problem& before = editor_.step(reader.at).problem;
      const std::string lost = LosesKernel(before, reader.step.problem, context_.device);
      if (!lost.empty()) return lost;
      const auto forms = FormsByOneKernel(before, reader.step.problem, context_, &refusal);
      if (!refusal.empty()) return refusal;
      all_known = all_known && forms;
      one += forms ? forms->after_us : 0;
      two += forms ? forms->before_us : 0;
    }
  }
  if (!all_known) return "";
  costs_ = {one, two};
  return one < two ? "" : "cost: the norm as a step of its own is predicted to be faster";
}

std::string NormMoments::MakeConstants() {
  const auto along = [&](int k) -> std::vector<double> {
    if (k < 0) return {};
    const auto operand = static_cast<size_t>(k);
    return LastAxisOf(editor_.buffer(norm_.inputs[operand]), norm_.problem.inputs[operand]);
  };
  if (is_rms_) return "";
  const std::vector<double> gain = along(affine_.gain), shift = along(affine_.shift);
  for (const Reader& reader : formed_products_) {
    const ir::LoweredStep& step = reader.step;
    weights_.emplace_back(editor_.buffer(step.inputs[1]), step.problem.inputs[1], gain, shift);
    if (!weights_.back().refusal().empty()) return weights_.back().refusal();
  }
  return "";
}

void NormMoments::GiveConstants(ir::StepEditor& editor, const ScaledWeights& weights,
                                ir::LoweredStep& step) const {
  const auto first = static_cast<size_t>(step.problem.core_inputs);
  const size_t of_sum = affine_.shift >= 0 ? 2 : 1;
  const auto sums = static_cast<size_t>(abi::SumInputs(step.problem));
  if (affine_.gain >= 0) step.inputs[1] = editor.AddBuffer(weights.weights());
  const ir::BufferId of_means = editor.AddBuffer(weights.sums());
  const ir::BufferId added = of_sum > 1 ? editor.AddBuffer(weights.shifted()) : of_means;
  for (size_t s = 0; s < sums; ++s) {
    step.inputs[first + s * of_sum] = of_means;
    step.inputs[first + s * of_sum + of_sum - 1] = of_sum > 1 ? added : of_means;
  }
}

void NormMoments::ApplyProducer(ir::StepEditor& editor) {
  if (!formed_producer_) return;
  ir::LoweredStep& producer = formed_producer_->step;
  ir::LoweredBuffer parts;
  parts.name = StrCat(editor.buffer(norm_.inputs[0]).name, " moments");
  parts.shape = producer.problem.outputs.back().shape;
  const ir::BufferId id = editor.AddBuffer(std::move(parts));
  std::ranges::replace(producer.outputs, kParts, id);
  for (Reader& reader : formed_products_) std::ranges::replace(reader.step.inputs, kParts, id);
  if (HasGainedRows()) {
    ir::LoweredBuffer gained;
    gained.name = StrCat(editor.buffer(norm_.inputs[0]).name, " with gain");
    gained.dtype = norm_.problem.outputs[0].dtype;
    gained.shape = editor.buffer(norm_.inputs[0]).shape;
    const ir::BufferId rows = editor.AddBuffer(std::move(gained));
    std::ranges::replace(producer.outputs, kGained, rows);
    for (Reader& reader : formed_products_) std::ranges::replace(reader.step.inputs, kGained, rows);
  }
  editor.Replace(formed_producer_->at, std::move(producer));
}

void NormMoments::Apply(ir::StepEditor& editor) {
  ApplyProducer(editor);
  for (size_t i = 0; i < formed_products_.size() && !is_rms_; ++i)
    GiveConstants(editor, weights_[i], formed_products_[i].step);
  if (!others_.empty()) {
    ir::LoweredBuffer moments;
    moments.name = StrCat(editor.buffer(norm_.outputs[0]).name, " moments");
    moments.shape = norm_.problem.outputs[0].shape;
    moments.shape[moments.shape.rank() - 1] = 2;
    const ir::BufferId id = editor.AddBuffer(std::move(moments));
    std::ranges::replace(formed_products_[0].step.outputs, kMoments, id);
    for (Reader& reader : formed_others_) std::ranges::replace(reader.step.inputs, kMoments, id);
  }
  for (std::vector<Reader>* readers : {&formed_products_, &formed_others_}) {
    for (Reader& reader : *readers) editor.Replace(reader.at, std::move(reader.step));
  }
  editor.Erase(at_);
}

}  // namespace aicf
