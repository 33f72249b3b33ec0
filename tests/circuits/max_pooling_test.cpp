// SPDX-License-Identifier: Apache-2.0
// Convolutions that pool by the maximum: a product written out, force against energy, J against differences, correlations against changes
// of the weights. All are exact but at ties, which random numbers do not have.
#include "circuits/circuit_dynamics.hpp"
#include "circuits/digital_matrix.hpp"
#include "circuits/terms/bilinear_link.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/support/map_sums.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Maps of 2 × 6 × 6 clamped; kernels to 3 maps, the largest of blocks of 2 (27 units); kernels without a border to 4 maps of one block
/// of 3 with stride 1 from 3 × 3 in a border of 1 (4 units). Two samples side by side.
struct Net {
  Net() {
    const Convolution low{2, 6, 6, 3, 3, 2, 1, Convolution::same_size, true}, high{3, 3, 3, 4, 3, 3, 1, 1, true};
    for (const Convolution& c : {low, high}) {
      maps.push_back(
          std::make_unique<DigitalMatrix<double>>(random_matrix<double>(c.patch(), c.maps, 10 + maps.size())));
    }
    const LinkEnd in{Term<double>::kInput, {0, 72}}, first{0, {0, 27}, NodeActivation::tanh},
        second{1, {27, 4}, NodeActivation::tanh};
    std::vector<std::unique_ptr<Term<double>>> terms;
    terms.push_back(std::make_unique<BilinearLink<double>>(in, first, LinkWeights<double>{0, maps[0].get(), low}));
    terms.push_back(std::make_unique<BilinearLink<double>>(first, second, LinkWeights<double>{1, maps[1].get(), high}));
    circuit = std::make_unique<Circuit<double>>(std::vector<Node>{{"first", {0, 27}}, {"second", {27, 4}}}, 72,
                                                std::move(terms), Damping{});
    dynamics = std::make_unique<CircuitDynamics<double>>(*circuit, 2, 2);
    bind();
  }
  void bind() { dynamics->bind(x, ReadContext{}); }

  Matrix<double> x = random_matrix<double>(2, 72, 3), z = random_matrix<double>(2, 31, 5);
  std::vector<std::unique_ptr<LinearMap<double>>> maps;
  std::unique_ptr<Circuit<double>> circuit;
  std::unique_ptr<CircuitDynamics<double>> dynamics;
};

/// Largest value of the block of map o of sample n at (y, w) of a convolution, by the definition.
double pooled(const Convolution& c, const Matrix<double>& x, const Matrix<double>& k, Index n, Index o, Index y,
              Index w) {
  double best = -1e300;
  for (Index p = 0; p < c.pool * c.pool; ++p) {
    double sum = 0;
    for (Index tap = 0; tap < c.patch(); ++tap) {
      const Index channel = tap / (c.kernel * c.kernel);
      const Index py = (y * c.pool + p / c.pool) * c.stride + tap / c.kernel % c.kernel - c.border(),
                  px = (w * c.pool + p % c.pool) * c.stride + tap % c.kernel - c.border();
      if (py < 0 || py >= c.height || px < 0 || px >= c.width) continue;
      sum += k(tap, o) * x(n, (channel * c.height + py) * c.width + px);
    }
    best = std::max(best, sum);
  }
  return best;
}

}  // namespace

TEST_CASE("max pooling: a forward read is the largest value of every block", "[layered]") {
  for (const Convolution& c :
       {Convolution{2, 6, 8, 3, 3, 2, 1, Convolution::same_size, true}, Convolution{1, 9, 9, 2, 2, 2, 2, 0, true}}) {
    const Matrix<double> x = random_matrix<double>(2, c.inputs(), 1), k = random_matrix<double>(c.patch(), c.maps, 2);
    const DigitalMatrix<double> map(k);
    LinkReader<double> reader(LinkWeights<double>{0, &map, c});
    Matrix<double> u = Matrix<double>::Zero(2, c.outputs());
    ReadContext read;
    reader.read(ReadDirection::forward, x, u, read);
    for (Index i = 0; i < u.size(); ++i) {
      const Index unit = i % c.outputs(), q = unit % c.positions();
      CHECK(u.data()[i] ==
            Approx(pooled(c, x, k, i / c.outputs(), unit / c.positions(), q / c.pooled_width(), q % c.pooled_width()))
                .epsilon(1e-12)
                .margin(1e-12));
    }
  }
}

