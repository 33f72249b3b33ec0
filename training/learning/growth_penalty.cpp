// SPDX-License-Identifier: Apache-2.0
#include "training/learning/growth_penalty.hpp"

#include <cmath>

#include "sim/box.hpp"

namespace nudge {

/// Sets y_ = (1 + ε J) v_, with both shifted states in one evaluation.
template <class S>
void GrowthPenalty<S>::grow(Dynamics<S>& dynamics, ConstMatrixRef<S> z, S eta, S step) {
  const Index rows = z.rows();
  shifted_.resize(2 * rows, z.cols());
  forces_.resize(2 * rows, z.cols());
  shifted_.topRows(rows) = z + eta * v_;
  shifted_.bottomRows(rows) = z - eta * v_;
  dynamics.force(shifted_, forces_);
  y_ = v_ + (step / (S(2) * eta)) * (forces_.topRows(rows) - forces_.bottomRows(rows));
}

template <class S>
GrowthReport GrowthPenalty<S>::apply(Dynamics<S>& dynamics, ConstMatrixRef<S> z, double step, Index sequences,
                                     GradientSink<S>& sink) {
  GrowthReport report;
  v_.resize(z.rows(), z.cols());
  dynamics.begin_reads(ReadClass::monitor);
  dynamics.force(z, v_);
  if (dynamics.noisy()) {
    y_.resize(z.rows(), z.cols());
    dynamics.force(z, y_);
    const S noise = (v_ - y_).squaredNorm() / S(4);  // of the mean of both: E‖n₁ − n₂‖²/4
    v_ = S(0.5) * (v_ + y_);
    const bool drowned = v_.squaredNorm() < S(2) * noise;  // signal² = ‖mean‖² − noise² below noise²
    report.drowned = drowned ? 1 : 0;
    if (drowned) return report;
  }
  const S residual = v_.norm();
  const S eta = static_cast<S>(options_.probe) * z.norm();
  if (!std::isfinite(residual) || residual == S(0) || !(eta > S(0))) return report;
  v_ /= residual;
  for (int k = 0; k < options_.iterations; ++k) {
    grow(dynamics, z, eta, static_cast<S>(step));
    v_ = y_ / y_.norm();
  }
  grow(dynamics, z, eta, static_cast<S>(step));
  const S growth = y_.norm();
  report.growth = static_cast<double>(growth);
  report.active = report.growth > options_.threshold ? 1 : 0;
  if (report.active == 0 || !std::isfinite(growth)) return report;
  y_ /= growth;
  const S l =
      static_cast<S>(options_.strength * step / (2.0 * static_cast<double>(eta) * static_cast<double>(sequences)));
  const Index rows = z.rows();
  dynamics.linearize(shifted_.topRows(rows)).accumulate_parameter_gradient(y_, l, sink);
  dynamics.linearize(shifted_.bottomRows(rows)).accumulate_parameter_gradient(y_, -l, sink);
  return report;
}

/// Sets v_ = m ⊙ F(z) of the rows that count, 0 in the others and in those whose residual is noise or not finite; η of
/// each row.
template <class S>
void GrowthPenalty<S>::begin_rows(Dynamics<S>& dynamics, ConstMatrixRef<S> z, const Batch& batch, Index example,
                                  GrowthReport& report) {
  const Index rows = z.rows();
  v_.resize(rows, z.cols());
  moving_.setOnes(rows, z.cols());
  eta_.assign(static_cast<std::size_t>(rows), S(0));
  dynamics.begin_reads(ReadClass::monitor);
  dynamics.force(z, v_);
  const bool noisy = dynamics.noisy();
  if (noisy) {
    y_.resize(rows, z.cols());
    dynamics.force(z, y_);
  }
  if (const Box<S>* box = dynamics.box()) box->hold(z, v_, moving_, {0, z.cols()});
  const double counted = static_cast<double>(batch.counted(example));
  for (Index t = 0; t < rows; ++t) {
    auto v = v_.row(t);
    S noise = 0;
    if (noisy) {
      noise = (v - y_.row(t)).cwiseProduct(moving_.row(t)).squaredNorm() / S(4);
      v = S(0.5) * (v + y_.row(t));
    }
    v = v.cwiseProduct(moving_.row(t)).eval();
    const S signal = v.squaredNorm(), eta = static_cast<S>(options_.probe) * z.row(t).norm();
    const bool drowned = noisy && signal < S(2) * noise;
    const bool counts = batch.counts(example * batch.tokens + t);
    if (counts && drowned) report.drowned += 1 / counted;
    if (counts && !drowned && std::isfinite(signal) && signal > S(0) && eta > S(0)) {
      eta_[static_cast<std::size_t>(t)] = eta;
    } else {
      v.setZero();
    }
  }
}

/// Sets shifted_ = z ± η v.
template <class S>
void GrowthPenalty<S>::shift_rows(ConstMatrixRef<S> z) {
  const Index rows = z.rows();
  shifted_.resize(2 * rows, z.cols());
  for (Index t = 0; t < rows; ++t) {
    const S eta = eta_[static_cast<std::size_t>(t)];
    shifted_.row(t) = z.row(t) + eta * v_.row(t);
    shifted_.row(rows + t) = z.row(t) - eta * v_.row(t);
  }
}

/// Sets v_ to unit length in every row, without the units that the probes would take out of their box, and shifted_
/// with it.
template <class S>
void GrowthPenalty<S>::direct_rows(const Dynamics<S>& dynamics, ConstMatrixRef<S> z) {
  const Index rows = z.rows();
  for (bool again = true; again;) {  // each time with fewer units
    again = false;
    for (Index t = 0; t < rows; ++t) {
      const S length = v_.row(t).norm();
      if (length > S(0)) v_.row(t) /= length;
    }
    shift_rows(z);
    const Box<S>* box = dynamics.box();
    if (box == nullptr) return;
    forces_ = shifted_;
    box->project(forces_, {0, z.cols()});
    for (Index t = 0; t < rows; ++t) {
      for (Index i = 0; i < z.cols(); ++i) {
        const bool out = forces_(t, i) != shifted_(t, i) || forces_(rows + t, i) != shifted_(rows + t, i);
        if (!out || v_(t, i) == S(0)) continue;
        v_(t, i) = moving_(t, i) = S(0);
        again = true;
      }
    }
  }
}

/// Sets y_ = m ⊙ (1 + ε J) v_ of every row, at the shifted states.
template <class S>
void GrowthPenalty<S>::grow_rows(Dynamics<S>& dynamics, S step) {
  const Index rows = v_.rows();
  forces_.resize(2 * rows, v_.cols());
  dynamics.force(shifted_, forces_);
  y_.setZero(rows, v_.cols());
  for (Index t = 0; t < rows; ++t) {
    const S eta = eta_[static_cast<std::size_t>(t)];
    if (eta == S(0)) continue;
    y_.row(t) =
        v_.row(t) + (step / (S(2) * eta)) * (forces_.row(t) - forces_.row(rows + t)).cwiseProduct(moving_.row(t));
  }
}

template <class S>
GrowthReport GrowthPenalty<S>::apply_rows(Dynamics<S>& dynamics, ConstMatrixRef<S> z, double step, const Batch& batch,
                                          Index example, GradientSink<S>& sink) {
  GrowthReport report;
  const Index rows = z.rows();
  begin_rows(dynamics, z, batch, example, report);
  direct_rows(dynamics, z);
  for (int k = 0; k < options_.iterations; ++k) {
    grow_rows(dynamics, static_cast<S>(step));
    v_ = y_;
    direct_rows(dynamics, z);
  }
  grow_rows(dynamics, static_cast<S>(step));
  const double counted = static_cast<double>(batch.counted(example));
  for (Index t = 0; t < rows; ++t) {
    const S eta = eta_[static_cast<std::size_t>(t)], growth = y_.row(t).norm();
    const bool measured = eta > S(0) && std::isfinite(growth);
    const bool active = measured && static_cast<double>(growth) > options_.threshold;
    if (measured) report.growth += static_cast<double>(growth) / counted;
    if (active) {
      report.active += 1 / counted;
      y_.row(t) /= growth * eta;
    } else {
      y_.row(t).setZero();
    }
  }
  if (report.active == 0) return report;
  const S l = static_cast<S>(options_.strength * step / (2.0 * static_cast<double>(batch.counted())));
  dynamics.linearize(shifted_.topRows(rows)).accumulate_parameter_gradient(y_, l, sink);
  dynamics.linearize(shifted_.bottomRows(rows)).accumulate_parameter_gradient(y_, -l, sink);
  return report;
}

NUDGE_BOTH_PRECISIONS_OF(GrowthPenalty)

}  // namespace nudge
