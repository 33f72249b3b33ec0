// SPDX-License-Identifier: Apache-2.0
#include "circuits/terms/resistive_link.hpp"

#include <utility>

#include "circuits/terms/copies_contrast.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/sums.hpp"

namespace nudge {

template <class S>
ResistiveLink<S>::ResistiveLink(ResistorDrive from, int to, Columns columns, int parameter, const LinearMap<S>& map,
                                double volts)
    : from_(std::move(from)), to_(to), columns_(columns), parameter_(parameter), map_(&map), volts_(volts) {
  NUDGE_EXPECT(map.outputs() == columns.count);
  NUDGE_EXPECT(from_.kind != ResistorDrive::Kind::node || map.inputs() == from_.columns.count);
  NUDGE_EXPECT(from_.kind != ResistorDrive::Kind::rails || map.inputs() == static_cast<Index>(from_.rails.size()));
}

template <class S>
TermTraits ResistiveLink<S>::traits() const {
  TermTraits all{.name = "resistive_link",
                 .conservative = true,
                 .sources = {clamped() ? Term<S>::kInput : from_.node, to_},
                 .targets = {to_},
                 .noisy = map_->noisy()};
  if (!clamped()) all.targets.insert(all.targets.begin(), from_.node);
  return all;
}

template <class S>
bool ResistiveLink<S>::add_load(MatrixRef<S> load) const {
  load.middleCols(columns_.begin, columns_.count) += load_to();
  if (!clamped()) load.middleCols(from_.columns.begin, from_.columns.count) += load_from();
  return true;
}

/// Loads at the nodes that the link ends at: sums of conductances, (1, columns).
template <class S>
Matrix<S> ResistiveLink<S>::load_to() const {
  const WeightSums<S>* kept = map_->traits().sums;
  return kept != nullptr ? kept->of_columns : Matrix<S>(map_->weights().colwise().sum());
}

/// Loads at the nodes or lines that the link starts from: sums of conductances, (1, inputs).
template <class S>
Matrix<S> ResistiveLink<S>::load_from() const {
  const WeightSums<S>* kept = map_->traits().sums;
  return kept != nullptr ? kept->of_rows : Matrix<S>(map_->weights().rowwise().sum().transpose());
}

template <class S>
class ResistiveLink<S>::System final : public TermSystem<S> {
 public:
  System(const ResistiveLink& term, Index rows, Index max_copies)
      : term_(&term),
        rows_(rows),
        inputs_(term.map_->inputs()),
        on_to_(rows * max_copies, term.columns_.count),
        on_from_(term.clamped() ? 0 : rows * max_copies, inputs_),
        x0_(rows, inputs_),
        v0_(rows, term.columns_.count),
        left_(2 * rows + 2, inputs_),
        right_(left_.rows(), term.columns_.count) {
    if (term.from_.kind != ResistorDrive::Kind::rails) return;
    for (Index i = 0; i < inputs_; ++i) {
      x0_.col(i).setConstant(static_cast<S>(term.from_.rails[static_cast<std::size_t>(i)]));
    }
  }

  void bind(const Matrix<S>& input) override {
    using Kind = ResistorDrive::Kind;
    if (term_->from_.kind == Kind::input || term_->from_.kind == Kind::doubled_input) {
      x0_.leftCols(input.cols()) = static_cast<S>(term_->from_.gain) * input;
      if (term_->from_.kind == Kind::doubled_input) x0_.rightCols(input.cols()) = -x0_.leftCols(input.cols());
    }
    known_ = ideal_known_ = affine_given_ = false;
    noisy_ = term_->map_->noisy();
    load_to_ = term_->load_to();
    load_from_known_ = !term_->clamped();  // what is clamped feels no load: only its heat and energy ask for it
    if (load_from_known_) load_from_ = term_->load_from();
  }

