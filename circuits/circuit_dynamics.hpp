// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "circuits/circuit.hpp"
#include "sim/dynamics.hpp"

namespace nudge {

/// One example settling in a Circuit: the circuit's force with its clamped input, its read noise, and all working memory. One
/// object per thread; bind() moves it to the next example without allocating.
template <class S>
class CircuitDynamics final : public Dynamics<S>,
                              public Layered<S>,
                              public KeptPoints<S>,
                              public LayerEnergies<S>,
                              public Bath<S>,
                              public Driven<S> {
 public:
  /// Makes the memory for states of `rows` rows; max_copies: most states evaluated side by side (2 for ±β, N for N-point nudging).
  CircuitDynamics(const Circuit<S>& circuit, Index rows, Index max_copies);
  ~CircuitDynamics() override;

  /// Starts on an example: its input x_in (rows, inputs), the identity of its reads, and a zero input gradient. Several frames of the
  /// input come side by side, (rows, frames · inputs); the first is shown.
  void bind(ConstMatrixRef<S> input, const ReadContext& read);

  Index rows() const override { return rows_; }
  Index cols() const override { return circuit_->cols(); }
  void force(ConstMatrixRef<S> z, MatrixRef<S> f, Part part = Part::all) override;
  Linearization<S>& linearize(ConstMatrixRef<S> z) override;
  /// Traits of the system; their leak is the smallest leak of a node.
  DynamicsTraits<S> traits() const override {
    return {circuit_->least_leak(), noisy_, circuit_->feed_forward(), box_ ? &*box_ : nullptr};
  }
  /// Energy E = Σ_nodes ½‖z − x_in‖² + ½(L − 1)‖z‖² (½ L ‖z‖² where nothing drives the node) + Σ E_term: −∂E/∂z is the conservative force.
  std::optional<double> energy(ConstMatrixRef<S> z) override;
  /// Adds the energy gradient of the conservative terms, by correlation reads.
  bool accumulate_energy_gradient(ConstMatrixRef<S> z, std::span<const S> scales, GradientSink<S>& sink) override;
  using Dynamics<S>::accumulate_energy_gradient;
  /// Adds the gradients of the terms' own energies: of terms with LayerEnergy, and of conservative ones with the contrastive rule.
  bool accumulate_layer_energies(ConstMatrixRef<S> z, S scale, GradientSink<S>& sink) override;
  /// Direct and inertia of a circuit whose one term has them, its nodes having no leaks of their own.
  Capabilities<S> capabilities() override {
    return {&read_,
            this,
            keeps_points_ ? this : nullptr,
            direct_,
            this,
            bath_ ? this : nullptr,
            inertia_,
            frames_ > 1 ? this : nullptr};
  }

  Index frames() const override { return frames_; }
  void show(Index frame) override;

  using Layered<S>::node_columns;
  std::span<const Columns> node_columns() const override { return node_columns_; }
  void node_force(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t node) override;
  NodeMove node_step(MatrixRef<S> z, MatrixRef<S> f, std::size_t node, S epsilon) override;
  void node_vjp(ConstMatrixRef<S> u, MatrixRef<S> out, std::size_t node) override;
  bool node_pullback(MatrixRef<S> u, S scale, GradientSink<S>& sink, std::size_t node) override;
  const Matrix<S>* loads() override;
  void solve_node(MatrixRef<S> z, ConstMatrixRef<S> f, const Matrix<S>& inverse, Columns columns) override;

  void move(MatrixRef<S> z, ConstMatrixRef<S> f, std::size_t node, S step, std::span<const S> added) override;
  bool binary(std::size_t node) const override;

  void remember(ConstMatrixRef<S> z, MatrixRef<S> f, std::size_t number) override;
  Linearization<S>& recall(std::size_t number) override;

  /// Skips the gradient with respect to x_in, for inputs that nothing computes: input_gradient() is then (0, 0), and terms get it so.
  void skip_input_gradient() { input_gradient_.resize(0, 0); }

  /// Input that clamps the present example, (rows, inputs).
  const Matrix<S>& input() const { return input_; }
  /// Identity of the reads that follow.
  ReadContext& read() { return read_; }
  /// Gradient with respect to x_in, (rows, inputs): Σ scale·(∂F/∂x_in)ᵀ u over accumulate_parameter_gradient().
  const Matrix<S>& input_gradient() const { return input_gradient_; }
  const Circuit<S>& circuit() const { return *circuit_; }
  /// System of the circuit's term number `term`.
  const TermSystem<S>& system(std::size_t term) const { return *systems_[term]; }

 private:
  class Point;
  void clamp();
  void gather_affine_parts();
  const Matrix<S>& drive(Part part) const { return part == Part::all && has_rest_ ? all_drive_ : drive_; }
  void leak_and_drive(const Node& node, Part part, ConstMatrixRef<S> z, MatrixRef<S> f) const;
  void leak_and_drive(Part part, ConstMatrixRef<S> z, MatrixRef<S> f) const;
  bool in_bath() const;
  void add_node_noise(MatrixRef<S> f);
  void add_node_noise(const Node& node, MatrixRef<S> f);

  const Circuit<S>* circuit_;
  std::vector<Columns> node_columns_;
  Index rows_;
  Index max_rows_;
  Matrix<S> input_, input_gradient_;
  Matrix<S> series_;  ///< (rows, frames · inputs)
  Index frames_ = 1, shown_ = 0;
  std::vector<std::unique_ptr<TermSystem<S>>> systems_;  ///< systems of the circuit's terms, in their order
  Direct<S>* direct_ = nullptr;                          ///< power of the one term
  Inertia<S>* inertia_ = nullptr;                        ///< power of the one term
  ReadContext read_;
  bool noisy_ = false, keeps_points_ = false;  ///< copies of the circuit's traits when it was bound
  bool bath_ = false;
  ReadMemory memory_;  ///< memory of the reads of the present example
  std::optional<Box<S>> box_;
  Matrix<S> loads_;  ///< loads of the present example, once they have been asked for
  bool loads_known_ = false, has_loads_ = false;
  /// Affine part of the force, the same for as long as the example lasts: F = drive − held ∘ z + what the terms give. The drive is x_in
  /// where it drives a node, and that of the terms; of the conservative part, of the rest, and of both where there is a rest.
  Matrix<S> drive_, rest_drive_, all_drive_;
  Matrix<S> held_;                          ///< (1, cols): leak, and load of the terms (add_affine_part)
  bool has_rest_ = false, uniform_ = true;  ///< of held_: it is the leak alone
  Matrix<S> node_noise_;                    ///< working memory of add_node_noise and move
  std::unique_ptr<Point> point_;
};

}  // namespace nudge
