// SPDX-License-Identifier: Apache-2.0
// Layered Hopfield networks: bilinear links dense and convolutional, biases, states in a box.
#include <cmath>

#include "circuits/circuit_dynamics.hpp"
#include "circuits/digital_matrix.hpp"
#include "circuits/terms/bilinear_link.hpp"
#include "circuits/terms/node_terms.hpp"
#include "sim/settle.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/linearization_checks.hpp"
#include "tests/support/map_sums.hpp"

using namespace nudge;
using namespace nudge::test;

namespace {

/// Two maps of 4 × 6 clamped, a convolution to three maps pooled by 2 (18 units), a dense layer of 5; three samples side by side.
/// Parameters: kernels, dense weights, two biases, and with separate feedback its dense weights.
struct Net {
  explicit Net(NodeActivation rho, bool separate = false, bool bounded = false) {
    const Convolution c{2, 4, 6, 3, 3, 2};
    const auto add = [this](Index rows, Index cols) {
      maps.push_back(std::make_unique<DigitalMatrix<double>>(random_matrix<double>(rows, cols, 10 + maps.size(), 0.3)));
    };
    add(c.patch(), 3);
    add(18, 5);
    add(1, 3);
    add(1, 5);
    add(5, 18);
    const LinkEnd in{Term<double>::kInput, {0, 48}}, first{0, {0, 18}, rho}, second{1, {18, 5}, rho};
    const LinkWay way = separate ? LinkWay::forward : LinkWay::both;
    const Part part = separate ? Part::nonconservative : Part::conservative;
    std::vector<std::unique_ptr<Term<double>>> terms;
    const auto link = [&](const LinkEnd& a, const LinkEnd& b, int p, std::optional<Convolution> conv) {
      terms.push_back(std::make_unique<BilinearLink<double>>(
          a, b, LinkWeights<double>{p, maps[static_cast<std::size_t>(p)].get(), conv}, way));
    };
    link(in, first, 0, c);
    link(first, second, 1, std::nullopt);
    if (separate) link(second, first, 4, std::nullopt);
    terms.push_back(std::make_unique<NodeBias<double>>(first, 2, *maps[2], part));
    terms.push_back(std::make_unique<NodeBias<double>>(second, 3, *maps[3], part));
    std::vector<Node> nodes = {{"first", {0, 18}}, {"second", {18, 5}}};
    if (bounded) {
      nodes[0].lower = 0;
      nodes[0].upper = 1;
    }
    circuit = std::make_unique<Circuit<double>>(nodes, 48, std::move(terms), Damping{});
    dynamics = std::make_unique<CircuitDynamics<double>>(*circuit, 3, 2);
    dynamics->bind(random_matrix<double>(3, 48, 3), ReadContext{});
  }
  std::vector<std::unique_ptr<LinearMap<double>>> maps;
  std::unique_ptr<Circuit<double>> circuit;
  std::unique_ptr<CircuitDynamics<double>> dynamics;
};

const NodeActivation kSmooth[] = {NodeActivation::identity, NodeActivation::tanh, NodeActivation::sigmoid,
                                  NodeActivation::softplus};
const NodeActivation kAll[] = {NodeActivation::identity, NodeActivation::tanh,         NodeActivation::sigmoid,
                               NodeActivation::relu,     NodeActivation::hard_sigmoid, NodeActivation::softplus};

double energy(CircuitDynamics<double>& d, const Matrix<double>& z) { return d.energy(z).value(); }

}  // namespace

TEST_CASE("patches of every kernel, pool, stride and padding are means of pixels, and go back by the transpose",
          "[layered]") {
  struct Window {
    Index stride, padding;
  };
  for (const Index kernel : {1, 2, 3, 5, 7}) {
    for (const Index pool : {1, 2, 3}) {
      for (const Window& window : {Window{1, Convolution::same_size}, Window{1, 0}, Window{2, Convolution::same_size},
                                   Window{3, 1}, Window{1, 4}}) {
        CAPTURE(kernel, pool, window.stride, window.padding);
        const Convolution s{3, 7, 13, 1, kernel, pool, window.stride, window.padding};
        if (s.positions() == 0) continue;
        // PyTorch's floor((n + 2 P - k)/s) + 1, then floor(. / p).
        const Index border = window.padding < 0 ? (kernel - 1) / 2 : window.padding;
        const Index across = ((13 + 2 * border - kernel) / window.stride + 1) / pool;
        REQUIRE(s.pooled_width() == across);
        const Matrix<double> x = random_matrix<double>(2, s.inputs(), 1);
        Matrix<double> patches(2 * s.positions(), s.patch());
        Patches<double> own(s);
        own.gather(x, patches);
        for (Index row = 0; row < patches.rows(); ++row) {
          for (Index tap = 0; tap < s.patch(); ++tap) {
            const Index n = row / s.positions(), q = row % s.positions(), c = tap / (kernel * kernel);
            double sum = 0;  // by the definition
            for (Index p = 0; p < pool * pool; ++p) {
              const Index y = (q / across * pool + p / pool) * s.stride + tap / kernel % kernel - border,
                          w = (q % across * pool + p % pool) * s.stride + tap % kernel - border;
              if (y >= 0 && y < s.height && w >= 0 && w < s.width) sum += x(n, (c * s.height + y) * s.width + w);
            }
            CHECK(patches(row, tap) == Approx(sum / static_cast<double>(pool * pool)).margin(1e-14));  // 9 additions
          }
        }
        const Matrix<double> u = random_matrix<double>(patches.rows(), patches.cols(), 2);
        const Matrix<double> before = random_matrix<double>(2, s.inputs(), 3);
        Matrix<double> back = before;
        own.scatter(u, back);
        // Products of order 1: thousands of them, each rounded to 1e-16.
        CHECK(u.cwiseProduct(patches).sum() ==
              Approx((back - before).cwiseProduct(x).sum()).epsilon(1e-11).margin(1e-11));
      }
    }
  }
}

