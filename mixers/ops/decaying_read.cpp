// SPDX-License-Identifier: Apache-2.0
// One operation: its forward sweep, its tangent sweep and its adjoint sweep belong together, hence the length.
#include "mixers/ops/reads.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Tokens between stored memories. The adjoint sweep computes the memories of one chunk again, so that a token keeps 1/16 of
/// a memory. The memories of a chunk, some tens of thousands of numbers each in a state-space prior, stay in a cache.
constexpr Index kChunk = 16;

template <class S>
class DecayingRead final : public Operation<S> {
 public:
  DecayingRead(Index groups, MemoryRead read, bool tilted, bool direct, DecayingMemory<S>* stream)
      : groups_(groups), read_(read), tilted_(tilted), direct_(direct), stream_(stream) {}

  std::string_view name() const override { return "decaying_read"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    const View a(x, *this);
    y.resize(a.tokens, a.channels + a.tilts);
    DecayingMemory<S> memory = stream_ != nullptr && stream_->mean.size() > 0
                                   ? *stream_
                                   : DecayingMemory<S>(a.cells, groups_, a.channels, tilted_);
    stored_.clear();
    Space& space = space_of_thread();
    for (Index t = 0; t < a.tokens; ++t) {
      if (t % kChunk == 0) stored_.push_back(memory);
      if (read_ == MemoryRead::previous) read(a, memory, t, space, y);
      absorb(a, t, space.step, memory);
      if (read_ == MemoryRead::updated) read(a, memory, t, space, y);
    }
    if (stream_ != nullptr) *stream_ = std::move(memory);
  }

  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override;
  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override;

 private:
  static constexpr std::size_t kBeta = 4;
  std::size_t direct_at() const { return tilted_ ? kBeta + 1 : kBeta; }

  /// Arguments of the read; β and log_direct null if there is none.
  struct View {
    const Matrix<S>&log_a, &log_b, &g, &v;
    const S *beta, *log_direct;
    Index tokens, groups, cells, channels, tilts;  ///< cells of one group; tilts: C or 0
    Matrix<S> beta_v;                              ///< (T, tilts)
    View(Arguments<S> x, const DecayingRead& read)
        : log_a(*x[0]),
          log_b(*x[1]),
          g(*x[2]),
          v(*x[3]),
          beta(read.tilted_ ? x[kBeta]->data() : nullptr),
          log_direct(read.direct_ ? x[read.direct_at()]->data() : nullptr),
          tokens(v.rows()),
          groups(read.groups_),
          cells(g.cols() / groups),
          channels(v.cols()),
          tilts(read.tilted_ ? channels : 0) {
      if (read.tilted_) beta_v = v.array().rowwise() * x[kBeta]->row(0).array();
    }
    Index group(Index channel) const { return channel / (channels / groups); }
    const S* tilt(Index t) const { return tilts > 0 ? beta_v.row(t).data() : nullptr; }
  };
  /// Tangents of the arguments; null where an argument does not move.
  struct Tangents {
    const S *log_a, *log_b, *g, *v, *beta, *log_direct;
    Tangents(Arguments<S> dx, const DecayingRead& read)
        : log_a(data(dx[0])),
          log_b(data(dx[1])),
          g(data(dx[2])),
          v(data(dx[3])),
          beta(read.tilted_ ? data(dx[kBeta]) : nullptr),
          log_direct(read.direct_ ? data(dx[read.direct_at()]) : nullptr) {}
    static const S* data(const Matrix<S>* m) { return m != nullptr ? m->data() : nullptr; }
    static S at(const S* d, Index i) { return d != nullptr ? d[i] : S(0); }
  };
  /// Cotangents of the arguments; unwanted ones are in matrices of its own.
  class Adjoints {
   public:
    Adjoints(const View& a, const DecayingRead& read, Cotangents<S> dx)
        : log_a(place(0, &dx[0], a.tokens, a.g.cols())),
          log_b(place(1, &dx[1], a.tokens, a.g.cols())),
          g(place(2, &dx[2], a.tokens, a.g.cols())),
          v(place(3, &dx[3], a.tokens, a.channels)),
          beta(read.tilted_ ? place(4, &dx[kBeta], 1, a.channels) : unwanted_[4]),
          log_direct(read.direct_ ? place(5, &dx[read.direct_at()], 1, a.groups) : place(5, nullptr, 1, a.groups)) {}

