// SPDX-License-Identifier: Apache-2.0
// Correlations of few rows wait as factors for one product of the whole batch.
#include "training/learning/factor_products.hpp"
#include "tests/support/catch.hpp"

#include "tests/support/numerics.hpp"
#include "tests/support/tiny_model.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/sample_task.hpp"
#include "training/models/registry.hpp"

using namespace nudge;
using namespace nudge::test;

TEMPLATE_TEST_CASE("products of kept factors are the sum of their outer products, in columns that overlap too", "",
                   float, double) {
  using S = TestType;
  const std::vector<ParameterShape> shapes{{700, 150}, {3, 4}, {5, 2}};  // the first in two pieces
  std::vector<std::vector<FactorPair<S>>> pairs(3);
  const std::vector<Columns> columns{{0, 150}, {10, 20}, {0, 150}, {29, 100}, {10, 20}};
  for (std::size_t k = 0; k < columns.size(); ++k) {
    const auto n = static_cast<Index>(1 + 2 * k);
    pairs[0].push_back({columns[k], static_cast<S>(0.5 - 0.3 * static_cast<double>(k)), random_matrix<S>(n, 700, k),
                        random_matrix<S>(n, columns[k].count, 10 + k)});
  }
  pairs[2].push_back({{1, 1}, S(2), random_matrix<S>(1, 5, 20), random_matrix<S>(1, 1, 21)});
  Gradient<S> before{std::span<const ParameterShape>(shapes)};
  for (int p = 0; p < 3; ++p) before[p] = random_matrix<S>(before[p].rows(), before[p].cols(), 30);
  Gradient<double> expected = in_double(before);
  for (int p = 0; p < 3; ++p) {
    for (const FactorPair<S>& pair : pairs[static_cast<std::size_t>(p)]) {
      expected[p].middleCols(pair.columns.begin, pair.columns.count) +=
          static_cast<double>(pair.scale) * pair.x.transpose().template cast<double>() * pair.y.template cast<double>();
    }
  }
  std::vector<Gradient<S>> of_threads;
  for (const int threads : {1, 2, 3}) {
    of_threads.push_back(before);
    add_products<S>(pairs, of_threads.back(), threads);
  }
  for (int p = 0; p < 3; ++p) {
    // Sums of at most 26 products and a number before them, each rounded once more by its scale: errors grow at most as the number of terms.
    CHECK(relative_error(of_threads[0][p], expected[p]) < 28 * static_cast<double>(std::numeric_limits<S>::epsilon()));
    for (const Gradient<S>& other : of_threads) CHECK(other[p] == of_threads[0][p]);
  }
}

TEST_CASE("only few rows are kept, and never more numbers than the result has") {
  std::vector<FactorPair<float>> pairs;
  const ParameterShape wide{784, 512}, narrow{512, 10};
  CHECK(worth_keeping(pairs, 16, wide));
  CHECK_FALSE(worth_keeping(pairs, 78, wide));
  CHECK_FALSE(worth_keeping(pairs, 16, narrow));
  Index kept = 0;
  while (worth_keeping(pairs, 16, wide) && kept < 100) {
    pairs.push_back({{0, 512}, 1.0F, Matrix<float>::Zero(16, 784), Matrix<float>::Zero(16, 512)});
    ++kept;
  }
  CHECK(kept == 784 * 512 / (16 * (784 + 512)));
}

