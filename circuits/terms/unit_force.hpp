// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "circuits/terms/term.hpp"

namespace nudge {

/// A conservative force on each unit of some nodes by itself, without weights: F_i = F_i(z_i), J diagonal (a well, a diode, a pendulum).
/// A force of one's own writes F, its slope and its energy, for all its units at once (examples/out_of_tree/pendulum.hpp).
template <class S>
class UnitForce : public Term<S> {
 public:
  /// `nodes` by number. `columns`: theirs; nothing: the nodes are all of the circuit. `name` is a literal.
  UnitForce(std::string_view name, std::vector<int> nodes, std::optional<Columns> columns = std::nullopt)
      : name_(name), nodes_(std::move(nodes)), columns_(columns) {}

  TermTraits traits() const override {
    return {.name = name_,
            .conservative = true,
            .sources = nodes_,
            .targets = nodes_,
            .takes_difference = false,
            .keeps_points = true};
  }
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const final;

 protected:
  // z, v, f and slope have the columns of the nodes; rows of several copies may stand side by side.

  // ---- Must have ----

  /// Adds F(z) to f.
  virtual void add_force(ConstMatrixRef<S> z, MatrixRef<S> f) const = 0;

  /// slope_i = ∂F_i/∂z_i at z.
  virtual void slope(ConstMatrixRef<S> z, MatrixRef<S> slope) const = 0;

  /// E(z) = Σ E_i(z_i), −∂E/∂z = F.
  virtual double energy(ConstMatrixRef<S> z) const = 0;

  // ---- Speed-up: for terms whose traits take the difference ----

  /// Adds F(z₀ + v) − F(z₀) to f, one copy.
  virtual void add_difference(ConstMatrixRef<S> /*z0*/, ConstMatrixRef<S> /*v*/, MatrixRef<S> /*f*/) const {}

  Columns columns_of(ConstMatrixRef<S> z) const { return columns_.value_or(Columns{0, z.cols()}); }

 private:
  class System;
  std::string_view name_;
  std::vector<int> nodes_;
  std::optional<Columns> columns_;
};

}  // namespace nudge