   private:
    Matrix<S>& place(std::size_t at, Cotangent<S>* sum, Index rows, Index cols) {
      if (sum != nullptr && !(*sum == nullptr)) return **sum;
      return unwanted_[at] = Matrix<S>::Zero(rows, cols);
    }
    std::array<Matrix<S>, 6> unwanted_;

   public:
    Matrix<S>&log_a, &log_b, &g, &v, &beta, &log_direct;
  };
  /// Working memory of the sweeps, once per thread: a step makes thousands of small matrices otherwise.
  struct Space {
    MemoryStep<S> step;
    MemoryShares<S> shares;
    std::vector<DecayingMemory<S>> memories = std::vector<DecayingMemory<S>>(kChunk + 1);
    std::vector<MemoryStep<S>> steps = std::vector<MemoryStep<S>>(kChunk);
    std::vector<S> old, fresh, mass, to_channels, to_groups, to_tokens;
  };
  static Space& space_of_thread() {
    static thread_local Space space;
    return space;
  }

  static void absorb(const View& a, Index t, MemoryStep<S>& step, DecayingMemory<S>& memory) {
    step.prepare(memory, a.g.row(t).data(), a.log_b.row(t).data(), a.tilt(t));
    step.apply(a.v.row(t).data(), memory);
  }
  static void weigh(const View& a, const DecayingMemory<S>& memory, Index t, MemoryShares<S>& shares) {
    shares.set(memory, a.log_a.row(t).data(), a.tilt(t), a.log_direct);
  }
  /// Writes the read of token t, [μ | F], to row t of y; the shares in `space` are overwritten.
  static void read(const View& a, const DecayingMemory<S>& memory, Index t, Space& space, Matrix<S>& y) {
    const MemoryShares<S>& w = space.shares;
    weigh(a, memory, t, space.shares);
    S* const mu = y.row(t).data();
    S* const free_energy = mu + a.channels;
    const auto of_channels = [&](const Matrix<S>& m, Index row) {
      return per_channel(m.row(row).data(), a.groups, a.channels, space.mass);
    };
    const S* const direct = of_channels(w.direct, 0);
    for (Index c = 0; c < a.channels; ++c) mu[c] = direct[c] * a.v(t, c);
    for (Index n = 0; n < a.cells; ++n) {
      const S* const mean = memory.mean.row(n).data();
      const S* const mass = of_channels(w.cells, n);
      for (Index c = 0; c < a.channels; ++c) mu[c] += mass[c] * mean[c];
    }
    if (a.tilts == 0) return;
    const S* const log_mass = of_channels(w.log_total, 0);
    const S* const log_tilt = w.log_total.data() + a.groups;
    for (Index c = 0; c < a.tilts; ++c) free_energy[c] = (log_tilt[c] - log_mass[c]) / a.beta[c];
  }

  static void tangent_of_absorb(const View& a, const Tangents& dx, Index t, const MemoryStep<S>& step,
                                const DecayingMemory<S>& before, DecayingMemory<S>& d);
  static void tangent_of_read(const View& a, const Tangents& dx, Index t, const DecayingMemory<S>& memory,
                              const DecayingMemory<S>& d, const Matrix<S>& y, MemoryShares<S>& w, Matrix<S>& dy);
  static void adjoint_of_absorb(const View& a, Index t, const MemoryStep<S>& step, const DecayingMemory<S>& before,
                                Space& space, DecayingMemory<S>& u, Adjoints& to);
  static void adjoint_of_read(const View& a, Index t, const DecayingMemory<S>& memory, const Matrix<S>& y,
                              const Matrix<S>& dy, Space& space, DecayingMemory<S>& u, Adjoints& to);
  DecayingMemory<S> unmoved(const View& a) const {
    DecayingMemory<S> d(a.cells, groups_, a.channels, tilted_);
    d.log_mass.setZero();
    return d;
  }

  Index groups_;
  MemoryRead read_;
  bool tilted_, direct_;
  DecayingMemory<S>* stream_;
  std::vector<DecayingMemory<S>> stored_;  ///< memories before tokens 0, kChunk, 2 kChunk, ...
};

