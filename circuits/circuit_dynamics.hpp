// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "circuits/circuit.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// One example settling in a Circuit: the circuit's force with what clamps its input, its read noise, and all working memory.
/// One object per thread; bind() moves it to the next example without allocating.
template <class S>
class CircuitDynamics final : public Dynamics<S> {
 public:
  /// max_copies: how many states are evaluated side by side at most (2 for ±β, N for N-point nudging).
  CircuitDynamics(const Circuit<S>& circuit, Index rows, Index max_copies);
  ~CircuitDynamics() override;

  /// Start on an example: its input x_in (rows, inputs), the identity of its reads, and a zero input gradient.
  void bind(ConstMatrixRef<S> input, const ReadContext& read);

  Index rows() const override { return rows_; }
  Index cols() const override { return circuit_->cols(); }
  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part = Part::all) override;
  std::size_t nodes() const override { return circuit_->nodes().size(); }
  Columns node_columns(std::size_t node) const override { return circuit_->nodes()[node].columns; }
  void node_force(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t node) override;
  NodeMove node_step(MatrixRef<S> z, MatrixRef<S> f, std::size_t node, S epsilon) override;
  const Box<S>* box() const override { return box_ ? &*box_ : nullptr; }
  const Matrix<S>* loads() override;
  void balance(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) override;
  bool feed_forward() const override { return circuit_->feed_forward(); }
  Linearization<S>& linearize(ConstMatrixRef<S> z) override;
  bool remember(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t number) override;
  Linearization<S>& recall(std::size_t number) override;
  void nearby_force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part) override;
  /// E = Σ_nodes ½‖z − x_in‖² + ½(L − 1)‖z‖² (½ L ‖z‖² where nothing drives the node) + Σ E_term: −∂E/∂z is the conservative
  /// force.
  std::optional<double> energy(ConstMatrixRef<S> z) override;
  void begin_reads(ReadClass kind) override { read_.kind = kind; }
  void set_read_timing(ReadTiming timing) override { read_.relaxation = timing; }
  bool noisy() const override { return noisy_; }
  /// The smallest leak of a node.
  double leak() const override { return circuit_->least_leak(); }
  void use_exact_derivatives(bool exact) override { read_.exact = exact; }

  /// By correlation reads, of the conservative terms.
  bool accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink) override;
  using Dynamics<S>::accumulate_energy_gradient;

  /// Spares the gradient with respect to x_in, for inputs that are what they are: input_gradient() is then (0, 0), and terms get
  /// it so.
  void skip_input_gradient() { input_gradient_.resize(0, 0); }

  /// What the reads that follow are named by.
  ReadContext& read() { return read_; }
  /// Σ scale·(∂F/∂x_in)ᵀ u over accumulate_parameter_gradient(): the gradient with respect to x_in, (rows, inputs).
  const Matrix<S>& input_gradient() const { return input_gradient_; }
  const Circuit<S>& circuit() const { return *circuit_; }
  /// Of the circuit's term of that number.
  const TermSystem<S>& system(std::size_t term) const { return *systems_[term]; }

 private:
  class Point;
  void start(const Node& node, ConstMatrixRef<S> z, MatrixRef<S> f) const;
  void start(ConstMatrixRef<S> z, MatrixRef<S> f) const;
  void start(const Node& node, const Matrix<S>& drive, ConstMatrixRef<S> z, MatrixRef<S> f) const;
  void know_drives();
  void know_conservative_drives();
  void begin_drive(Matrix<S>& drive);
  void add_node_noise(MatrixRef<S> f);
  void add_node_noise(const Node& node, MatrixRef<S> f);

  const Circuit<S>* circuit_;
  Index rows_;
  Index max_rows_;
  Matrix<S> input_, input_gradient_;
  std::vector<std::unique_ptr<TermSystem<S>>> systems_;  ///< of the circuit's terms, in their order
  ReadContext read_;
  bool noisy_ = false, keeps_points_ = false;  ///< of the circuit when it was bound
  ReadMemory memory_;                          ///< of the reads of the present example
  std::optional<Box<S>> box_;
  Matrix<S> loads_;  ///< of the present example, once they have been asked for
  bool loads_known_ = false, has_loads_ = false;
  std::vector<bool> constant_, split_;  ///< by term (Term::constant, Term::splits)
  bool splits_ = false;                 ///< whether any does
  Matrix<S> held_;                      ///< (1, cols), as drive_: leak, and load of the terms that split
  /// Σ of what drives the nodes, of the constant terms and of the drives of those that split, and the conservative part of that, of
  /// the present example once it has been asked for; nothing where no term is such.
  Matrix<S> drive_, conservative_drive_, nowhere_;  ///< the last: a state for constant terms, which do not look at it
  bool drives_known_ = false, conservative_known_ = false, has_drives_ = false;
  Matrix<S> node_noise_;  ///< working memory of add_node_noise
  std::unique_ptr<Point> point_;
};

}  // namespace nudge
