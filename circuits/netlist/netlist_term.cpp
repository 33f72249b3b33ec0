// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/netlist_term.hpp"

#include <algorithm>
#include <limits>
#include <optional>

#include "circuits/netlist/current_noise.hpp"
#include "circuits/netlist/netlist_ports.hpp"
#include "netlist/nodal_equations.hpp"
#include "netlist/node_coordinates.hpp"
#include "netlist/reduced_matrices.hpp"
#include "netlist/settled_rows.hpp"
#include "sim/base/errors.hpp"
#include "sim/failure.hpp"

namespace nudge {
template <class S>
NetlistTerm<S>::NetlistTerm(std::shared_ptr<const NodalEquations> equations,
                            std::shared_ptr<const NodeCoordinates> coordinates, NetlistPorts ports,
                            std::vector<const LinearMap<S>*> maps, std::vector<int> nodes)
    : equations_(std::move(equations)),
      coordinates_(std::move(coordinates)),
      ports_(std::move(ports)),
      maps_(std::move(maps)),
      nodes_(std::move(nodes)),
      values_(equations_->values()),
      solver_(*equations_) {
  NUDGE_EXPECT(maps_.size() == ports_.learned.size() && ports_.volts > 0 && ports_.siemens > 0);
  if (!ports_.node_capacitance_F.empty()) {
    matrices_ = std::make_unique<const ReducedMatrices>(*equations_, *coordinates_, ports_.node_capacitance_F);
  }
  for (std::size_t p = 0; p < maps_.size(); ++p) {
    const double heat_J = maps_[p]->traits().unit_heat_J;
    ports_.learned[p].devices = heat_J > 0;
    if (heat_J > 0) ports_.learned[p].unit = device_unit_S(ports_, heat_J);
  }
  twin_ = twin_factors(*equations_, ports_);
}

template <class S>
NetlistTerm<S>::~NetlistTerm() = default;

template <class S>
TermTraits NetlistTerm<S>::traits() const {
  std::uint32_t present = 0;
  for (const Element& e : equations_->netlist().elements) present |= kind_bit(e.kind);
  TermTraits traits{.name = "netlist", .sources = nodes_, .targets = nodes_};
  traits.sources.push_back(Term<S>::kInput);
  traits.conservative = coordinates_->reciprocal();
  traits.nonconservative = (present & kinds_of_part(Part::nonconservative, coordinates_->reciprocal())) != 0;
  traits.takes_difference = false;
  traits.noisy = ports_.noise_K > 0 || reads_.any();
  return traits;
}

template <class S>
class NetlistTerm<S>::System final : public TermSystem<S>, public Direct<S>, public Inertia<S>, public TellsFailure {
 public:
  System(const NetlistTerm& term, Index rows)
      : term_(&term),
        at_(term.coordinates_.get()),
        settled_(term.solver_, *at_, static_cast<std::size_t>(rows)),
        values_(term.ports_, term.values_, rows),
        points_(static_cast<std::size_t>(rows)),
        unknowns_(static_cast<std::size_t>(term.equations_->unknowns())),
        nodes_(static_cast<std::size_t>(term.equations_->nodes())),
        columns_(static_cast<std::size_t>(at_->columns())),
        noise_(*term.equations_, term.ports_.flicker_slowest_s),
        reads_(term.reads_),
        slopes_(term.ports_.learned) {
    for (std::vector<double>* x : {&x_, &w_, &y_}) x->assign(unknowns_, 0.0);
    z_.resize(columns_);
    const NetlistPorts& ports = term.ports_;
    if (term.matrices_ == nullptr) return;
    charges_ = std::make_unique<ColumnCharges>(*term.equations_, *at_, *term.matrices_, ports.output_names);
    const double clock_s = std::max(ports.delay_s, ports.clock_s);
    if (ports.delay_s > 0)
      late_ = std::make_unique<LateReads>(*term.equations_, *at_, *term.matrices_, ports.delay_s, clock_s,
                                          static_cast<std::size_t>(rows));
  }