template <class S>
void DecayingRead<S>::tangent_of_absorb(const View& a, const Tangents& dx, Index t, const MemoryStep<S>& step,
                                        const DecayingMemory<S>& before, DecayingMemory<S>& d) {
  const auto dg = [&](Index n, Index group) { return dx.at(dx.g, (t * a.cells + n) * a.groups + group); };
  const auto db = [&](Index n, Index group) { return dx.at(dx.log_b, (t * a.cells + n) * a.groups + group); };
  for (Index n = 0; n < a.cells; ++n) {
    for (Index c = 0; c < a.channels; ++c) {
      const Index group = a.group(c);
      const S old = step.kept(n, group);
      const S fresh = step.entered(n, group);
      const S moved = old * fresh * (d.log_mass(n, group) + dg(n, group) - db(n, group));
      d.mean(n, c) =
          old * d.mean(n, c) + fresh * dx.at(dx.v, t * a.channels + c) + moved * (before.mean(n, c) - a.v(t, c));
    }
    for (Index group = 0; group < a.groups; ++group) {
      d.log_mass(n, group) =
          step.kept(n, group) * (d.log_mass(n, group) + dg(n, group)) + step.entered(n, group) * db(n, group);
    }
    for (Index c = 0; c < a.tilts; ++c) {
      const Index lane = a.groups + c;
      const S dbeta_v = a.beta[c] * dx.at(dx.v, t * a.channels + c) + dx.at(dx.beta, c) * a.v(t, c);
      d.log_mass(n, lane) = step.kept(n, lane) * (d.log_mass(n, lane) + dg(n, a.group(c))) +
                            step.entered(n, lane) * (db(n, a.group(c)) + dbeta_v);
    }
  }
}

template <class S>
void DecayingRead<S>::tangent_of_read(const View& a, const Tangents& dx, Index t, const DecayingMemory<S>& memory,
                                      const DecayingMemory<S>& d, const Matrix<S>& y, MemoryShares<S>& w,
                                      Matrix<S>& dy) {
  weigh(a, memory, t, w);
  const auto da = [&](Index n, Index group) { return dx.at(dx.log_a, (t * a.cells + n) * a.groups + group); };
  for (Index c = 0; c < a.channels; ++c) {
    const Index group = a.group(c);
    const S d_direct = dx.at(dx.log_direct, group);
    const S dv = dx.at(dx.v, t * a.channels + c);
    S dmu = w.direct(0, group) * (dv + d_direct * (a.v(t, c) - y(t, c)));
    S dmass = w.direct(0, group) * d_direct;
    for (Index n = 0; n < a.cells; ++n) {
      const S dlog = da(n, group) + d.log_mass(n, group);
      dmu += w.cells(n, group) * (d.mean(n, c) + dlog * (memory.mean(n, c) - y(t, c)));
      dmass += w.cells(n, group) * dlog;
    }
    dy(t, c) = dmu;
    if (a.tilts == 0) continue;
    const Index lane = a.groups + c;
    const S dbeta = dx.at(dx.beta, c);
    S dtilt = w.direct(0, lane) * (d_direct + a.beta[c] * dv + dbeta * a.v(t, c));
    for (Index n = 0; n < a.cells; ++n) dtilt += w.cells(n, lane) * (da(n, group) + d.log_mass(n, lane));
    dy(t, a.channels + c) = (dtilt - dmass - y(t, a.channels + c) * dbeta) / a.beta[c];
  }
}

template <class S>
void DecayingRead<S>::jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const {
  const View a(x, *this);
  const Tangents moves(dx, *this);
  DecayingMemory<S> memory = stored_.front();
  DecayingMemory<S> d = unmoved(a);
  Space& space = space_of_thread();
  for (Index t = 0; t < a.tokens; ++t) {
    if (read_ == MemoryRead::previous) tangent_of_read(a, moves, t, memory, d, y, space.shares, dy);
    space.step.prepare(memory, a.g.row(t).data(), a.log_b.row(t).data(), a.tilt(t));
    tangent_of_absorb(a, moves, t, space.step, memory, d);
    space.step.apply(a.v.row(t).data(), memory);
    if (read_ == MemoryRead::updated) tangent_of_read(a, moves, t, memory, d, y, space.shares, dy);
  }
}

