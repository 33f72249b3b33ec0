// SPDX-License-Identifier: Apache-2.0
// One operation: its forward sweep, its tangent sweep and its adjoint sweep belong together, hence the length.
#include "mixers/ops/decaying_read.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Tokens between stored memories: the adjoint sweep computes the memories of one chunk again, so what is kept per
/// token is a 1/64 of a memory.
constexpr Index kChunk = 64;

template <class S>
class DecayingRead final : public Operation<S> {
 public:
  DecayingRead(MemoryRead read, bool direct, DecayingMemory<S>* stream)
      : read_(read), direct_(direct), stream_(stream) {}

  std::string_view name() const override { return "decaying_read"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    const View a(x, direct_);
    y.resize(a.tokens, 2 * a.channels);
    DecayingMemory<S> memory =
        stream_ != nullptr && stream_->mean.size() > 0 ? *stream_ : DecayingMemory<S>(a.cells, a.channels);
    stored_.clear();
    std::vector<S> beta_v(static_cast<std::size_t>(a.channels));
    for (Index t = 0; t < a.tokens; ++t) {
      if (t % kChunk == 0) stored_.push_back(memory);
      if (read_ == MemoryRead::previous) read(a, memory, t, y);
      absorb(a, t, beta_v, memory);
      if (read_ == MemoryRead::updated) read(a, memory, t, y);
    }
    if (stream_ != nullptr) *stream_ = std::move(memory);
  }

  void jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const override;
  void vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const override;

 private:
  struct View {
    const Matrix<S>&log_a, &log_b, &g, &v, &beta;
    const S* log_direct;
    Index tokens, cells, channels;
    View(Arguments<S> x, bool direct)
        : log_a(*x[0]),
          log_b(*x[1]),
          g(*x[2]),
          v(*x[3]),
          beta(*x[4]),
          log_direct(direct ? x[5]->data() : nullptr),
          tokens(v.rows()),
          cells(g.cols()),
          channels(v.cols()) {}
  };

  static void absorb(const View& a, Index t, std::vector<S>& beta_v, DecayingMemory<S>& memory) {
    for (Index c = 0; c < a.channels; ++c) beta_v[static_cast<std::size_t>(c)] = a.beta(0, c) * a.v(t, c);
    memory.absorb(a.g.row(t).data(), a.log_b.row(t).data(), a.v.row(t).data(), beta_v.data());
  }
  static void read(const View& a, const DecayingMemory<S>& memory, Index t, Matrix<S>& y) {
    memory.read(a.log_a.row(t).data(), a.beta.data(), a.log_direct, a.v.row(t).data(), y.row(t).data(),
                y.row(t).data() + a.channels);
  }
  static S at(const Matrix<S>* d, Index i, Index j) { return d != nullptr ? (*d)(i, j) : S(0); }

  /// The weights of a read: cell n has π_n = s_n/Z of the mass and κ_nc of the tilted mass; the direct term likewise.
  struct Weights {
    std::vector<S> mass;
    Matrix<S> tilt;
    S direct_mass = 0;
    std::vector<S> direct_tilt;
  };
  static void weigh(const View& a, const DecayingMemory<S>& memory, Index t, Weights& w);

  void tangent_of_absorb(const View& a, Arguments<S> dx, Index t, const DecayingMemory<S>& memory,
                         DecayingMemory<S>& d) const;
  void tangent_of_read(const View& a, Arguments<S> dx, Index t, const DecayingMemory<S>& memory,
                       const DecayingMemory<S>& d, const Matrix<S>& y, Weights& w, Matrix<S>& dy) const;
  void adjoint_of_absorb(const View& a, Cotangents<S> dx, Index t, const DecayingMemory<S>& before,
                         DecayingMemory<S>& u) const;
  void adjoint_of_read(const View& a, Cotangents<S> dx, Index t, const DecayingMemory<S>& memory, const Matrix<S>& y,
                       const Matrix<S>& dy, Weights& w, DecayingMemory<S>& u) const;