  void bind(const Matrix<S>& input) override {
    values_.bind(input, term_->maps_);
    solved_.clear();
  }
  /// Keeps the identity of the example's reads, for solutions. There is no affine part.
  bool add_affine_part(MatrixRef<S> /*drive*/, MatrixRef<S> /*load*/, ReadContext& read) override {
    read_ = &read;
    return false;
  }

  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part, int /*node*/, Store /*store*/,
             ReadContext& read) override {
    const bool noisy = read.noisy() && part != Part::nonconservative;
    const bool warm = noisy && term_->ports_.noise_K > 0, reads = noisy && reads_.any() && solved_.empty();
    if (warm) noise_.draw(z.rows(), term_->ports_.tau_s, read);
    if (reads) reads_.draw(z.rows(), read.interval(), read);
    for (Index row = 0; row < z.rows(); ++row) {
      add_force(z, row, part, f, solved_.values(z, row, values_.of(row)));
      if (warm || reads) add_noise(row, warm, reads, f);
    }
  }

  void accelerate(MatrixRef<S> f) override {
    if (!charges_) return;  // D = 1
    const double unit = term_->ports_.siemens * term_->ports_.tau_s;
    for (Index row = 0; row < f.rows(); ++row) {
      take(f, row);
      charges_->rates(z_.data());
      for (std::size_t j = 0; j < columns_; ++j) f(row, static_cast<Index>(j)) = static_cast<S>(unit * z_[j]);
    }
  }

  void linearize(ConstMatrixRef<S> z, MatrixRef<S> conservative, MatrixRef<S> rest, ReadContext& /*read*/) override {
    for (Index row = 0; row < z.rows(); ++row) {
      Point& point = points_[static_cast<std::size_t>(row)];
      add_force(z, row, Part::conservative, conservative, values_.of(row));
      point.conservative = jacobian_;
      add_force(z, row, Part::nonconservative, rest, values_.of(row));
      point.rest = jacobian_;
      point.x = x_;
    }
  }

  void jvp(ConstMatrixRef<S> v, S scale, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    for (Index row = 0; row < v.rows(); ++row) {
      take(v, row);
      at_->displaced(z_.data(), w_.data());
      std::fill(y_.begin(), y_.end(), 0.0);
      for_entries(row, part, [&](std::size_t of, std::size_t by, double slope) { y_[of] += slope * w_[by]; });
      leave(y_, -static_cast<double>(scale) / term_->ports_.siemens, f, row);
    }
  }

  void vjp(ConstMatrixRef<S> u, MatrixRef<S> f, Part part, ReadContext& /*read*/) override {
    for (Index row = 0; row < u.rows(); ++row) {
      pull(u, row, part);
      add_pulled(f, row);
    }
  }

  void accumulate(ConstMatrixRef<S> u, S scale, GradientSink<S>& sink, MatrixRef<S> input_gradient, MatrixRef<S> f,
                  ReadContext& /*read*/) override {
    const double factor = scale, amperes = term_->ports_.siemens * term_->ports_.volts;
    slopes_.start(u.rows());
    for (Index row = 0; row < u.rows(); ++row) {
      pull(u, row, Part::all);  // w = N u, y = (∂r/∂v)ᵀ w
      const std::vector<double>& v = points_[static_cast<std::size_t>(row)].x;
      const std::vector<double>& values = values_.of(row);
      const auto moved = [&](std::size_t k) { return force_slope_A(*at_, k, values[k], v, w_, y_) / amperes; };
      slopes_.fill(row, 1, moved);
      for (const ElementRow& in : term_->ports_.inputs) {
        for (std::size_t i = 0; i < in.elements.size() && input_gradient.size() > 0; ++i) {
          input_gradient(row, static_cast<Index>(i)) -= static_cast<S>(factor * in.unit * moved(in.elements[i]));
        }
      }
      if (f.size() > 0) add_pulled(f, row);
    }
    slopes_.send(scale, sink);
  }