template <class S>
void DecayingRead<S>::adjoint_of_absorb(const View& a, Index t, const MemoryStep<S>& step,
                                        const DecayingMemory<S>& before, Space& space, DecayingMemory<S>& u,
                                        Adjoints& to) {
  const S* const v = a.v.row(t).data();
  S* const to_v = to.v.row(t).data();
  S* const to_beta = to.beta.data();
  space.to_channels.resize(static_cast<std::size_t>(a.channels));
  space.to_tokens.resize(static_cast<std::size_t>(a.tilts));
  space.to_groups.resize(static_cast<std::size_t>(a.groups));
  S* const to_channels = space.to_channels.data();
  S* const entering = space.to_tokens.data();
  S* const moved = space.to_groups.data();
  for (Index n = 0; n < a.cells; ++n) {
    const S* const kept = step.kept.row(n).data();
    const S* const entered = step.entered.row(n).data();
    const S* const mean = before.mean.row(n).data();
    S* const u_mean = u.mean.row(n).data();
    S* const u_mass = u.log_mass.row(n).data();
    S* const to_g = to.g.row(t).data() + n * a.groups;
    S* const to_b = to.log_b.row(t).data() + n * a.groups;
    const S* const old = per_channel(kept, a.groups, a.channels, space.old);
    const S* const fresh = per_channel(entered, a.groups, a.channels, space.fresh);
    for (Index c = 0; c < a.channels; ++c) {
      to_channels[c] = u_mean[c] * (mean[c] - v[c]);
      to_v[c] += fresh[c] * u_mean[c];
      u_mean[c] *= old[c];
    }
    std::fill_n(moved, a.groups, S(0));
    add_channels(to_channels, a.groups, a.channels, moved);
    for (Index g = 0; g < a.groups; ++g) {
      const S by_share = moved[g] * kept[g] * entered[g];
      to_b[g] += entered[g] * u_mass[g] - by_share;
      u_mass[g] = kept[g] * u_mass[g] + by_share;
      to_g[g] += u_mass[g];
    }
    if (a.tilts == 0) continue;
    S* const u_tilt = u_mass + a.groups;
    for (Index c = 0; c < a.tilts; ++c) {
      entering[c] = entered[a.groups + c] * u_tilt[c];
      to_v[c] += a.beta[c] * entering[c];
      to_beta[c] += v[c] * entering[c];
      u_tilt[c] *= kept[a.groups + c];
    }
    add_channels(entering, a.groups, a.channels, to_b);
    add_channels(u_tilt, a.groups, a.channels, to_g);
  }
}

template <class S>
void DecayingRead<S>::adjoint_of_read(const View& a, Index t, const DecayingMemory<S>& memory, const Matrix<S>& y,
                                      const Matrix<S>& dy, Space& space, DecayingMemory<S>& u, Adjoints& to) {
  MemoryShares<S>& w = space.shares;
  weigh(a, memory, t, w);
  const S* const um = dy.row(t).data();
  const S* const mu = y.row(t).data();
  space.to_channels.resize(static_cast<std::size_t>(a.channels));
  space.to_tokens.resize(static_cast<std::size_t>(a.tilts));
  space.to_groups.assign(static_cast<std::size_t>(a.groups), S(0));
  S* const to_channels = space.to_channels.data();
  S* const uf = space.to_tokens.data();                // ∂/∂F over β
  S* const from_free_energy = space.to_groups.data();  // −∂/∂ log Z of every group
  S* const to_direct = to.log_direct.data();
  const S* const direct = per_channel(w.direct.data(), a.groups, a.channels, space.fresh);
  for (Index c = 0; c < a.channels; ++c) {
    to_channels[c] = um[c] * direct[c] * (a.v(t, c) - mu[c]);
    to.v(t, c) += um[c] * direct[c];
  }
  add_channels(to_channels, a.groups, a.channels, to_direct);
  if (a.tilts > 0) {
    const S* const direct_tilt = w.direct.data() + a.groups;
    for (Index c = 0; c < a.tilts; ++c) {
      uf[c] = um[a.channels + c] / a.beta[c];
      to_channels[c] = uf[c] * direct_tilt[c];
      to.v(t, c) += um[a.channels + c] * direct_tilt[c];
      to.beta(0, c) += uf[c] * (direct_tilt[c] * a.v(t, c) - mu[a.channels + c]);
    }
    add_channels(uf, a.groups, a.channels, from_free_energy);
    add_channels(to_channels, a.groups, a.channels, to_direct);
  }
  for (Index g = 0; g < a.groups; ++g) to_direct[g] -= w.direct(0, g) * from_free_energy[g];
  space.mass.resize(static_cast<std::size_t>(a.groups));
  S* const to_mass = space.mass.data();
  for (Index n = 0; n < a.cells; ++n) {
    const S* const shares = w.cells.row(n).data();
    const S* const mean = memory.mean.row(n).data();
    S* const u_mean = u.mean.row(n).data();
    S* const u_mass = u.log_mass.row(n).data();
    S* const to_a = to.log_a.row(t).data() + n * a.groups;
    const S* const mass = per_channel(shares, a.groups, a.channels, space.old);
    for (Index c = 0; c < a.channels; ++c) {
      to_channels[c] = um[c] * (mean[c] - mu[c]);
      u_mean[c] += mass[c] * um[c];
    }
    for (Index g = 0; g < a.groups; ++g) to_mass[g] = -from_free_energy[g];
    add_channels(to_channels, a.groups, a.channels, to_mass);
    for (Index g = 0; g < a.groups; ++g) {
      u_mass[g] += shares[g] * to_mass[g];
      to_a[g] += shares[g] * to_mass[g];
    }
    if (a.tilts == 0) continue;
    for (Index c = 0; c < a.tilts; ++c) {
      to_channels[c] = uf[c] * shares[a.groups + c];
      u_mass[a.groups + c] += to_channels[c];
    }
    add_channels(to_channels, a.groups, a.channels, to_a);
  }
}