TEST_CASE("chunks that keep factors have the gradient of one that does not, with the same bits for any threads") {
  // 64 x 40 weights and two rows an example: kept. All rows in one example: a single chunk, which multiplies at once.
  REQUIRE(worth_keeping<double>({}, 2, {64, 40}));
  for (const char* kind : {"hopfield", "resistive"}) {
    for (const char* estimator : {"ep", "ep_contrastive", "aep_transposed", "bptt"}) {
      CAPTURE(kind, estimator);
      const std::string network = kind;
      if (network == "resistive" && std::string(estimator) == "aep_transposed") continue;
      const Config config =
          parse_program_config("t", "",
                               {"precision=double", "network.kind=" + network, "task.kind=classification",
                                network + ".hidden=[40]", "relaxation.free_steps=20", "relaxation.nudged_steps=20",
                                "beta=0.1", "train.batch=34", std::string("estimator=") + estimator});
      Batch batch{34, 1, {}, {}, random_matrix<double>(34, 64, 1).cwiseAbs().cast<float>(), {}};
      for (int i = 0; i < 34; ++i) batch.targets.push_back(i % 3);
      const auto gradient_of = [&](Index rows, int threads) {
        const TaskSizes sizes{rows, 0, 3, 64, 0, {64}};
        const auto model = make_network<double>(config, network_plan(config, sizes), Weights::digital);
        auto options = gradient_options<double>(config, "");
        options.threads = threads;
        Gradient<double> gradient;
        BatchGradient<double>(*model, options).compute(side_by_side(batch, rows), 0, gradient);
        return gradient;
      };
      const Gradient<double> whole = gradient_of(34, 1), kept = gradient_of(2, 1);
      REQUIRE(whole.norm() > 0);
      for (const int threads : {2, 3}) {
        const Gradient<double> other = gradient_of(2, threads);
        for (int p = 0; p < kept.size(); ++p) CHECK(other[p] == kept[p]);
      }
      // Sums of some hundred products in another order.
      for (int p = 0; p < kept.size(); ++p) CHECK(relative_error(kept[p], whole[p]) < 1e-12);
    }
  }
}

TEST_CASE("few factors are left to maps of numbers: with what is written, the gradient of one that leaves none") {
  // Two rows each of 3 examples, or six of one; resistors have one more of each.
  REQUIRE((few_rows(6, {64, 120}) && few_rows(9, {128, 120}) && !few_rows(10, {64, 120})));
  for (const char* kind : {"hopfield", "resistive"}) {
    for (const char* sides : {"centered", "positive"}) {
      for (const Index rows : {Index{2}, Index{6}}) {
        CAPTURE(kind, sides, rows);
        const std::string network = kind;
        const Config config = parse_program_config(
            "t", "",
            {"precision=double", "network.kind=" + network, "task.kind=classification", network + ".hidden=[120]",
             "relaxation.free_steps=20", "relaxation.nudged_steps=20", "beta=0.1", "train.batch=6",
             "estimator=ep_contrastive", std::string("nudge.sides=") + sides});
        Batch batch{6, 1, {}, {}, random_matrix<double>(6, 64, 1).cwiseAbs().cast<float>(), {}};
        for (int i = 0; i < 6; ++i) batch.targets.push_back(i % 3);
        const TaskSizes sizes{rows, 0, 3, 64, 0, {64}};
        const auto model = make_network<double>(config, network_plan(config, sizes), Weights::digital);
        const auto compute = [&](bool few, int threads, Gradient<double>& gradient) {
          auto options = gradient_options<double>(config, "");
          options.threads = threads;
          options.few_factors = few;
          BatchGradient<double> batches(*model, options);
          batches.compute(side_by_side(batch, rows), 0, gradient);
          std::vector<std::vector<FactorPair<double>>> left;
          for (int p = 0; p < gradient.size(); ++p) left.push_back(batches.take_factors(p));
          return left;
        };
        Gradient<double> whole, written, other;
        for (const auto& none : compute(false, 1, whole)) CHECK(none.empty());
        const auto left = compute(true, 1, written), again = compute(true, 3, other);
        int factors = 0;
        for (int p = 0; p < whole.size(); ++p) {
          const auto at = static_cast<std::size_t>(p);
          CHECK(written.met(p) == left[at].empty());
          REQUIRE(again[at].size() == left[at].size());
          Matrix<double> sum = left[at].empty() ? written[p] : Matrix<double>::Zero(whole[p].rows(), whole[p].cols());
          for (std::size_t k = 0; k < left[at].size(); ++k) {
            const FactorPair<double>& pair = left[at][k];
            CHECK((again[at][k].x == pair.x && again[at][k].y == pair.y));  // for any number of threads
            sum.middleCols(pair.columns.begin, pair.columns.count) += pair.scale * pair.x.transpose() * pair.y;
            ++factors;
          }
          if (left[at].empty()) CHECK(other[p] == written[p]);
          CHECK(relative_error(sum, whole[p]) < 1e-12);  // sums of some ten products in another order
        }
        CHECK(factors > 0);
        CHECK(whole.norm() > 0);
      }
    }
  }
}
