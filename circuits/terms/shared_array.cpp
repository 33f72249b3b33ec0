// SPDX-License-Identifier: Apache-2.0
// The terms of a shared array evaluated together: forces, derivatives, correlations, and the laws of the nudged phase.
#include "circuits/terms/shared_array.hpp"

#include <algorithm>

#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
SharedArray<S>::SharedArray(int node, Columns at, int parameter, const LinearMap<S>& input)
    : node_(node), at_(at), parameter_(parameter), input_(&input) {
  NUDGE_EXPECT(input.inputs() == at.count);
}

template <class S>
void SharedArray<S>::place(Columns columns, std::unique_ptr<Term<S>> term) {
  TermTraits traits = term->traits();
  NUDGE_EXPECT(traits.conservative != traits.nonconservative && traits.sources == std::vector{kProjections} &&
               traits.targets.size() == 1);
  const bool returns = traits.targets.front() == kProjections;
  NUDGE_EXPECT(traits.conservative || !returns);  // F and Jᵀ v would share its columns of g
  NUDGE_EXPECT(traits.assigns || !returns);       // nobody else writes there: it spares a pass
  NUDGE_EXPECT(placed_.size() < 2 || placed_.back().traits.conservative == traits.conservative ||
               placed_.front().traits.conservative == placed_.back().traits.conservative);
  width_ = columns.end();
  NUDGE_EXPECT(width_ <= input_->outputs());
  placed_.push_back({std::move(term), columns, std::move(traits), returns});
}

template <class S>
TermTraits SharedArray<S>::traits() const {
  TermTraits all{.name = "shared_array",
                 .sources = {node_},
                 .targets = {node_},
                 .noisy = input_->noisy(),
                 .keeps_points = input_->plain()};
  for (const Placed& one : placed_) {
    const TermTraits now = one.term->traits();
    all.conservative = all.conservative || now.conservative;
    all.nonconservative = all.nonconservative || now.nonconservative;
    all.noisy = all.noisy || now.noisy;
    all.keeps_points = all.keeps_points && now.keeps_points;
    if (now.conservative && !one.returns) all.takes_difference = false;  // it is not stored at z₀
  }
  return all;
}

namespace {

/// Number of columns to store for a matrix of so many columns: rows that are whole KiB apart would meet in few sets of the first cache.
template <class S>
Index stored_columns(Index columns) {
  constexpr auto size = static_cast<Index>(sizeof(S));
  return columns * size % 1024 == 0 ? columns + 64 / size : columns;
}

}  // namespace

