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

/// A parameter of a system: its shape there, and as the matrix (inputs, outputs) that a map holds, (1, n) of a vector.
struct OwnParameter {
  std::string name;
  std::vector<std::size_t> shape;
  ParameterShape matrix = {};
  bool on_devices = false, conductance = false;
};

/// What a Python system (nudge.Dynamics) is, read once; its methods are called by the terms of the plan. Made, copied and used with or
/// without the GIL, which its methods take.
class OwnSystem {
 public:
  /// UserError for attributes that contradict each other.
  explicit OwnSystem(const nb::object& object);
  ~OwnSystem();

  /// A shallow copy for one thread: it has an input and parameters of its own.
  nb::object copy() const;
  /// Its parameters at the start of a run with that seed, as matrices.
  std::vector<Matrix<double>> initial(std::uint64_t seed) const;

  Index cols = 0;
  Columns output = {};
  bool conservative = false, contrastive = false;
  double leak = 0;
  std::vector<OwnParameter> parameters;

 private:
  nb::object object_;
};

/// The plan of network.kind = own: one term, whose force is the system's, between nodes that are its output and the units before and behind.
std::shared_ptr<const NetworkPlan> own_plan(const nb::object& system, Index rows, Index inputs, Index outputs);

/// F(z) + L z of a Python system, L the leak of the nodes, which the circuit takes off: the force of network.kind = own.
/// What the system sees of its parameters are reads, each element by itself (a drive of 1 on its line alone): of numbers what they are; of
/// devices with their fresh noise for every use of every force and every product of every row of the state, as the class of the read asks for
/// it: a row that takes a parameter twice from its dict in one force sees two reads, as two passes through an array are.
template <class S>
class OwnTerm final : public Term<S> {
 public:
  OwnTerm(std::shared_ptr<const OwnSystem> system, std::vector<const LinearMap<S>*> maps, int nodes)
      : system_(std::move(system)), maps_(std::move(maps)), nodes_(nodes) {}

  TermTraits traits() const override;
  std::unique_ptr<TermSystem<S>> make_system(Index rows, Index max_copies) const override;

 private:
  class System;
  std::shared_ptr<const OwnSystem> system_;
  std::vector<const LinearMap<S>*> maps_;
  int nodes_;
};

}  // namespace nudge::python