  bool add_affine_part(MatrixRef<S> drive, MatrixRef<S> load, ReadContext& read) override {
    if (!term_->map_->plain()) return false;
    const OwnMeter metered(read);
    term_->add_load(load);
    if (term_->clamped()) drive.middleCols(term_->columns_.begin, term_->columns_.count) += clamped_product(read);
    return affine_given_ = true;
  }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int node, Store /*store*/, ReadContext& read) override {
    if (part == Part::nonconservative) return;
    const OwnMeter metered(read);
    const auto acts_on = [node](int end) { return node == kAllNodes || node == end; };
    if (acts_on(term_->to_)) act_on_to(z, S(1), true, !affine_given_, f, read);
    if (!term_->clamped() && acts_on(term_->from_.node)) act_on_from(z, S(1), !affine_given_, f, read);
    if (metered.meter() != nullptr && acts_on(term_->to_)) heat(z, *metered.meter(), read);
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> /*rest*/, ReadContext& read) override {
    if (!term_->clamped()) x0_ = from(z);
    v0_ = to(z);
    force(z, conservative, Part::conservative, kAllNodes, Store::add, read);
  }

  // The force is linear: J is what it makes of a direction, without what is clamped.
  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (part == Part::nonconservative) return;
    const OwnMeter metered(read);
    act_on_to(v, scale, false, true, f, read);
    if (!term_->clamped()) act_on_from(v, scale, true, f, read);
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override { jvp(u, S(1), f, part, read); }

  /// Adds the law; its change since z₀ is J v, which the difference drives.
  void law(NudgedForm form, ConstMatrixRef<S> z, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
           ReadContext& read) override {
    if (drive == NudgedDrive::state || form == NudgedForm::corrected) {
      return TermSystem<S>::law(form, z, v, drive, f, read);
    }
    jvp(v, S(1), f, Part::conservative, read);
  }

