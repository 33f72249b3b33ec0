// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "reference/case_kind.hpp"

namespace nudge {

/// The equilibrium block of the cases' README.md; `beta` multiplies the mean cost as it stands.
std::vector<CaseDataset> compute_eqblock(const H5Reader& file);
/// The layered equilibrium transformer of LETNET.md.
std::vector<CaseDataset> compute_letnet(const H5Reader& file);
/// Layered Hopfield networks, dense and convolutional, of NETWORKS.md, section 1: kinds hopnet and convnet.
std::vector<CaseDataset> compute_hopnet(const H5Reader& file);
/// Deep resistive networks of NETWORKS.md, section 2. NumericalFailure naming the file where a phase has no steady state.
std::vector<CaseDataset> compute_drn(const H5Reader& file);

/// The kinds of MIXERS.md, by family.
std::vector<CaseKind> attention_case_kinds();         ///< mha, ..., loop_elastic
std::vector<CaseKind> free_energy_case_kinds();       ///< fem_*, tdc
std::vector<CaseKind> read_case_kinds();              ///< hidden_temp, stress
std::vector<CaseKind> free_transformer_case_kinds();  ///< ft_mapper, ..., ft_gen
std::vector<CaseKind> training_case_kinds();          ///< toy, ft_synth_examples

}  // namespace nudge