/// Array for one thread. The cached point z₀: its projections h₀ in x0_, its returns through the array in y0_, the terms' own
/// caches in their systems.
template <class S>
class SharedArray<S>::System final : public TermSystem<S>, public LayerEnergy<S> {
 public:
  System(const SharedArray& array, Index rows, Index max_copies)
      : array_(&array),
        rows_(rows),
        columns_(array.at().count + array.input().outputs()),
        x_(Matrix<S>::Zero(max_copies * rows, stored_columns<S>(columns_))),
        dx_(x_),
        y_(x_),
        z0_(rows, array.at().count),
        x0_(Matrix<S>::Zero(rows, x_.cols())),
        y0_(x0_) {
    for (const Placed& placed : array.terms()) systems_.push_back(placed.term->make_system(rows, max_copies));
  }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& read) override {
    NUDGE_EXPECT(z.rows() % rows_ == 0 && z.rows() <= x_.rows());
    const Columns columns = driven(part);
    if (columns.count == 0) return;
    auto x = top(x_, z.rows());
    auto y = blank(z.rows(), {});
    array_->input().forward(own(z), projections(x, columns), columns, Store::assign, read);
    for (std::size_t i = 0; i < systems_.size(); ++i) {
      if (array_->terms()[i].in(part)) force_of(i, x, y, read);
    }
    auto f_own = own(f);
    f_own += state(y);
    const Columns back = returning(part);
    if (back.count > 0) array_->input().transposed(projections(y, back), f_own, back, Store::add, read);
  }
  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& read) override {
    NUDGE_EXPECT(z.rows() == rows_);
    const LinearMap<S>& input = array_->input();
    z0_ = own(z);
    y0_.setZero();
    input.forward(z0_, projections(x0_, input.all_columns()), input.all_columns(), Store::assign, read);
    for (std::size_t i = 0; i < systems_.size(); ++i) {
      systems_[i]->linearize(x0_, y0_, y0_, read);
      if (array_->terms()[i].returns) continue;
      auto f = own(array_->terms()[i].traits.conservative ? conservative : rest);
      f += state(y0_);
      state(y0_).setZero();
    }
    const Columns back = returning(Part::conservative);
    if (back.count > 0) input.transposed(projections(y0_, back), own(conservative), back, Store::add, read);
  }
  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) override {
    const Columns columns = driven(part);
    if (columns.count == 0) return;
    const Columns back = returning(part);
    auto dx = top(dx_, v.rows());
    auto y = blank(v.rows(), back);
    array_->input().derivative(ReadDirection::forward, Derivative::jvp, z0_, own(v), projections(dx, columns), columns,
                               Store::assign, read);
    for (std::size_t i = 0; i < systems_.size(); ++i) {
      if (array_->terms()[i].in(part)) systems_[i]->jvp(dx, scale, y, part, read);
    }
    auto f_own = own(f);
    f_own += state(y);
    if (back.count == 0) return;
    array_->input().derivative(ReadDirection::transposed, Derivative::jvp, projections(y0_, back), projections(y, back),
                               f_own, back, Store::add, read);
  }
  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override {
    const Columns columns = driven(part);
    if (columns.count == 0) return;
    drive_of_adjoint(own(u), part, read);
    array_->input().derivative(ReadDirection::forward, Derivative::vjp, z0_, projections(top(y_, u.rows()), columns),
                               own(f), columns, Store::add, read);
  }
  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> /*input_gradient*/, MatrixRef<S> f,
                  ReadContext& read) override {
    const LinearMap<S>& input = array_->input();
    const Columns all = input.all_columns();
    drive_of_adjoint(own(u), Part::all, read);
    const auto dx = top(dx_, u.rows());
    const auto g = projections(top(y_, u.rows()), all);
    input.correlate(ReadDirection::forward, z0_, g, all, scale, array_->parameter(), sink, read);
    const Columns back = returning(Part::all);
    if (back.count > 0) {
      input.correlate(ReadDirection::transposed, projections(y0_, back), state(dx), back, scale, array_->parameter(),
                      sink, read);
    }
    const MatrixRef<S> nowhere = y_.topRows(0);
    for (auto& system : systems_) system->accumulate(dx, scale, sink, nowhere, nowhere, read);
    if (f.size() > 0) input.derivative(ReadDirection::forward, Derivative::vjp, z0_, g, own(f), all, Store::add, read);
  }
  /// Exchanges the point; h₀ stays, because only the laws of the nudged phase read it.
  void swap_point(std::size_t number) override {
    if (kept_.size() <= number) kept_.resize(number + 1);
    Kept& kept = kept_[number];
    if (kept.z0.size() == 0) kept = {Matrix<S>(z0_.rows(), z0_.cols()), Matrix<S>(y0_.rows(), y0_.cols())};
    z0_.swap(kept.z0);
    y0_.swap(kept.y0);
    for (auto& system : systems_) system->swap_point(number);
  }
  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& read) override {
    double total = 0;
    auto x = top(x_, rows_);
    ReadContext quiet = read;
    quiet.kind = ReadClass::monitor;  // known from the model: no circuit sums it up
    quiet.policy = ReadPolicy::all_ideal();
    for (std::size_t i = 0; i < systems_.size(); ++i) {
      const Placed& placed = array_->terms()[i];
      if (!placed.traits.conservative) continue;
      array_->input().forward(own(z), projections(x, placed.columns), placed.columns, Store::assign, quiet);
      const auto energy = systems_[i]->energy(x, quiet);
      if (!energy) return std::nullopt;
      total += *energy;
    }
    return total;
  }
  // One forward product, those of the terms' own weights, and one transposed product carry F, J v and Jᵀ v: projections are linear,
  // so h(z) − h(z₀) replaces the projections of v, and everything that returns through the array returns at once. Driven by the
  // difference, h₀ + v W replaces the projections of z, and g₀ is taken off what returns.
  void law(NudgedForm form, ConstMatrixRef<S> z, ConstMatrixRef<S> v, NudgedDrive drive, MatrixRef<S> f,
           ReadContext& read) override {
    const LinearMap<S>& input = array_->input();
    const bool corrected = form == NudgedForm::corrected;
    const bool difference = !corrected && drive == NudgedDrive::difference;
    const Part part = form == NudgedForm::conservative ? Part::conservative : Part::all;
    const Columns driving = driven(corrected ? Part::all : Part::conservative);
    auto x = top(x_, z.rows());
    auto dx = top(dx_, z.rows());
    auto y = blank(z.rows(), part == Part::all ? span_of([](const Placed& t) { return !t.returns; }) : Columns{});
    if (driving.count > 0) {
      input.forward(difference ? own(v) : own(z), projections(x, driving), driving, Store::assign, read);
    }
    if (part == Part::all) state(dx) = own(v);
    const auto each_copy = [&](auto&& change, Columns columns, auto&& by) {
      for (Index row = 0; row < z.rows(); row += rows_) {
        change(projections(x, columns).middleRows(row, rows_), projections(dx, columns).middleRows(row, rows_),
               projections(y, columns).middleRows(row, rows_), projections(by, columns));
      }
    };
    if (corrected) {
      each_copy([](auto h, auto dh, auto, auto h0) { dh = h - h0; }, driven(Part::nonconservative), x0_);
    }
    if (difference) each_copy([](auto h, auto, auto, auto h0) { h += h0; }, driving, x0_);
    for (std::size_t i = 0; i < systems_.size(); ++i) {
      if (array_->terms()[i].traits.conservative) {  // symmetric: the laws have its force alone
        force_of(i, x, y, read);
      } else if (part == Part::all) {
        systems_[i]->law(form, x, dx, NudgedDrive::state, y, read);
      }
    }
    if (difference) each_copy([](auto, auto, auto g, auto g0) { g -= g0; }, driving, y0_);
    auto f_own = own(f);
    f_own += state(y);
    const Columns back = part == Part::all ? input.all_columns() : returning(Part::conservative);
    if (back.count > 0) input.transposed(projections(y, back), f_own, back, Store::add, read);
  }
  /// True if all terms return through the array: E is then a function of h = z W alone, and ∂E/∂W = −zᵀ g with g = −∂E/∂h.
  bool has_layer_energy() const override {
    return std::ranges::all_of(array_->terms(), [](const Placed& one) { return one.returns; });
  }
  void accumulate_layer_energy(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink, ReadContext& read) override {
    const LinearMap<S>& input = array_->input();
    const Columns all = input.all_columns();
    if (all.count == 0) return;
    auto x = top(x_, rows_);
    auto y = top(y_, rows_);
    input.forward(own(z), projections(x, all), all, Store::assign, read);
    for (std::size_t i = 0; i < systems_.size(); ++i) force_of(i, x, y, read);
    input.correlate(ReadDirection::forward, own(z), projections(y, all), all, -scale, array_->parameter(), sink, read);
  }
  const TermSystem<S>& system(std::size_t term) const { return *systems_.at(term); }

 private:
  /// Smallest range of columns that covers the chosen terms.
  template <class Chosen>
  Columns span_of(Chosen chosen) const {
    Index begin = array_->input().outputs();
    Index end = 0;
    for (const Placed& placed : array_->terms()) {
      if (!chosen(placed)) continue;
      begin = std::min(begin, placed.columns.begin);
      end = std::max(end, placed.columns.end());
    }
    return end > begin ? Columns{begin, end - begin} : Columns{0, 0};
  }
  Columns driven(Part part) const {
    return span_of([part](const Placed& t) { return t.in(part); });
  }
  /// Columns that the chosen terms send their force back through.
  Columns returning(Part part) const {
    return span_of([part](const Placed& t) { return t.in(part) && t.returns; });
  }
  /// Block that terms add to: the columns of z, and some of the array's.
  auto blank(Index rows, Columns columns) {
    auto y = top(y_, rows);
    state(y).setZero();
    projections(y, columns).setZero();
    return y;
  }
  /// Computes the force of one term; returning forces are written, not added.
  void force_of(std::size_t i, ConstMatrixRef<S> x, MatrixRef<S> y, ReadContext& read) {
    const bool returns = array_->terms()[i].returns;
    systems_[i]->force(x, y, Part::all, returns ? kProjections : kAllNodes, returns ? Store::assign : Store::add, read);
  }
  /// Fills y_ with the drive of the array's columns for which the rows receive Jᵀ u of the chosen terms, and dx_ with [u | u W].
  void drive_of_adjoint(ConstMatrixRef<S> u, Part part, ReadContext& read) {
    auto dx = top(dx_, u.rows());
    auto y = blank(u.rows(), driven(part));
    state(dx) = u;
    const Columns back = returning(part);
    if (back.count > 0) {
      array_->input().derivative(ReadDirection::transposed, Derivative::vjp, projections(y0_, back), u,
                                 projections(dx, back), back, Store::assign, read);
    }
    for (std::size_t i = 0; i < systems_.size(); ++i) {
      if (array_->terms()[i].in(part)) systems_[i]->vjp(dx, y, part, read);
    }
  }
  template <class Ref>
  auto own(Ref&& state) const {
    return state.middleCols(array_->at_.begin, array_->at_.count);
  }
  /// Block of `rows` rows in the terms' view.
  auto top(Matrix<S>& x, Index rows) const { return x.topLeftCorner(rows, columns_); }
  /// Columns of z, and columns of h, in the terms' view.
  template <class Ref>
  auto state(Ref&& x) const {
    return x.leftCols(array_->at_.count);
  }
  template <class Ref>
  auto projections(Ref&& x, Columns columns) const {
    return x.middleCols(array_->at_.count + columns.begin, columns.count);
  }

  struct Kept {
    Matrix<S> z0, y0;
  };

  const SharedArray* array_;
  Index rows_, columns_;
  /// [z | h], a direction [v | v W], and forces [f | g] on them, (copies·rows, C + columns); their rows are stored slightly longer.
  Matrix<S> x_, dx_, y_;
  Matrix<S> z0_, x0_, y0_;
  std::vector<std::unique_ptr<TermSystem<S>>> systems_;
  std::vector<Kept> kept_;
};

template <class S>
std::unique_ptr<TermSystem<S>> SharedArray<S>::make_system(Index rows, Index max_copies) const {
  NUDGE_EXPECT(width_ == input_->outputs());
  return std::make_unique<System>(*this, rows, max_copies);
}

template <class S>
const TermSystem<S>& SharedArray<S>::system(const TermSystem<S>& array, std::size_t term) {
  return dynamic_cast<const System&>(array).system(term);
}

NUDGE_BOTH_PRECISIONS_OF(SharedArray)

}  // namespace nudge