TEST_CASE("max pooling: the force is minus the slope of the energy, J its derivative and symmetric", "[layered]") {
  Net net;
  Matrix<double> f(2, 31), own(2, 31), f0(2, 31), jv(2, 31), jtv(2, 31);
  net.dynamics->force(net.z, f);
  constexpr double h = 1e-6;
  for (Index i = 0; i < net.z.size(); ++i) {
    Matrix<double> ahead = net.z, behind = net.z;
    ahead.data()[i] += h;
    behind.data()[i] -= h;
    // Rounding ε E/h = 2e-16 · 100/1e-6, truncation h² F''/6.
    CHECK(f.data()[i] == Approx((*net.dynamics->energy(behind) - *net.dynamics->energy(ahead)) / (2 * h)).margin(1e-7));
  }
  for (const std::size_t node : {std::size_t{0}, std::size_t{1}}) {  // each asks for its places by itself
    const auto [begin, count] = net.dynamics->node_columns(node);
    net.dynamics->node_force(net.z, own, node);
    CHECK(relative_error(own.middleCols(begin, count), f.middleCols(begin, count)) < 1e-14);
  }
  Linearization<double>& at = net.dynamics->linearize(net.z);
  at.force(f0);
  CHECK(relative_error(f0, f) < 1e-14);
  const Matrix<double> v = random_matrix<double>(2, 31, 6);
  at.jvp(v, jv);
  CHECK(relative_error(jv, central_difference(*net.dynamics, net.z, v)) < 1e-8);
  at.vjp(v, jtv);
  CHECK(relative_error(jtv, jv) < 1e-14);
}

TEST_CASE("max pooling: correlations are the derivatives of force and energy by the kernels, copies side by side",
          "[layered]") {
  Net net;
  const Matrix<double> u = random_matrix<double>(2, 31, 7);
  Matrix<double> both(4, 31);
  both.topRows(2) = net.z;
  both.bottomRows(2) = random_matrix<double>(2, 31, 9);
  const double scales[] = {0.3, -1.2};
  Sums force(net.maps), from_energy(net.maps);
  net.dynamics->linearize(net.z).accumulate_parameter_gradient(u, 1.0, force);
  REQUIRE(net.dynamics->accumulate_energy_gradient(both, std::span<const double>(scales), from_energy));
  for (std::size_t p = 0; p < net.maps.size(); ++p) {
    const Matrix<double> w = net.maps[p]->weights(), change = random_matrix<double>(w.rows(), w.cols(), 20 + p);
    double by_force[2], by_energy[2];
    constexpr double h = 1e-6;  // piecewise linear in the kernels: exact but for rounding
    for (const int side : {0, 1}) {
      net.maps[p]->program(w + (side == 0 ? h : -h) * change);
      net.bind();
      Matrix<double> f(2, 31);
      net.dynamics->force(net.z, f);
      by_force[side] = u.cwiseProduct(f).sum();
      by_energy[side] =
          scales[0] * *net.dynamics->energy(both.topRows(2)) + scales[1] * *net.dynamics->energy(both.bottomRows(2));
    }
    net.maps[p]->program(w);
    net.bind();
    CHECK(force.g[p].cwiseProduct(change).sum() == Approx((by_force[0] - by_force[1]) / (2 * h)).margin(1e-7));
    CHECK(from_energy.g[p].cwiseProduct(change).sum() == Approx((by_energy[1] - by_energy[0]) / (2 * h)).margin(1e-7));
  }
}