template <class S>
void DecayingRead<S>::vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const {
  const View a(x, *this);
  Adjoints to(a, *this, dx);
  DecayingMemory<S> u = unmoved(a);
  Space& space = space_of_thread();
  for (std::size_t chunk = stored_.size(); chunk-- > 0;) {
    const Index begin = static_cast<Index>(chunk) * kChunk;
    const Index end = std::min(begin + kChunk, a.tokens);
    space.memories[0] = stored_[chunk];
    for (Index t = begin; t < end; ++t) {
      const auto i = static_cast<std::size_t>(t - begin);
      space.memories[i + 1] = space.memories[i];
      absorb(a, t, space.steps[i], space.memories[i + 1]);
    }
    for (Index t = end; t-- > begin;) {
      const auto i = static_cast<std::size_t>(t - begin);
      if (read_ == MemoryRead::updated) adjoint_of_read(a, t, space.memories[i + 1], y, dy, space, u, to);
      adjoint_of_absorb(a, t, space.steps[i], space.memories[i], space, u, to);
      if (read_ == MemoryRead::previous) adjoint_of_read(a, t, space.memories[i], y, dy, space, u, to);
    }
  }
}

}  // namespace

template <class S>
Value<S> decaying_read(Index groups, Value<S> log_a, Value<S> log_b, Value<S> g, Value<S> v,
                       std::optional<Value<S>> beta, std::optional<Value<S>> log_direct, MemoryRead read,
                       DecayingMemory<S>* stream) {
  NUDGE_EXPECT(groups > 0 && g.cols() % groups == 0 && v.cols() % groups == 0);
  NUDGE_EXPECT(log_a.cols() == g.cols() && log_b.cols() == g.cols() && (!beta || beta->cols() == v.cols()));
  NUDGE_EXPECT(log_a.rows() == v.rows() && log_b.rows() == v.rows() && g.rows() == v.rows());
  NUDGE_EXPECT(!log_direct || log_direct->cols() == groups);
  NUDGE_EXPECT(read == MemoryRead::updated || log_direct.has_value());
  std::vector<Value<S>> arguments = {log_a, log_b, g, v};
  if (beta) arguments.push_back(*beta);
  if (log_direct) arguments.push_back(*log_direct);
  return v.tape->record(
      std::make_unique<DecayingRead<S>>(groups, read, beta.has_value(), log_direct.has_value(), stream), arguments);
}

#define NUDGE_DECAYING_READ(S)                                                                               \
  template Value<S> decaying_read<S>(Index, Value<S>, Value<S>, Value<S>, Value<S>, std::optional<Value<S>>, \
                                     std::optional<Value<S>>, MemoryRead, DecayingMemory<S>*);
NUDGE_BOTH_PRECISIONS(NUDGE_DECAYING_READ)

}  // namespace nudge
