// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>
#include <vector>

#include "circuits/terms/force_term.hpp"
#include "circuits/terms/state_term.hpp"

namespace nudge {

/// Leak of the state: the input clamp −(z − x_in) and the damping −s·c·z (both conservative, no weights).
struct BlockLeak {
  double gain = 1.0;     ///< s of the non-conservative force s (Attn(z) − c z)
  double damping = 1.0;  ///< c
  double total() const { return 1.0 + gain * damping; }
};

/// What drives the arrays of the conservative terms in the transposed form of the nudged phase.
enum class NudgedDrive {
  state,       ///< z: the circuit simply keeps relaxing
  difference,  ///< v = z − z* alone; the products of z* are stored. Converters then range over v, not over z
};

/// The equilibrium block: terms that read the state through one shared input array, and terms that read it directly,
///     F(z) = x_in − (1 + s c) z + Σ_terms F_term(z),
/// of which the founding note's block is HopfieldMemory + CausalAttention: F = x_in − z − ∂E_mem/∂z + s (Attn(z) − c z).
/// Holds weights only; what one thread needs to settle one sequence is a BlockDynamics.
template <class S>
class EquilibriumBlock {
 public:
  /// Terms take consecutive columns of the input array in the order given; terms of one kind (conservative or not) must
  /// stand together, so that a Part is one range of columns. The array's width is the sum of the terms' columns (0 for a
  /// block without such terms).
  EquilibriumBlock(Index channels, std::vector<std::unique_ptr<ForceTerm<S>>> terms, int input_parameter,
                   LinearMap<S>& input, BlockLeak leak, std::vector<std::unique_ptr<StateTerm<S>>> state_terms = {});

  struct Placed {
    const ForceTerm<S>* term;
    Columns columns;
  };

  Index channels() const { return channels_; }
  const std::vector<Placed>& terms() const { return placed_; }
  const std::vector<std::unique_ptr<StateTerm<S>>>& state_terms() const { return state_terms_; }
  const LinearMap<S>& input() const { return *input_; }
  /// Whether its nodes, or reads of any of its arrays, have fresh noise.
  bool noisy() const;
  int input_parameter() const { return input_parameter_; }
  const BlockLeak& leak() const { return leak_; }
  void set_damping(double c) { leak_.damping = c; }
  NudgedDrive nudged_drive() const { return nudged_drive_; }
  /// σ of the white noise of a node with L = 1, per √τ (clamp_noise() of the circuit); 0: none.
  double node_noise() const { return node_noise_; }
  void set_node_noise(double sigma) { node_noise_ = sigma; }
  void set_nudged_drive(NudgedDrive drive) { nudged_drive_ = drive; }

 private:
  Index channels_;
  std::vector<std::unique_ptr<ForceTerm<S>>> owned_;
  std::vector<Placed> placed_;
  std::vector<std::unique_ptr<StateTerm<S>>> state_terms_;
  int input_parameter_;
  LinearMap<S>* input_;
  BlockLeak leak_;
  double node_noise_ = 0;
  NudgedDrive nudged_drive_ = NudgedDrive::state;
};

}  // namespace nudge