  /// Adds the local rule, (a_j − a_i)(x_i − v_j) = x_i a_j + a_i v_j − 1·(v_j a_j) − (x_i a_i)·1: a product for every sample
  /// but for the last two.
  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient, MatrixRef<S> f,
                  ReadContext& read) override {
    const auto a = to(u);
    left_.topRows(rows_) = x0_;
    right_.topRows(rows_) = a;
    left_.row(rows_).setOnes();
    right_.row(rows_) = -v0_.cwiseProduct(a).colwise().sum();
    if (!term_->clamped()) {
      left_.middleRows(rows_ + 1, rows_) = from(u);
      right_.middleRows(rows_ + 1, rows_) = v0_;
      left_.row(2 * rows_ + 1) = -x0_.cwiseProduct(from(u)).colwise().sum();
      right_.row(2 * rows_ + 1).setOnes();
    }
    correlate(term_->clamped() ? rows_ + 1 : 2 * rows_ + 2, scale, sink, read);
    pull_to_input(a, scale, input_gradient, read);
    if (f.size() > 0) vjp(u, f, Part::all, read);
  }

  bool accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink,
                                  ReadContext& read) override {
    if (term_->clamped() && term_->map_->plain()) {
      contrast(z, scales, sink, read);
      return true;
    }
    for (std::size_t k = 0; k < scales.size(); ++k) {
      correlate_energy(z.middleRows(static_cast<Index>(k) * rows_, rows_), scales[k], sink, read);
    }
    return true;
  }

  /// Energy of the conductances that noise-free reads see.
  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& /*read*/) override { return 0.5 * squares(z); }

 private:
  using View = Eigen::Ref<const Matrix<S>, 0, Eigen::OuterStride<>>;

  /// Guard: keeps reads within it from being counted as those of an array between converters.
  class OwnMeter {
   public:
    explicit OwnMeter(ReadContext& read) : read_(read), meter_(std::exchange(read.meter, nullptr)) {}
    ~OwnMeter() { read_.meter = meter_; }
    OwnMeter(const OwnMeter&) = delete;
    OwnMeter& operator=(const OwnMeter&) = delete;
    ReadMeter* meter() const { return meter_; }

   private:
    ReadContext& read_;
    ReadMeter* meter_;
  };

  View to(ConstMatrixRef<S> z) const { return z.middleCols(term_->columns_.begin, term_->columns_.count); }
  /// State of rows that are nodes.
  View from(ConstMatrixRef<S> z) const { return z.middleCols(term_->from_.columns.begin, term_->from_.columns.count); }

  /// Adds −∂E/∂g_ij = x_i v_j − ½ x_i² − ½ v_j² of one copy to the sink.
  void correlate_energy(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink, ReadContext& read) {
    left_.topRows(rows_) = x0_;
    if (!term_->clamped()) left_.topRows(rows_) = from(z);
    right_.topRows(rows_) = to(z);
    left_.row(rows_).setOnes();
    right_.row(rows_) = S(-0.5) * right_.topRows(rows_).cwiseAbs2().colwise().sum();
    left_.row(rows_ + 1) = S(-0.5) * left_.topRows(rows_).cwiseAbs2().colwise().sum();
    right_.row(rows_ + 1).setOnes();
    correlate(rows_ + 2, scale, sink, read);
  }

  /// Adds −∂E/∂g_ij summed over copies that share their row voltages x: x_i Σ s v_j − ½ 1·(Σ s v_j²) − ½ (Σ s)(x_i²)·1, where
  /// Σ s of phases with opposite signs is exactly 0.
  void contrast(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink, ReadContext& read) {
    left_.topRows(rows_) = x0_;
    left_.row(rows_).setOnes();
    const S total = contrast_copies<S>(to(z), scales, right_.topRows(rows_));
    contrast_squares<S>(to(z), scales, rows_, right_.row(rows_));
    right_.row(rows_) *= S(-0.5);
    if (total != S(0)) {
      left_.row(rows_ + 1) = S(-0.5) * x0_.cwiseAbs2().colwise().sum();
      right_.row(rows_ + 1).setConstant(total);
    }
    correlate(rows_ + (total != S(0) ? 2 : 1), S(1), sink, read);
  }

  /// f_v += scale (x G − v ∘ load); without the clamped drive for directions, without both where the circuit has the affine part.
  void act_on_to(ConstMatrixRef<S> z, S scale, bool drive, bool load, MatrixRef<S> f, ReadContext& read) {
    const LinearMap<S>& map = *term_->map_;
    auto out = f.middleCols(term_->columns_.begin, term_->columns_.count);
    auto b = on_to_.topRows(z.rows());
    if (!term_->clamped() && scale == S(1)) {
      map.forward(from(z), out, map.all_columns(), Store::add, read);
    } else if (!term_->clamped()) {
      map.forward(from(z), b, map.all_columns(), Store::assign, read);
      out += scale * b;
    } else if (drive && load) {
      for (Index row = 0; row < z.rows(); row += rows_) out.middleRows(row, rows_) += scale * clamped_product(read);
    }
    if (!load) return;
    if (noisy_) {
      ones_.setOnes(z.rows(), inputs_);
      map.forward(ones_, b, map.all_columns(), Store::assign, read);
      out -= scale * b.cwiseProduct(to(z));
    } else {
      out.array() -= scale * (to(z).array().rowwise() * load_to_.row(0).array());
    }
  }

  /// Adds scale (v Gᵀ − x ∘ load) to f_x.
  void act_on_from(ConstMatrixRef<S> z, S scale, bool load, MatrixRef<S> f, ReadContext& read) {
    const LinearMap<S>& map = *term_->map_;
    auto out = f.middleCols(term_->from_.columns.begin, term_->from_.columns.count);
    auto a = on_from_.topRows(z.rows());
    if (scale == S(1)) {
      map.transposed(to(z), out, map.all_columns(), Store::add, read);
    } else {
      map.transposed(to(z), a, map.all_columns(), Store::assign, read);
      out += scale * a;
    }
    if (!load) return;
    if (noisy_) {
      ones_.setOnes(z.rows(), term_->columns_.count);
      map.transposed(ones_, a, map.all_columns(), Store::assign, read);
      out -= scale * a.cwiseProduct(from(z));
    } else {
      out.array() -= scale * (from(z).array().rowwise() * load_from_.row(0).array());
    }
  }

  /// Product x G of the clamped input: the same in every state, read once per example if reads have no noise.
  const Matrix<S>& clamped_product(ReadContext& read) {
    if (noisy_ || !known_) {
      product_.resize(rows_, term_->columns_.count);
      term_->map_->forward(x0_, product_, term_->map_->all_columns(), Store::assign, read);
      known_ = true;
    }
    return product_;
  }

  void correlate(Index rows, S scale, GradientSink<S>& sink, ReadContext& read) {
    const LinearMap<S>& map = *term_->map_;
    map.correlate(ReadDirection::forward, left_.topRows(rows), right_.topRows(rows), map.all_columns(), scale,
                  term_->parameter_, sink, read);
  }

  /// Adds scale · gain · a Gᵀ to input_gradient, the second half of doubled inputs with the other sign.
  void pull_to_input(ConstMatrixRef<S> a, S scale, MatrixRef<S> input_gradient, ReadContext& read) {
    using Kind = ResistorDrive::Kind;
    const Kind kind = term_->from_.kind;
    if (input_gradient.size() == 0 || (kind != Kind::input && kind != Kind::doubled_input)) return;
    const OwnMeter metered(read);
    pulled_.resize(rows_, inputs_);
    term_->map_->transposed(a, pulled_, term_->map_->all_columns(), Store::assign, read);
    const S gain = scale * static_cast<S>(term_->from_.gain);
    input_gradient += gain * pulled_.leftCols(input_gradient.cols());
    if (kind == Kind::doubled_input) input_gradient -= gain * pulled_.rightCols(input_gradient.cols());
  }

  /// Sum Σ g (x − v)² = Σ x² load + Σ v² load − 2 Σ v (x G) over all copies, of noise-free conductances.
  double squares(ConstMatrixRef<S> z) {
    if (!load_from_known_) load_from_ = term_->load_from();
    load_from_known_ = true;
    double sum = 0;
    for (Index row = 0; row < z.rows(); row += rows_) {
      const View v = to(z).middleRows(row, rows_);
      const View x = term_->clamped() ? View(x0_) : View(from(z).middleRows(row, rows_));
      if (!term_->clamped() || !ideal_known_) {
        ideal_.resize(rows_, v.cols());
        if (term_->clamped() && known_ && !noisy_) {
          ideal_ = product_;
        } else {
          multiply<S>(x, term_->map_->weights(), ideal_);
        }
        ideal_known_ = term_->clamped();
      }
      sum += weighted_squares<S>(x, load_from_) + weighted_squares<S>(v, load_to_) - 2 * inner_product<S>(ideal_, v);
    }
    return sum;
  }

  /// Adds the heat Σ g d² of the resistors for as long as the read lasts.
  void heat(ConstMatrixRef<S> z, ReadMeter& meter, const ReadContext& read) {
    const double unit = term_->map_->traits().unit_heat_J;
    const int times = read.counted();
    if (unit == 0 || times == 0 || read.duration() == 0) return;
    ReadTotals& totals = meter.at(read.kind);
    const double volts = term_->volts_ * term_->volts_;
    totals.array_J += times * unit * volts * squares(z) * read.duration();
    totals.reads += static_cast<std::uint64_t>(times) * static_cast<std::uint64_t>(z.rows());
  }

  const ResistiveLink* term_;
  Index rows_, inputs_;
  Matrix<S> on_to_, on_from_;      ///< working memory of the reads
  Matrix<S> x0_, v0_;              ///< voltages at the point; a clamped input stays in x0_
  Matrix<S> left_, right_;         ///< factors of a correlation
  Matrix<S> load_to_, load_from_;  ///< loads of noise-free reads
  Matrix<S> product_, ones_, pulled_;
  Matrix<S> ideal_;  ///< x G of an energy
  bool known_ = false, ideal_known_ = false, load_from_known_ = false, noisy_ = false, affine_given_ = false;
};

template <class S>
std::unique_ptr<TermSystem<S>> ResistiveLink<S>::make_system(Index rows, Index max_copies) const {
  return std::make_unique<System>(*this, rows, max_copies);
}

NUDGE_BOTH_PRECISIONS_OF(ResistiveLink)

}  // namespace nudge
