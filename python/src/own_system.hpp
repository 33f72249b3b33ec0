// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nanobind/nanobind.h>

#include <memory>
#include <string>
#include <vector>

#include "circuits/terms/term.hpp"
#include "training/models/network_plan.hpp"

namespace nudge::python {

namespace nb = nanobind;

/// Parameter of a system: its shape there, and as the matrix (inputs, outputs) that a map holds, (1, n) of a vector.
struct OwnParameter {
  std::string name;
  std::vector<std::size_t> shape;
  ParameterShape matrix = {};
  bool on_devices = false, conductance = false;
};

/// Python system (nudge.Dynamics), whose attributes are read once; the terms of the plan call its methods. Made, copied
/// and used with or without the GIL, which its methods take.
class OwnSystem {
 public:
  /// Reads a system. UserError for attributes that contradict each other.
  explicit OwnSystem(const nb::object& object);
  ~OwnSystem();

  /// Makes a shallow copy for one thread, with an input and parameters of its own.
  nb::object copy() const;
  /// Returns its parameters at the start of a run with that seed, as matrices.
  std::vector<Matrix<double>> initial(std::uint64_t seed) const;

  Index cols = 0;
  Columns output = {};
  bool conservative = false, contrastive = false;
  bool solves = false;  ///< states come from its method _solve
  double leak = 0;
  std::vector<OwnParameter> parameters;

 private:
  nb::object object_;
};

/// Plan of network.kind = own: one term, whose force is the system's. Its nodes are the output of the system and the
/// units before and behind it.
std::shared_ptr<const NetworkPlan> own_plan(const nb::object& system, Index rows, Index inputs, Index outputs);

/// Term of network.kind = own with the force F(z) + L z of a Python system; the circuit takes off the leak L of the
/// nodes. The system sees numbers as they are. Of arrays of devices it reads products, x W and x Wᵀ, as every network does: all
/// rows with fresh noise of their own, and another read for every product. What else it does with their elements takes a read
/// of each element by itself, of every row of the state.
template <class S>
class OwnTerm final : public Term<S> {
 public:
  OwnTerm(std::shared_ptr<const OwnSystem> system, std::vector<const LinearMap<S>*> maps, int nodes)
      : system_(std::move(system)), maps_(std::move(maps)), nodes_(nodes) {}

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  class Solved;
  std::shared_ptr<const OwnSystem> system_;
  std::vector<const LinearMap<S>*> maps_;
  int nodes_;
};

}  // namespace nudge::python