  MemoryRead read_;
  bool direct_;
  DecayingMemory<S>* stream_;
  std::vector<DecayingMemory<S>> stored_;  ///< before tokens 0, kChunk, 2 kChunk, ...
};

template <class S>
DecayingMemory<S> zero_like(Index cells, Index channels) {
  DecayingMemory<S> d(cells, channels);
  d.log_mass.setZero();
  d.log_tilt.setZero();
  return d;
}

template <class S>
void DecayingRead<S>::weigh(const View& a, const DecayingMemory<S>& memory, Index t, Weights& w) {
  w.mass.resize(static_cast<std::size_t>(a.cells));
  w.tilt.resize(a.cells, a.channels);
  w.direct_tilt.resize(static_cast<std::size_t>(a.channels));
  constexpr S nothing = -std::numeric_limits<S>::infinity();
  const auto normalise = [&](S direct, auto score, auto store) {
    S top = direct;
    for (Index n = 0; n < a.cells; ++n) top = std::max(top, score(n));
    S sum = std::exp(direct - top);
    for (Index n = 0; n < a.cells; ++n) sum += std::exp(score(n) - top);
    for (Index n = 0; n < a.cells; ++n) store(n, std::exp(score(n) - top) / sum);
    return std::exp(direct - top) / sum;
  };
  w.direct_mass = normalise(
      a.log_direct != nullptr ? *a.log_direct : nothing, [&](Index n) { return a.log_a(t, n) + memory.log_mass(n, 0); },
      [&](Index n, S p) { w.mass[static_cast<std::size_t>(n)] = p; });
  for (Index c = 0; c < a.channels; ++c) {
    w.direct_tilt[static_cast<std::size_t>(c)] = normalise(
        a.log_direct != nullptr ? *a.log_direct + a.beta(0, c) * a.v(t, c) : nothing,
        [&](Index n) { return a.log_a(t, n) + memory.log_tilt(n, c); }, [&](Index n, S p) { w.tilt(n, c) = p; });
  }
}

template <class S>
void DecayingRead<S>::tangent_of_absorb(const View& a, Arguments<S> dx, Index t, const DecayingMemory<S>& memory,
                                        DecayingMemory<S>& d) const {
  for (Index n = 0; n < a.cells; ++n) {
    const S dg = at(dx[2], t, n);
    const S db = at(dx[1], t, n);
    const S gap = memory.log_mass(n, 0) + a.g(t, n) - a.log_b(t, n);
    const S old = share(gap);
    const S fresh = share(-gap);
    const S moved = old * fresh * (d.log_mass(n, 0) + dg - db);
    d.log_mass(n, 0) = old * (d.log_mass(n, 0) + dg) + fresh * db;
    for (Index c = 0; c < a.channels; ++c) {
      const S dv = at(dx[3], t, c);
      const S dbeta_v = a.beta(0, c) * dv + at(dx[4], 0, c) * a.v(t, c);
      d.mean(n, c) = old * d.mean(n, c) + fresh * dv + moved * (memory.mean(n, c) - a.v(t, c));
      const S kept = share(memory.log_tilt(n, c) + a.g(t, n) - a.log_b(t, n) - a.beta(0, c) * a.v(t, c));
      d.log_tilt(n, c) = kept * (d.log_tilt(n, c) + dg) + (S(1) - kept) * (db + dbeta_v);
    }
  }
}