TEST_CASE("a convolution is the cross-correlation with zero padding and average pooling", "[layered]") {
  const Convolution s{2, 4, 6, 3, 3, 2};
  const Matrix<double> x = random_matrix<double>(2, s.inputs(), 1), k = random_matrix<double>(s.patch(), s.maps, 2);
  Matrix<double> patches(2 * s.positions(), s.patch()), u = Matrix<double>::Zero(2, s.outputs());
  Patches<double>(s).gather(x, patches);
  add_positions<double>(s.maps, patches * k, u);
  for (Index n = 0; n < 2; ++n) {
    for (Index o = 0; o < s.maps; ++o) {
      for (Index y = 0; y < 2; ++y) {
        for (Index w = 0; w < 3; ++w) {
          double sum = 0;  // over the block, then over the kernel, by the definition
          for (Index p = 0; p < 4; ++p) {
            for (Index c = 0; c < 2; ++c) {
              for (Index ky = 0; ky < 3; ++ky) {
                for (Index kx = 0; kx < 3; ++kx) {
                  const Index at_y = 2 * y + p / 2 + ky - 1, at_x = 2 * w + p % 2 + kx - 1;
                  if (at_y < 0 || at_y >= 4 || at_x < 0 || at_x >= 6) continue;
                  sum += x(n, (c * 4 + at_y) * 6 + at_x) * k((c * 3 + ky) * 3 + kx, o) / 4;
                }
              }
            }
          }
          CHECK(u(n, (o * 2 + y) * 3 + w) == Approx(sum).margin(1e-13));  // 72 products of order 1
        }
      }
    }
  }
}

TEST_CASE("links and biases: J v is a central difference and vjp its transpose", "[layered]") {
  for (const bool separate : {false, true}) {
    for (const NodeActivation rho : kAll) {
      CAPTURE(separate, static_cast<int>(rho));
      Net net(rho, separate);
      const Matrix<double> z = random_matrix<double>(3, 23, 5), v = random_matrix<double>(3, 23, 6);
      Linearization<double>& at = net.dynamics->linearize(z);
      Matrix<double> jv(3, 23), f(3, 23), f0(3, 23);
      at.jvp(v, jv);
      // No state of this seed is within 1e-5 of a kink; truncation and rounding are 1e-10 of J v.
      CHECK(relative_error(jv, central_difference(*net.dynamics, z, v)) < 1e-8);
      net.dynamics->force(z, f);
      at.force(f0);
      CHECK(relative_error(f0, f) < 1e-14);
      check_adjoint(at, 3, 23);
      check_adjoint(at, 3, 23, Part::conservative);
      check_adjoint(at, 3, 23, Part::nonconservative);
    }
  }
}

TEST_CASE("reciprocal links: the force is minus the gradient of the energy, J is symmetric", "[layered]") {
  for (const NodeActivation rho : kAll) {
    CAPTURE(static_cast<int>(rho));
    Net net(rho);
    const Matrix<double> z = random_matrix<double>(3, 23, 5);
    Matrix<double> f(3, 23), jv(3, 23), jtv(3, 23);
    net.dynamics->force(z, f);
    constexpr double h = 1e-5;
    for (Index i = 0; i < z.size(); ++i) {
      Matrix<double> ahead = z, behind = z;
      ahead.data()[i] += h;
      behind.data()[i] -= h;
      // Rounding ε E/h = 2e-16 · 100/1e-5, truncation h² F''/6.
      CHECK(f.data()[i] ==
            Approx((energy(*net.dynamics, behind) - energy(*net.dynamics, ahead)) / (2 * h)).margin(2e-8));
    }
    Linearization<double>& at = net.dynamics->linearize(z);
    const Matrix<double> v = random_matrix<double>(3, 23, 6);
    at.jvp(v, jv);
    at.vjp(v, jtv);
    CHECK(relative_error(jtv, jv) < 1e-14);
  }
}

