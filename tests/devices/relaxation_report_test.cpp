// SPDX-License-Identifier: Apache-2.0
// What a fit of relaxation says of cells that it was not made from, and of levels that failed.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <span>
#include <sstream>

#include "devices/fit/fit_relaxation.hpp"
#include "devices/fit/long_table.hpp"
#include "sim/base/rng.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/shared_file.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Cells of levels 5 uS apart that change by normal numbers of `sd`, grown by √2 from 1 s to 100 s. In the level `failed` a third of
/// the cells fall by 20 uS. skew: the share by which changes upwards are shorter.
std::string made_table(int levels, int failed, double skew) {
  constexpr int cells = 300;
  std::string csv = "cell,time_s,conductance_uS,start_uS,level\n";
  for (int l = 0; l < levels; ++l) {
    std::vector<double> draws(3 * cells);
    fill_normal<double>({4, Purpose::probe, 0}, static_cast<std::uint64_t>(l), 0, std::span<double>(draws));
    for (int i = 0; i < cells; ++i) {
      const auto k = static_cast<std::size_t>(3 * i);
      const double start = 30 + 5 * l + 0.3 * draws[k + 2];
      const auto bent = [skew](double x) { return x > 0 ? x * (1 - skew) : x; };
      const double first = draws[k], later = first + draws[k + 1];
      const double off = l == failed && i % 3 == 0 ? -20 : 0;
      csv += fmt::format("{0},1,{1},{3},{4}\n{0},100,{2},{3},{4}\n", 1000 * l + i, start + bent(first) + off,
                         start + bent(later) + off, start, l);
    }
  }
  return csv;
}

}  // namespace

TEST_CASE("relaxation: a level that failed is named, and lends its neighbours no variance", "[relaxation]") {
  const RelaxationFit fit = parse_and_fit_relaxation(made_table(7, 3, 0), "made.csv");
  REQUIRE(fit.failed.size() == 1);
  CHECK(fit.failed[0].level_S == Approx(45e-6).epsilon(0.01));
  CHECK(fit.failed[0].cells == 300);
  CHECK(fit.spec.level_S.size() == 6);
  for (const RelaxationRow& row : fit.rows) {
    // 300 cells know an sd to 4 %, the fit meets it; the neighbours of the failed level too.
    CHECK(row.sd_model_S == Approx(row.sd_measured_S).epsilon(0.12));
  }
  CHECK_THAT(relaxation_text(fit), Contains("45") && Contains("failed: its 300 cells are of two kinds"));
  CHECK(parse_and_fit_relaxation(made_table(7, -1, 0), "made.csv").failed.empty());
}

TEST_CASE("relaxation: quantiles and correlations stand beside the measured ones, with a verdict", "[relaxation]") {
  const RelaxationFit good = parse_and_fit_relaxation(made_table(5, -1, 0), "made.csv");
  REQUIRE(good.pairs.size() == 5);
  for (const RelaxationPair& p : good.pairs) {
    CHECK(p.measured ==
          Approx(std::sqrt(0.5)).margin(0.15));  // 1/√300 = 0.03, five of them at ends of a grid of memories
    CHECK(p.model == Approx(p.measured).margin(0.15));
  }
  for (const RelaxationRow& row : good.rows) {
    const double sd = row.time_s < 10 ? 1e-6 : std::sqrt(2.0) * 1e-6;
    CHECK(row.low_measured_S == Approx(-2.326 * sd).epsilon(0.3));  // of 300 cells: 0.2 sd, three of these
    CHECK(row.high_model_S == Approx(2.326 * sd).epsilon(0.3));
  }
  CHECK(good.errors().describes());
  CHECK_THAT(relaxation_text(good), !Contains("does not describe these levels"));

  // Upward changes of a sixth: the law's normal numbers go as far up as down.
  const RelaxationFit skewed = parse_and_fit_relaxation(made_table(5, -1, 5.0 / 6), "made.csv");
  CHECK(skewed.errors().quantile > 0.3);
  CHECK(!skewed.errors().describes());
  CHECK_THAT(relaxation_text(skewed), Contains("this law does not describe these levels"));
  CHECK_THAT(relaxation_toml(skewed, "made.csv"), Contains("# this law does not describe these levels"));
}

TEST_CASE("relaxation: half of the cells of technology C predict the other half", "[measured]") {
  const auto path = test::shared_file("data/devices/rram_c_relaxation.tsv.gz");
  if (!path) return;
  std::istringstream rows(read_table_text(path->string()));
  std::string half[2];
  for (std::string row; std::getline(rows, row);) half[std::stol(row) % 2] += row + "\n";
  const RelaxationFit made = parse_and_fit_relaxation(half[0], "even.tsv"),
                      other = parse_and_fit_relaxation(half[1], "odd.tsv");
  CHECK(made.failed.empty());
  RelaxationFit across = made;
  std::map<std::pair<long, double>, const RelaxationRow*> found;
  const auto key = [](const RelaxationRow& r) { return std::pair(std::lround(1e6 * r.level_S), r.time_s); };
  for (const RelaxationRow& r : other.rows) found[key(r)] = &r;
  across.rows.clear();
  across.pairs.clear();
  for (RelaxationRow r : made.rows) {
    const auto at = found.find(key(r));
    if (at == found.end()) continue;
    r.sd_measured_S = at->second->sd_measured_S;
    r.low_measured_S = at->second->low_measured_S;
    r.high_measured_S = at->second->high_measured_S;
    across.rows.push_back(r);
  }
  for (RelaxationPair p : made.pairs) {
    for (const RelaxationPair& q : other.pairs) {
      if (std::lround(1e6 * p.level_S) != std::lround(1e6 * q.level_S)) continue;
      if (p.early_s != q.early_s || p.late_s != q.late_s) continue;
      p.measured = q.measured;
      across.pairs.push_back(p);
    }
  }
  REQUIRE(across.rows.size() > 100);
  REQUIRE(across.pairs.size() > 200);
  const RelaxationErrors off = across.errors();
  WARN(fmt::format("one half on the other: sd {:.1f} %, quantiles {:.0f} %, correlations {:.2f}", 100 * off.sd,
                   100 * off.quantile, off.correlation));
  // An sd of 250 cells of kurtosis 20 is known to 14 %, that of both halves to 20 %.
  CHECK(off.sd < 0.25);
  CHECK(off.correlation < 0.15);
}
