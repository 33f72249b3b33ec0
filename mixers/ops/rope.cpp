// SPDX-License-Identifier: Apache-2.0
#include "mixers/ops/operations.hpp"

#include <fmt/format.h>

#include <cmath>

#include "sim/base/errors.hpp"

namespace nudge {
namespace {

template <class S>
class Rotate final : public Operation<S> {
 public:
  Rotate(Index rows, Index cols, Index heads, Index first_position, RotaryPairs pairs)
      : pairs_(pairs), width_(cols / heads), cosine_(rows, width_ / 2), sine_(rows, width_ / 2) {
    for (Index t = 0; t < rows; ++t) {
      for (Index j = 0; j < width_ / 2; ++j) {
        const double angle = static_cast<double>(first_position + t) *
                             std::pow(10000.0, -2.0 * static_cast<double>(j) / static_cast<double>(width_));
        cosine_(t, j) = static_cast<S>(std::cos(angle));
        sine_(t, j) = static_cast<S>(std::sin(angle));
      }
    }
  }

  std::string_view name() const override { return "rotate_positions"; }

  void forward(Arguments<S> x, Matrix<S>& y) override {
    y.resize(x[0]->rows(), x[0]->cols());
    turn(*x[0], S(1), y, Store::assign);
  }
  void jvp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, Arguments<S> dx, Matrix<S>& dy) const override {
    turn(*dx[0], S(1), dy, Store::assign);
  }
  void vjp(Arguments<S> /*x*/, const Matrix<S>& /*y*/, const Matrix<S>& dy, Cotangents<S> dx) const override {
    if (dx[0] == nullptr) return;
    const Store store = dx[0].take();
    turn(dy, S(-1), *dx[0], store);
  }

 private:
  void turn(const Matrix<S>& x, S direction, Matrix<S>& y, Store store) const {
    if (pairs_ == RotaryPairs::halves) return turn_halves(x, direction, y, store);
    if (store == Store::assign) return turn_neighbours<Store::assign>(x, direction, y);
    turn_neighbours<Store::add>(x, direction, y);
  }

  void turn_halves(const Matrix<S>& x, S direction, Matrix<S>& y, Store store) const {
    const Index half = width_ / 2;
    for (Index t = 0; t < x.rows(); ++t) {
      const auto cosine = cosine_.row(t).array();
      const auto sine = direction * sine_.row(t).array();
      for (Index begin = 0; begin < x.cols(); begin += width_) {
        const auto a = x.row(t).segment(begin, half).array();
        const auto b = x.row(t).segment(begin + half, half).array();
        auto to_a = y.row(t).segment(begin, half).array();
        auto to_b = y.row(t).segment(begin + half, half).array();
        if (store == Store::assign) {
          to_a = a * cosine - b * sine;
          to_b = a * sine + b * cosine;
        } else {
          to_a += a * cosine - b * sine;
          to_b += a * sine + b * cosine;
        }
      }
    }
  }

  /// Turns neighbouring columns by plain loops over the pairs of a head, which compilers turn into vectors.
  template <Store store>
  void turn_neighbours(const Matrix<S>& x, S direction, Matrix<S>& y) const {
    const Index half = width_ / 2;
    for (Index t = 0; t < x.rows(); ++t) {
      const S* cosine = cosine_.row(t).data();
      const S* sine = sine_.row(t).data();
      for (Index begin = 0; begin < x.cols(); begin += width_) {
        const S* in = x.row(t).data() + begin;
        S* out = y.row(t).data() + begin;
        for (Index j = 0; j < half; ++j) {
          const S a = in[2 * j], b = in[2 * j + 1];
          const S to_a = a * cosine[j] - b * (direction * sine[j]), to_b = a * (direction * sine[j]) + b * cosine[j];
          out[2 * j] = store == Store::assign ? to_a : out[2 * j] + to_a;
          out[2 * j + 1] = store == Store::assign ? to_b : out[2 * j + 1] + to_b;
        }
      }
    }
  }

  RotaryPairs pairs_;
  Index width_;
  Matrix<S> cosine_, sine_;
};

}  // namespace

template <class S>
Value<S> rotate_positions(Value<S> x, Index heads, Index first_position, RotaryPairs pairs) {
  NUDGE_EXPECT(heads >= 1 && x.cols() % heads == 0);
  if ((x.cols() / heads) % 2 != 0) {
    throw UserError(fmt::format("head width {} is odd (rotary positions turn pairs of columns: use an even width)",
                                x.cols() / heads));
  }
  return x.tape->record(std::make_unique<Rotate<S>>(x.rows(), x.cols(), heads, first_position, pairs), {x});
}

template Value<float> rotate_positions<float>(Value<float>, Index, Index, RotaryPairs);
template Value<double> rotate_positions<double>(Value<double>, Index, Index, RotaryPairs);

}  // namespace nudge
