// SPDX-License-Identifier: Apache-2.0
#include "training/models/tape_term.hpp"

#include <algorithm>
#include <utility>

#include "circuits/terms/layer_energy.hpp"
#include "sim/base/errors.hpp"

namespace nudge {

template <class S>
TapeTerm<S>::TapeTerm(std::string name, const TapePlace& place, std::vector<Weight> weights, Record record,
                      RecordEnergy energy)
    : name_(std::move(name)),
      place_(place),
      weights_(std::move(weights)),
      record_(std::move(record)),
      energy_(std::move(energy)) {}

template <class S>
bool TapeTerm<S>::noisy() const {
  return std::any_of(weights_.begin(), weights_.end(), [](const Weight& w) { return w.read && w.map->noisy(); });
}

template <class S>
class TapeTerm<S>::System final : public TermSystem<S>, public LayerEnergy<S> {
 public:
  System(const TapeTerm& term, Index rows)
      : term_(&term), rows_(rows), moving_(make(rows)), fixed_(make(rows)), direction_(rows, target().count) {
    operations_ = fixed_->tape.operations();
  }

  void bind(const Matrix<S>& input) override {
    input_ = &input;
    evaluated_ = false;
    noisy_ = term_->noisy();
  }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& read) override {
    if (part == Part::conservative) return;
    reads_.read = &read;
    read.work(operations_ * copies_in(f));
    for (Index row = 0; row < f.rows(); row += rows_) {
      if (from_input()) {
        // What clamps the input stands still: without noise one evaluation serves all.
        if (noisy_ || !evaluated_) evaluate(*moving_, *input_);
        add(*moving_, *input_, f.middleRows(row, rows_));
      } else {
        const auto source = source_of(z, row);
        evaluate(*moving_, source);
        add(*moving_, source, f.middleRows(row, rows_));
      }
      evaluated_ = true;
    }
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> /*conservative*/, MatrixRef<S> rest, ReadContext& read) override {
    reads_.read = &read;
    read.work(operations_);
    if (from_input()) {
      store(*input_);
      add(*fixed_, *input_, rest);
    } else {
      const auto source = source_of(z, 0);
      store(source);
      add(*fixed_, source, rest);
    }
  }

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (part == Part::conservative || from_input()) return;
    reads_.read = &read;
    read.work(2 * operations_ * copies_in(v));
    Tape<S>& tape = fixed_->tape;
    for (Index row = 0; row < v.rows(); row += rows_) {
      const auto in = source_of(v, row);
      source_direction_ = in;
      tape.clear_tangents();
      tape.set_tangent(fixed_->source, source_direction_);
      tape.push_forward();
      auto out = target_of(f, row);
      out += (scale * gain()) * tape.tangent(fixed_->y);
      if (identity() != S(0)) out += (scale * gain() * identity()) * in;
    }
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& read) override {
    if (part == Part::conservative || from_input()) return;
    reads_.read = &read;
    read.work(2 * operations_ * copies_in(u));
    for (Index row = 0; row < u.rows(); row += rows_) {
      pull_back(target_of(u, row), Leaves::inputs);
      auto out = source_of(f, row);
      out += gain() * fixed_->tape.cotangent(fixed_->source);
      if (identity() != S(0)) out += (gain() * identity()) * direction_;
    }
  }

  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient, MatrixRef<S> f,
                  ReadContext& read) override {
    const bool pulls = f.size() > 0;
    const Leaves wanted = pulls || from_input() ? Leaves::all : Leaves::parameters;
    correlate(target_of(u, 0), wanted, scale, sink, input_gradient, read);
    if (!pulls || from_input()) return;
    auto out = source_of(f, 0);
    out += gain() * fixed_->tape.cotangent(fixed_->source);
    if (identity() != S(0)) out += (gain() * identity()) * direction_;
  }

  bool has_layer_energy() const override { return static_cast<bool>(term_->energy_); }
  void accumulate_layer_energy(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink, ReadContext& read) override {
    if (energy_ == nullptr) energy_ = make(rows_, Computes::energy);
    reads_ = {&read, &sink, scale * gain()};
    Tape<S>& tape = energy_->tape;
    read.work(3 * tape.operations());
    tape.leaf(energy_->state) = target_of(z, 0);
    if (from_input()) {
      tape.leaf(energy_->source) = *input_;
    } else {
      tape.leaf(energy_->source) = source_of(z, 0);
    }
    tape.run();
    tape.clear_cotangents();
    tape.add_cotangent(energy_->y, Matrix<S>::Ones(energy_->y.rows(), 1));
    tape.pull_back(Leaves::parameters);
    hand_over_numbers(*energy_, scale, sink);
  }

 private:
  enum class Computes { force, energy };

  /// Recording of the computation on a tape of its own, from the source of one copy (for the energy also the state of
  /// the target) to y.
  struct Recording {
    std::vector<std::unique_ptr<MapReader<S>>> readers;
    Tape<S> tape;
    Value<S> source, state, y;
    std::vector<Value<S>> weights;
  };

  std::unique_ptr<Recording> make(Index rows, Computes what = Computes::force) {
    ReadContext unread;  // the first evaluation only finds the shapes
    unread.policy = ReadPolicy::all_ideal();
    const TapeReads<S> before = reads_;
    reads_.read = &unread;
    auto recording = std::make_unique<Recording>();
    recording->source = recording->tape.input(Matrix<S>::Zero(rows, term_->place_.source_columns.count));
    for (const Weight& weight : term_->weights_) {
      if (!weight.read) {
        recording->weights.push_back(recording->tape.parameter(weight.map->weights()));
        continue;
      }
      recording->readers.push_back(std::make_unique<MapReader<S>>(*weight.map, weight.parameter, reads_));
      recording->weights.push_back(recording->tape.weights(weight.map->weights(), *recording->readers.back()));
    }
    if (what == Computes::energy) {
      recording->state = recording->tape.input(Matrix<S>::Zero(rows, target().count));
      recording->y = term_->energy_(recording->state, recording->source, recording->weights);
    } else {
      recording->y = term_->record_(recording->tape, recording->source, recording->weights);
    }
    reads_ = before;
    NUDGE_EXPECT(recording->y.rows() == rows && recording->y.cols() == (what == Computes::energy ? 1 : target().count));
    return recording;
  }

  bool from_input() const { return term_->place_.source == Term<S>::kInput; }
  const Columns& target() const { return term_->place_.target_columns; }
  S gain() const { return static_cast<S>(term_->place_.gain); }
  S identity() const { return static_cast<S>(term_->place_.identity); }
  /// Columns of one copy of a state.
  template <class Ref>
  auto source_of(Ref& state, Index row) const {
    const Columns& at = term_->place_.source_columns;
    return state.middleCols(at.begin, at.count).middleRows(row, rows_);
  }
  template <class Ref>
  auto target_of(Ref& state, Index row) const {
    return state.middleCols(target().begin, target().count).middleRows(row, rows_);
  }

  /// Number of copies of the term's rows in a state, one after another.
  double copies_in(ConstMatrixRef<S> state) const {
    const Index copies = state.rows() / rows_;
    return static_cast<double>(copies);
  }

  template <class Source>
  void evaluate(Recording& recording, const Source& source) {
    recording.tape.leaf(recording.source) = source;
    recording.tape.run();
  }

  /// Makes the recording at the point `source`. Reuses the last free read if it was at this very source and without
  /// noise.
  template <class Source>
  void store(const Source& source) {
    if (evaluated_ && !noisy_ && moving_->source.matrix() == source) {
      std::swap(moving_, fixed_);
      evaluated_ = false;
    } else {
      evaluate(*fixed_, source);
    }
  }

  /// Adds f += gain · (y + identity · source), both of one copy, in the target's columns of f.
  template <class Source, class Target>
  void add(const Recording& recording, const Source& source, Target&& f) const {
    auto out = f.middleCols(target().begin, target().count);
    out += gain() * recording.y.matrix();
    if (identity() != S(0)) out += (gain() * identity()) * source;
  }

  template <class Direction>
  void pull_back(const Direction& u, Leaves wanted) {
    direction_ = u;
    fixed_->tape.clear_cotangents();
    fixed_->tape.add_cotangent(fixed_->y, direction_);
    fixed_->tape.pull_back(wanted);
  }

  /// Pulls u back to the wanted leaves. Gradients of parameters go to the sink, that of a clamped input to
  /// input_gradient.
  template <class Direction>
  void correlate(const Direction& u, Leaves wanted, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient,
                 ReadContext& read) {
    reads_ = {&read, &sink, scale * gain()};
    read.work(2 * operations_);
    pull_back(u, wanted);
    if (from_input() && input_gradient.size() > 0) {
      input_gradient += (scale * gain()) * fixed_->tape.cotangent(fixed_->source);
      if (identity() != S(0)) input_gradient += (scale * gain() * identity()) * direction_;
    }
    hand_over_numbers(*fixed_, scale, sink);
  }

  /// Hands over the gradients of weights that are numbers; weights that are read have correlated already.
  void hand_over_numbers(Recording& recording, S scale, GradientSink<S>& sink) {
    for (std::size_t k = 0; k < recording.weights.size(); ++k) {
      const Matrix<S>& gradient = recording.tape.cotangent(recording.weights[k]);
      if (gradient.size() > 0) sink.accumulate(term_->weights_[k].parameter, scale * gain(), gradient);
    }
    reads_.sink = nullptr;
  }

  const TapeTerm* term_;
  Index rows_;
  TapeReads<S> reads_;
  std::unique_ptr<Recording> moving_, fixed_, energy_;  ///< recordings; energy_ is made when asked for
  const Matrix<S>* input_ = nullptr;
  bool evaluated_ = false;  ///< moving_ was evaluated, since the last bind(), at the source it holds
  bool noisy_ = false;
  double operations_ = 0;  ///< digital operations of one evaluation
  /// One copy of the vector that is pulled back, and of the one that is pushed forward.
  Matrix<S> direction_, source_direction_;
};

template <class S>
std::unique_ptr<TermSystem<S>> TapeTerm<S>::make_system(Index rows, Index /*max_copies*/) const {
  return std::make_unique<System>(*this, rows);
}

NUDGE_BOTH_PRECISIONS_OF(TapeTerm)

}  // namespace nudge