TEST_CASE("local correlations are the derivatives of the force and of the energy by the weights", "[layered]") {
  for (const bool separate : {false, true}) {
    for (const NodeActivation rho : kSmooth) {
      CAPTURE(separate, static_cast<int>(rho));
      Net net(rho, separate);
      const Matrix<double> z = random_matrix<double>(3, 23, 5), u = random_matrix<double>(3, 23, 7);
      Sums force(net.maps), from_energy(net.maps);
      net.dynamics->linearize(z).accumulate_parameter_gradient(u, 1.0, force);
      if (!separate) REQUIRE(net.dynamics->accumulate_energy_gradient(z, 1.0, from_energy));
      const Matrix<double> x = random_matrix<double>(3, 48, 3);
      for (std::size_t p = 0; p < net.maps.size(); ++p) {
        const Matrix<double> w = net.maps[p]->weights();
        const Matrix<double> change = random_matrix<double>(w.rows(), w.cols(), 20 + p);
        Matrix<double> f[2] = {Matrix<double>(3, 23), Matrix<double>(3, 23)};
        double e[2] = {0, 0};
        constexpr double h = 1e-4;  // both are linear in each weight: the difference is exact but for rounding 1e-12
        for (const int side : {0, 1}) {
          net.maps[p]->program(w + (side == 0 ? h : -h) * change);
          net.dynamics->bind(x, ReadContext{});
          net.dynamics->force(z, f[side]);
          if (!separate) e[side] = energy(*net.dynamics, z);
        }
        net.maps[p]->program(w);
        net.dynamics->bind(x, ReadContext{});
        const double by_force = u.cwiseProduct(f[0] - f[1]).sum() / (2 * h);
        CHECK(force.g[p].cwiseProduct(change).sum() == Approx(by_force).margin(1e-9));
        if (separate) continue;
        CHECK(from_energy.g[p].cwiseProduct(change).sum() == Approx((e[1] - e[0]) / (2 * h)).margin(1e-9));
      }
    }
  }
}

TEST_CASE("the force on one node, and on copies side by side, is that of the whole", "[layered]") {
  for (const bool separate : {false, true}) {
    Net net(NodeActivation::tanh, separate);
    const Matrix<double> z = random_matrix<double>(6, 23, 5);
    Matrix<double> f(6, 23), own(6, 23), half(3, 23);
    net.dynamics->force(z, f);
    for (std::size_t node : {std::size_t{0}, std::size_t{1}}) {
      const auto [begin, count] = net.dynamics->node_columns(node);
      net.dynamics->node_force(z, own, node);
      CHECK(relative_error(own.middleCols(begin, count), f.middleCols(begin, count)) < 1e-14);
    }
    net.dynamics->force(z.bottomRows(3), half);
    CHECK(relative_error(half, f.bottomRows(3)) < 1e-14);
  }
}

TEST_CASE("states in a box: projected steps, held units, and the residual of what can move", "[layered]") {
  Net net(NodeActivation::identity, false, true);
  for (const RelaxationSchedule schedule : {RelaxationSchedule::parallel, RelaxationSchedule::sweep}) {
    Matrix<double> z = Matrix<double>::Constant(3, 23, 0.5), f(3, 23);
    SettleOptions options;
    options.schedule = schedule;
    options.max_steps = 5000;
    options.tolerance = 1e-13;
    SettleWorkspace<double> scratch;
    const SettleResult result = settle<double>(*net.dynamics, z, options, scratch);
    CHECK(result.status == Status::converged);
    const auto first = z.leftCols(18).array();
    CHECK((first >= 0 && first <= 1).all());
    CHECK((first == 0).any());  // of 54 units of order 1 some rest at either bound
    CHECK((first == 1).any());
    net.dynamics->force(z, f);
    CHECK(f.norm() > 1e-3);  // the held ones are pushed outwards
    Linearization<double>& at = net.dynamics->linearize(z);
    Matrix<double> pushed(3, 23), jv(3, 23);
    at.force(pushed);
    CHECK(pushed.norm() < 1e-12);
    const Matrix<double> moving = moving_units<double>(*net.dynamics, at, z);
    for (Index i = 0; i < z.size(); ++i) {
      if (moving.data()[i] != 0) continue;
      CHECK((z.data()[i] == 0 ? f.data()[i] <= 0 : f.data()[i] >= 0));
    }
    check_adjoint(at, 3, 23);
    const Matrix<double> v = random_matrix<double>(3, 23, 8);
    at.jvp(v, jv);
    const Matrix<double> masked = v.cwiseProduct(moving);
    CHECK(relative_error(jv, central_difference(*net.dynamics, z, masked).cwiseProduct(moving).eval()) < 1e-8);
  }
}

TEST_CASE("only euler knows of a box", "[layered]") {
  Net net(NodeActivation::identity, false, true);
  Matrix<double> z = Matrix<double>::Constant(3, 23, 0.5);
  SettleOptions options;
  options.solver = SettleSolver::anderson;
  SettleWorkspace<double> scratch;
  CHECK_THROWS_WITH(settle<double>(*net.dynamics, z, options, scratch), Catch::Contains("box"));
}