  std::optional<double> energy(ConstMatrixRef<S> z, const ReadContext& /*read*/) override {
    if (!at_->reciprocal()) return std::nullopt;
    double sum = 0;
    for (Index row = 0; row < z.rows(); ++row) {
      evaluate(z, row, Part::conservative, values_.of(row));
      sum += netlist_energy_W(*term_->equations_, *at_, values_.of(row), x_);
    }
    return sum / (term_->ports_.siemens * term_->ports_.volts * term_->ports_.volts);
  }

  bool accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink,
                                  ReadContext& /*read*/) override {
    if (term_->traits().nonconservative || !at_->reciprocal()) return false;
    const auto rows = static_cast<Index>(values_.rows());
    const double unit = term_->ports_.siemens * term_->ports_.volts * term_->ports_.volts;
    for (std::size_t k = 0; k < scales.size(); ++k) {
      slopes_.start(rows);
      for (Index row = 0; row < rows; ++row) {
        evaluate(z, static_cast<Index>(k) * rows + row, Part::all, values_.of(row));
        if (at_->weighted()) weighted_currents(*term_->equations_, *at_, values_.of(row), x_, residual_);
        const std::vector<double>& values = values_.of(row);
        slopes_.fill(row, unit, [&](std::size_t e) { return energy_slope_W(*at_, e, values[e], x_, residual_); });
      }
      slopes_.send(scales[k], sink);
    }
    return true;
  }

  DirectResult solve(MatrixRef<S> z, const DirectLoad<S>& load) override {
    NUDGE_EXPECT(load.kind == DirectLoad<S>::Kind::none ||
                 (load.columns.begin == at_->inner() && load.columns.count == at_->outputs()));
    DirectResult result;
    const double volts = term_->ports_.volts;
    const auto rows = static_cast<std::size_t>(z.rows());
    const bool reads = reads_.any() && read_ != nullptr && read_->noisy();
    if (reads) reads_.draw(z.rows(), read_->policy.time, *read_);
    for (std::size_t row = 0; row < rows; ++row) {
      ask(row, load);
      if (reads) reads_.deviate(static_cast<Index>(row), settled_[row].values);
      take(z, static_cast<Index>(row), settled_[row].state, volts);
    }
    const bool late = late_ && !load.settled;
    if (late) {
      result.time = late_->period_s() / term_->ports_.tau_s;
    } else {
      settled_.solve();
    }
    for (std::size_t row = 0; row < rows; ++row) {
      SettledRows::Row& of = settled_[row];
      const Status status = late ? read_late(row, load) : noted(of.found);
      result.iterations = std::max(result.iterations, late ? 1 : of.found.iterations);
      if (status != Status::converged) {
        result.status = status;
        std::fill(of.state.begin(), of.state.end(), std::numeric_limits<double>::quiet_NaN());
      }
      for (Index j = 0; j < z.cols(); ++j)
        z(static_cast<Index>(row), j) = static_cast<S>(of.state[static_cast<std::size_t>(j)] / volts);
      if (reads) solved_.add(z, static_cast<Index>(row), of.values);
    }
    return result;
  }

  /// Solves Jᵀ a = −c: (∂r/∂x)ᵀ of the whole equations with c/siemens into the nodes of the outputs.
  DirectResult solve_transposed(ConstMatrixRef<S> c, MatrixRef<S> a) override {
    DirectResult result;
    for (Index row = 0; row < c.rows(); ++row) {
      std::fill(y_.begin(), y_.end(), 0.0);
      for (int k = 0; k < at_->outputs(); ++k) {
        const double pushed = term_->ports_.siemens * static_cast<double>(c(row, at_->inner() + k));
        const NodePair& output = term_->equations_->outputs()[static_cast<std::size_t>(k)];
        if (output.plus >= 0) y_[static_cast<std::size_t>(output.plus)] += pushed;
        if (output.minus >= 0) y_[static_cast<std::size_t>(output.minus)] -= pushed;
      }
      const OperatingPoint found =
          settled_.solver().solve_transposed(values_.of(row), points_[static_cast<std::size_t>(row)].x, y_);
      result.iterations = std::max(result.iterations, found.iterations);
      if (noted(found) != Status::converged) result.status = found.status;
      at_->costate(y_, z_.data());
      for (Index j = 0; j < a.cols(); ++j) a(row, j) = static_cast<S>(z_[static_cast<std::size_t>(j)]);
    }
    return result;
  }

  DirectResult respond(ConstMatrixRef<S> c, double omega, MatrixRef<S> a) override {
    const NetlistPorts& ports = term_->ports_;
    if (ports.state_without_charge) {
      throw UserError(
          "estimator = frequency does not fit a netlist with H, or with expressions of currents or for voltages: "
          "its small signals are not simulated. Use adjoint");
    }
    if (!small_signal_)
      small_signal_.emplace(*term_->equations_, *at_, ports.node_capacitance_F, ports.siemens * ports.tau_s);
    DirectResult result;
    for (Index row = 0; row < c.rows(); ++row) {
      take(c, row, ports.siemens);
      const Point& point = points_[static_cast<std::size_t>(row)];
      if (!small_signal_->respond(point.conservative, point.rest, omega / ports.tau_s, z_.data()))
        result.status = Status::stalled;
      for (Index j = 0; j < a.cols(); ++j) a(row, j) = static_cast<S>(z_[static_cast<std::size_t>(j)]);
    }
    return result;
  }

  std::string failure() const override { return failure_; }

 private:
  Status noted(const OperatingPoint& found) {
    if (found.status != Status::converged) failure_ = describe_failure(*term_->equations_, found);
    return found.status;
  }

  /// Point of one row: voltages, and slopes of the two parts by entries of the pattern.
  struct Point {
    std::vector<double> x, conservative, rest;
  };

  /// Sets values and actions with which a row is solved. The twin's values are used if it has that state: the held one, or
  /// the driven one with +β.
  void ask(std::size_t row, const DirectLoad<S>& load) {
    using Kind = typename DirectLoad<S>::Kind;
    const NetlistPorts& ports = term_->ports_;
    SettledRows::Row& of = settled_[row];
    of.values = values_.of(static_cast<Index>(row));
    const bool opposite = load.kind == Kind::driven && load.load < S(0);
    if (!term_->twin_.empty() && load.kind != Kind::none && !opposite) {
      for (std::size_t k = 0; k < of.values.size(); ++k) of.values[k] *= term_->twin_[k];
    }
    of.actions = output_actions(load, static_cast<Index>(row), static_cast<std::size_t>(at_->outputs()), ports);
  }

  Status read_late(std::size_t row, const DirectLoad<S>& load) {
    SettledRows::Row& of = settled_[row];
    if (load.kind == DirectLoad<S>::Kind::none) of.actions.clear();
    const Status status = late_->read(row, of.values, of.actions, of.state.data());
    if (status != Status::converged) failure_ = "no step in time was found (netlist.delay)";
    return status;
  }

  void take(ConstMatrixRef<S> z, Index row, double unit = 1) { take(z, row, z_, unit); }
  void take(ConstMatrixRef<S> z, Index row, std::vector<double>& to, double unit) const {
    for (std::size_t j = 0; j < columns_; ++j) to[j] = unit * static_cast<double>(z(row, static_cast<Index>(j)));
  }
  void give(double factor, MatrixRef<S> f, Index row) const {
    for (std::size_t j = 0; j < columns_; ++j) f(row, static_cast<Index>(j)) += static_cast<S>(factor * z_[j]);
  }

  /// Adds factor times the currents that leave the nodes to f, by columns.
  void leave(const std::vector<double>& currents, double factor, MatrixRef<S> f, Index row) {
    std::fill(z_.begin(), z_.end(), 0.0);
    at_->gather(currents.data(), z_.data());
    give(factor, f, row);
  }

  /// Computes residual_ and jacobian_ at x_: the currents that leave the nodes through the part's elements and, with the
  /// conservative part, the shunts.
  void evaluate(ConstMatrixRef<S> z, Index row, Part part, const std::vector<double>& values) {
    take(z, row, term_->ports_.volts);
    at_->voltages(z_.data(), values, x_.data());
    std::fill(x_.begin() + static_cast<std::ptrdiff_t>(nodes_), x_.end(), 0.0);
    const NodalEquations& equations = *term_->equations_;
    const bool shunted = part == Part::all || (part == Part::conservative) == at_->reciprocal();
    const Easing easing{shunted ? 0.0 : -equations.netlist().shunt_S, 1};
    equations.evaluate(x_, values, {}, easing, nullptr, residual_, jacobian_, kinds_of_part(part, at_->reciprocal()));
  }

  void add_force(ConstMatrixRef<S> z, Index row, Part part, MatrixRef<S> f, const std::vector<double>& values) {
    evaluate(z, row, part, values);
    leave(residual_, -1 / (term_->ports_.siemens * term_->ports_.volts), f, row);
  }

  /// Calls act(row, column, slope) for the entries of ∂r/∂v between nodes at the linearised point.
  template <class Act>
  void for_entries(Index row, Part part, Act act) const {
    const Point& point = points_[static_cast<std::size_t>(row) % points_.size()];
    const SparsePattern& pattern = term_->equations_->pattern();
    for (std::size_t column = 0; column < nodes_; ++column) {
      for (int k = pattern.column_begin[column]; k < pattern.column_begin[column + 1]; ++k) {
        const auto entry = static_cast<std::size_t>(k);
        const auto of = static_cast<std::size_t>(pattern.row[entry]);
        if (of >= nodes_) break;
        double slope = 0;
        if (part != Part::nonconservative) slope += point.conservative[entry];
        if (part != Part::conservative) slope += point.rest[entry];
        act(of, column, slope);
      }
    }
  }

  /// Sets w_ = N u and y_ = (∂r/∂v)ᵀ w_.
  void pull(ConstMatrixRef<S> u, Index row, Part part) {
    take(u, row);
    at_->spread(z_.data(), w_.data());
    std::fill(y_.begin(), y_.end(), 0.0);
    for_entries(row, part, [&](std::size_t of, std::size_t by, double slope) { y_[by] += slope * w_[of]; });
  }
  void add_pulled(MatrixRef<S> f, Index row) {
    std::fill(z_.begin(), z_.end(), 0.0);
    at_->pull(y_.data(), z_.data());
    give(-1 / term_->ports_.siemens, f, row);
  }

  /// Adds the noise of the currents and of the reads of devices at x_, where the force of the row was evaluated, to f.
  void add_noise(Index row, bool warm, bool reads, MatrixRef<S> f) {
    const NetlistPorts& ports = term_->ports_;
    const std::vector<double>& values = values_.of(row);
    std::fill(y_.begin(), y_.end(), 0.0);
    if (warm) noise_.leave(row, ports.noise_K, values, x_, y_);
    if (reads) reads_.leave(row, term_->equations_->netlist(), values, x_, y_);
    leave(y_, -1 / (ports.siemens * ports.volts), f, row);
  }

  const NetlistTerm* term_;
  const NodeCoordinates* at_;
  SettledRows settled_;
  ElementValues<S> values_;
  std::vector<Point> points_;
  std::size_t unknowns_, nodes_, columns_;
  std::vector<double> x_, w_, y_, z_, residual_, jacobian_;
  std::unique_ptr<ColumnCharges> charges_;  ///< only with given capacitances
  std::optional<SmallSignal> small_signal_;
  std::unique_ptr<LateReads> late_;  ///< null: states are read when they have settled
  CurrentNoise noise_;
  DeviceReads reads_;
  ReadContext* read_ = nullptr;  ///< identity of the reads of the present example
  SolvedReads<S> solved_;        ///< solutions of the present example, with read noise
  std::string failure_;
  RowSlopes<S> slopes_;
};

template <class S>
std::unique_ptr<TermSystem<S>> NetlistTerm<S>::make_system(Index rows, Index /*max_copies*/) const {
  return std::make_unique<System>(*this, rows);
}

NUDGE_BOTH_PRECISIONS_OF(NetlistTerm)

}  // namespace nudge