template <class S>
void DecayingRead<S>::tangent_of_read(const View& a, Arguments<S> dx, Index t, const DecayingMemory<S>& memory,
                                      const DecayingMemory<S>& d, const Matrix<S>& y, Weights& w, Matrix<S>& dy) const {
  weigh(a, memory, t, w);
  const S d_direct = direct_ ? at(dx[5], 0, 0) : S(0);
  S d_log_mass = w.direct_mass * d_direct;
  for (Index n = 0; n < a.cells; ++n) {
    d_log_mass += w.mass[static_cast<std::size_t>(n)] * (at(dx[0], t, n) + d.log_mass(n, 0));
  }
  for (Index c = 0; c < a.channels; ++c) {
    const S dv = at(dx[3], t, c);
    const S dbeta = at(dx[4], 0, c);
    S dmu = w.direct_mass * (dv + d_direct * (a.v(t, c) - y(t, c)));
    S dtilt = w.direct_tilt[static_cast<std::size_t>(c)] * (d_direct + a.beta(0, c) * dv + dbeta * a.v(t, c));
    for (Index n = 0; n < a.cells; ++n) {
      const S da = at(dx[0], t, n);
      dmu += w.mass[static_cast<std::size_t>(n)] *
             (d.mean(n, c) + (da + d.log_mass(n, 0)) * (memory.mean(n, c) - y(t, c)));
      dtilt += w.tilt(n, c) * (da + d.log_tilt(n, c));
    }
    dy(t, c) = dmu;
    dy(t, a.channels + c) = (dtilt - d_log_mass - y(t, a.channels + c) * dbeta) / a.beta(0, c);
  }
}

template <class S>
void DecayingRead<S>::jvp(Arguments<S> x, const Matrix<S>& y, Arguments<S> dx, Matrix<S>& dy) const {
  const View a(x, direct_);
  DecayingMemory<S> memory = stored_.front();
  DecayingMemory<S> d = zero_like<S>(a.cells, a.channels);
  std::vector<S> beta_v(static_cast<std::size_t>(a.channels));
  Weights w;
  for (Index t = 0; t < a.tokens; ++t) {
    if (read_ == MemoryRead::previous) tangent_of_read(a, dx, t, memory, d, y, w, dy);
    tangent_of_absorb(a, dx, t, memory, d);
    absorb(a, t, beta_v, memory);
    if (read_ == MemoryRead::updated) tangent_of_read(a, dx, t, memory, d, y, w, dy);
  }
}

template <class S>
void DecayingRead<S>::adjoint_of_absorb(const View& a, Cotangents<S> dx, Index t, const DecayingMemory<S>& before,
                                        DecayingMemory<S>& u) const {
  for (Index n = 0; n < a.cells; ++n) {
    const S gap = before.log_mass(n, 0) + a.g(t, n) - a.log_b(t, n);
    const S old = share(gap);
    const S fresh = share(-gap);
    S to_old = old * u.log_mass(n, 0);
    S to_fresh = fresh * u.log_mass(n, 0);
    S tilt_g = 0;
    S tilt_b = 0;
    for (Index c = 0; c < a.channels; ++c) {
      const S moved = u.mean(n, c) * old * fresh * (before.mean(n, c) - a.v(t, c));
      to_old += moved;
      to_fresh -= moved;
      const S kept = share(before.log_tilt(n, c) + a.g(t, n) - a.log_b(t, n) - a.beta(0, c) * a.v(t, c));
      const S entering = (S(1) - kept) * u.log_tilt(n, c);
      if (dx[3] != nullptr) (*dx[3])(t, c) += fresh * u.mean(n, c) + a.beta(0, c) * entering;
      if (dx[4] != nullptr) (*dx[4])(0, c) += a.v(t, c) * entering;
      u.mean(n, c) *= old;
      u.log_tilt(n, c) *= kept;
      tilt_g += u.log_tilt(n, c);
      tilt_b += entering;
    }
    if (dx[2] != nullptr) (*dx[2])(t, n) += to_old + tilt_g;
    if (dx[1] != nullptr) (*dx[1])(t, n) += to_fresh + tilt_b;
    u.log_mass(n, 0) = to_old;
  }
}

