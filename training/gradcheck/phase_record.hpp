// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "sim/io/h5_document.hpp"
#include "training/batch/batch_gradient.hpp"

namespace nudge {

/// Record of the phases of some samples (gradcheck.record), step by step, with the gradients per step of Ernoult et al. 2019
/// (arXiv:1905.13633). Δ_t belongs to an estimator whose nudged states z_t give the gradient G(z_t), ∇_t to bptt:
///     Δ_t = G(z_{t+1}) − G(z_t),  Σ_t Δ_t = the estimator's gradient,      ∇_t = ε ⟨λ_t, ∂F/∂θ(z_{T1−1−t})⟩,  λ_0 = ∂C/∂z(z_T1).
/// If J is symmetric and the last T2 steps of the free phase stand still, Δ_t = ∇_t to first order in β. Both belong to the sample's own
/// cost. A group is a vector: `update` and `bptt` are its components along Σ_t ∇_t, `distance` is |Δ_t − ∇_t|. Row-major; NaN: no such step.
struct PhaseRecord {
  std::vector<std::int64_t> samples;
  std::vector<std::string> estimators, groups;
  std::vector<double> beta;              ///< (estimator)
  std::vector<double> free;              ///< (sample, free step, row, unit)
  std::vector<double> nudged;            ///< (estimator, sample, nudge, nudged step, row, unit)
  std::vector<double> update, distance;  ///< (estimator, sample, group, step)
  std::vector<double> bptt;              ///< (sample, group, step)
  Index free_states = 0, nudges = 0, nudged_states = 0, rows = 0, units = 0;
};

/// An estimator of a record, with its nudge.
struct RecordedEstimator {
  std::string name;
  double beta = 0;
};

/// Records samples of a batch, numbered from 0: its sequences, or its rows if the network does not couple them. `options` of an estimator.
/// UserError for an estimator whose gradient comes from no nudged states.
template <class S>
PhaseRecord record_phases(const Network<S>& network, const Batch& batch, const std::vector<std::int64_t>& samples,
                          const std::vector<RecordedEstimator>& estimators, std::uint64_t step,
                          const std::function<BatchGradientOptions(const RecordedEstimator&)>& options);

/// The group /record, as docs/reference/files.md says.
void write_record(const PhaseRecord& record, H5Document& document);

}  // namespace nudge
