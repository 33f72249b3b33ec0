// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "training/models/network_plan.hpp"

namespace nudge {

/// Reads the initial weights of a network from a file (model.weights, --weights). Every group is a matrix (inputs, outputs) of
/// floats or integers, with its name in /parameters of a run file. nudge.Network.state_dict() of Python has the same names.
///     .npz           arrays of NumPy (np.savez)
///     .safetensors   8 bytes length, JSON header, data: F64, F32, F16, BF16 (https://github.com/huggingface/safetensors, "Format")
///     other          HDF5: below /parameters of a run file, else in the root
/// `weights` must have the shapes of the plan's parameters. UserError naming file, parameter and rule for a missing group (with the
/// nearest name), or a group that the network does not have. Also for another shape (a transpose is pointed out), or a number that
/// is not finite.
template <class S>
void read_weights(const std::string& path, const NetworkPlan& plan, std::vector<Matrix<S>>& weights);

}  // namespace nudge