template <class S>
void DecayingRead<S>::adjoint_of_read(const View& a, Cotangents<S> dx, Index t, const DecayingMemory<S>& memory,
                                      const Matrix<S>& y, const Matrix<S>& dy, Weights& w, DecayingMemory<S>& u) const {
  weigh(a, memory, t, w);
  S from_free_energy = 0;  // −∂/∂ log Z
  S to_direct = 0;
  for (Index c = 0; c < a.channels; ++c) {
    const S um = dy(t, c);
    const S uf = dy(t, a.channels + c) / a.beta(0, c);
    const S direct_tilt = w.direct_tilt[static_cast<std::size_t>(c)];
    from_free_energy += uf;
    to_direct += um * w.direct_mass * (a.v(t, c) - y(t, c)) + uf * direct_tilt;
    if (dx[3] != nullptr) (*dx[3])(t, c) += um * w.direct_mass + uf * direct_tilt * a.beta(0, c);
    if (dx[4] != nullptr) (*dx[4])(0, c) += uf * (direct_tilt * a.v(t, c) - y(t, a.channels + c));
  }
  for (Index n = 0; n < a.cells; ++n) {
    const S p = w.mass[static_cast<std::size_t>(n)];
    S to_mass = -p * from_free_energy;
    S to_tilt = 0;
    for (Index c = 0; c < a.channels; ++c) {
      const S um = dy(t, c);
      const S tilt = dy(t, a.channels + c) / a.beta(0, c) * w.tilt(n, c);
      to_mass += p * um * (memory.mean(n, c) - y(t, c));
      u.mean(n, c) += p * um;
      u.log_tilt(n, c) += tilt;
      to_tilt += tilt;
    }
    u.log_mass(n, 0) += to_mass;
    if (dx[0] != nullptr) (*dx[0])(t, n) += to_mass + to_tilt;
  }
  if (direct_ && dx[5] != nullptr) (*dx[5])(0, 0) += to_direct - w.direct_mass * from_free_energy;
}

template <class S>
void DecayingRead<S>::vjp(Arguments<S> x, const Matrix<S>& y, const Matrix<S>& dy, Cotangents<S> dx) const {
  const View a(x, direct_);
  DecayingMemory<S> u = zero_like<S>(a.cells, a.channels);
  std::vector<S> beta_v(static_cast<std::size_t>(a.channels));
  std::vector<DecayingMemory<S>> memories;
  Weights w;
  for (std::size_t chunk = stored_.size(); chunk-- > 0;) {
    const Index begin = static_cast<Index>(chunk) * kChunk;
    const Index end = std::min(begin + kChunk, a.tokens);
    memories.assign(1, stored_[chunk]);
    for (Index t = begin; t < end; ++t) {
      memories.push_back(memories.back());
      absorb(a, t, beta_v, memories.back());
    }
    for (Index t = end; t-- > begin;) {
      const auto before = static_cast<std::size_t>(t - begin);
      if (read_ == MemoryRead::updated) adjoint_of_read(a, dx, t, memories[before + 1], y, dy, w, u);
      adjoint_of_absorb(a, dx, t, memories[before], u);
      if (read_ == MemoryRead::previous) adjoint_of_read(a, dx, t, memories[before], y, dy, w, u);
    }
  }
}

}  // namespace

template <class S>
Value<S> decaying_read(Value<S> log_a, Value<S> log_b, Value<S> g, Value<S> v, Value<S> beta,
                       std::optional<Value<S>> log_direct, MemoryRead read, DecayingMemory<S>* stream) {
  NUDGE_EXPECT(log_a.cols() == g.cols() && log_b.cols() == g.cols() && beta.cols() == v.cols());
  NUDGE_EXPECT(log_a.rows() == v.rows() && log_b.rows() == v.rows() && g.rows() == v.rows());
  NUDGE_EXPECT(read == MemoryRead::updated || log_direct.has_value());
  auto operation = std::make_unique<DecayingRead<S>>(read, log_direct.has_value(), stream);
  if (log_direct) return v.tape->record(std::move(operation), {log_a, log_b, g, v, beta, *log_direct});
  return v.tape->record(std::move(operation), {log_a, log_b, g, v, beta});
}

#define NUDGE_INSTANTIATE(S)                                                                                    \
  template Value<S> decaying_read<S>(Value<S>, Value<S>, Value<S>, Value<S>, Value<S>, std::optional<Value<S>>, \
                                     MemoryRead, DecayingMemory<S>*);
NUDGE_INSTANTIATE(float)
NUDGE_INSTANTIATE(double)
#undef NUDGE_INSTANTIATE

}  // namespace nudge
