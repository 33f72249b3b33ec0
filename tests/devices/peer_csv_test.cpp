// SPDX-License-Identifier: Apache-2.0
// Pulses as other programs keep them: the same numbers give the same device as in our own format, and bad files are refused.
#include <fmt/format.h>

#include <cmath>

#include "devices/fit/fit_pulses.hpp"
#include "devices/fit/pulse_csv.hpp"
#include "sim/base/errors.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;
using Catch::Contains;

namespace {

/// Conductances in uS of a soft-bounds device: n values going up from g, or coming down after it.
std::vector<double> up(double g, int n) {
  std::vector<double> all;
  for (int i = 0; i < n; ++i, g += 0.1 * (20 - g)) all.push_back(g);
  return all;
}
std::vector<double> down(double g, int n) {
  std::vector<double> all;
  for (int i = 0; i < n; ++i) all.push_back(g -= 0.08 * (g - 1));
  return all;
}

/// The same values as rows of our own format; cycle: empty, no such column.
void add_rows(std::string& csv, const std::string& cycle, const std::vector<double>& rising,
              const std::vector<double>& falling, double scale) {
  int pulse = 0;
  const auto add = [&](double g, const char* direction) {
    csv += fmt::format("{}{},{},{}\n", cycle.empty() ? "" : cycle + ",", pulse, g * scale, pulse == 0 ? "" : direction);
    ++pulse;
  };
  for (const double g : rising) add(g, "up");
  for (const double g : falling) add(g, "down");
}

std::string columns(const std::vector<std::vector<double>>& all, const std::string& header, double scale) {
  std::string csv = header;
  std::size_t rows = 0;
  for (const auto& one : all) rows = std::max(rows, one.size());
  for (std::size_t r = 0; r < rows; ++r) {
    for (std::size_t c = 0; c < all.size(); ++c) {
      csv += (c > 0 ? "," : "") + (r < all[c].size() ? fmt::format("{}", all[c][r] * scale) : std::string());
    }
    csv += "\n";
  }
  return csv;
}

std::string toml_of(const std::vector<LabRecord>& records, const std::string& model) {
  return fit_toml(fit_population(records, model), "f.csv");
}

template <class Read>
std::string problem(Read&& read) {
  try {
    read();
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

}  // namespace

TEST_CASE("two columns, up and down, fit to the device that our own format gives", "[devices]") {
  const std::string model = GENERATE(std::string("soft_bounds"), std::string("linear_step"), std::string("piecewise"));
  const std::vector<double> rising = up(2, 40), falling = down(rising.back(), 33);
  std::string own = "pulse,conductance_uS,direction\n";
  add_rows(own, "", rising, falling, 1);
  const std::string expected = toml_of(parse_lab_csv(own, "own.csv"), model);
  // The shorter column ends earlier; the unit stands in the header.
  CHECK(toml_of(parse_lab_csv(columns({rising, falling}, "up_uS,down_uS\n", 1), "a.csv"), model) == expected);
  // Without a header, in siemens: 1e-6 times a number is not its text in uS, so both sides are written in siemens.
  std::string siemens = "pulse,conductance,direction\n";
  add_rows(siemens, "", rising, falling, 1e-6);
  const std::string same = toml_of(parse_lab_csv(siemens, "own.csv"), model);
  CHECK(toml_of(parse_lab_csv(columns({rising, falling}, "", 1e-6), "a.csv"), model) == same);
  CHECK(toml_of(parse_lab_csv(columns({rising, falling}, "up_data,down_data\n", 1e-6), "a.csv"), model) == same);
}

TEST_CASE("weights without a unit are given a window", "[devices]") {
  // 11 S is the middle of 2 and 20: weights of -1 and 1 at the window's ends, exactly representable.
  const std::string csv = "-1,0.75\n-0.5,0.5\n0,0\n0.5,-0.5\n1,-0.75\n";
  const auto records = parse_lab_csv(csv, "w.csv", CsvScale{2e-6, 20e-6, 0});
  REQUIRE(records.size() == 1);
  const std::vector<double> expected{2e-6, 6.5e-6, 11e-6, 15.5e-6, 20e-6, 17.75e-6, 15.5e-6, 11e-6, 6.5e-6, 4.25e-6};
  REQUIRE(records[0].pulses.conductance_S.size() == expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    CHECK(records[0].pulses.conductance_S[i] == Approx(expected[i]).epsilon(1e-12));
    if (i > 0) CHECK((records[0].pulses.direction[i] == Direction::up) == (i < 5));
  }
  CHECK_THAT(problem([&] { parse_lab_csv(csv, "w.csv"); }),
             Contains("w.csv:1: \"-1\" is negative") && Contains("--window"));
  CHECK_THAT(problem([&] {
               parse_lab_csv("0.5,0.5\n0.5,0.5\n0.5,0.5\n", "w.csv", CsvScale{1e-6, 2e-6, 0});
             }),
             Contains("no window"));
  CHECK_THAT(problem([&] {
               parse_lab_csv("pulse,conductance,direction\n", "own.csv", CsvScale{1e-6, 2e-6, 0});
             }),
             Contains("--window is for files of two columns"));
}

TEST_CASE("columns of currents of rising and falling runs fit to the device that our own format gives", "[devices]") {
  std::string own = "cycle,pulse,conductance,direction\n";
  std::vector<std::vector<double>> set, reset;
  for (int run = 0; run < 3; ++run) {
    // Quarter-volt reads: dividing by 0.25 is exact, so that both files hold the same conductances to the last bit.
    set.push_back(up(2 + 0.1 * run, 30 - run));
    reset.push_back(down(set.back().back(), 28 + run));
    add_rows(own, fmt::format("r{}", run), set.back(), reset.back(), 4e-6);
  }
  const CsvScale scale{0, 0, 0.25};
  const auto read = [&](const std::string& header) {
    return parse_set_reset_csv(columns(set, header, 1e-6), "set.csv", columns(reset, header, 1e-6), "reset.csv", scale);
  };
  const auto expected = parse_lab_csv(own, "own.csv");
  for (const std::string header : {"r0,r1,r2\n", ""}) {
    const auto records = read(header);
    REQUIRE(records.size() == 3);
    CHECK(records[1].cycle == (header.empty() ? "2" : "r1"));
    for (std::size_t r = 0; r < 3; ++r) {
      const auto &got = records[r].pulses.conductance_S, &want = expected[r].pulses.conductance_S;
      REQUIRE(got.size() == want.size());
      // 4e-6 g against 1e-6 g / 0.25: one rounding each.
      for (std::size_t i = 0; i < got.size(); ++i) CHECK(got[i] == Approx(want[i]).epsilon(1e-15));
    }
    const PopulationFit fit = fit_population(records, "soft_bounds"), same = fit_population(expected, "soft_bounds");
    CHECK(fit.common.spec.pulses == Approx(same.common.spec.pulses).epsilon(1e-10));
    CHECK(fit.common.spec.g_max_S == Approx(same.common.spec.g_max_S).epsilon(1e-12));
    CHECK(fit.common.curve_residual == Approx(same.common.curve_residual).epsilon(1e-6));
    CHECK(fit.devices == 1);
  }
}

TEST_CASE("two columns that are no pulses up and down are refused, with place and remedy", "[devices]") {
  const auto said = [](const std::string& csv) { return problem([&] { parse_lab_csv(csv, "f.csv"); }); };
  CHECK_THAT(said("1e-6,5e-6\n2e-6,4e-6\n3e-6\n"), Contains("f.csv:3: 1 cells, the first row has 2"));
  CHECK_THAT(said("1e-6,5e-6\n2e-6,nan\n3e-6,3e-6\n"), Contains("f.csv:2: conductance \"nan\""));
  CHECK_THAT(said("nan,5e-6\n2e-6,4e-6\n3e-6,3e-6\n"), Contains("f.csv:1: conductance \"nan\""));
  CHECK_THAT(said("1e-6,5e-6\n,4e-6\n3e-6,3e-6\n"),
             Contains("f.csv:3: column 1 goes on behind an empty cell in line 2"));
  CHECK_THAT(said("0,1e-6\n1,2e-6\n2,3e-6\n"), Contains("counts pulses") && Contains("pulse,conductance,direction"));
  CHECK_THAT(said("up_pulse,down_pulse\n0.001,0.007\n"), Contains("sizes of steps per segment"));
  CHECK_THAT(said("up_uS,down_nS\n1,2\n"), Contains("different units"));
  CHECK_THAT(said("3.5,5e-6\n2e-6,4e-6\n"), Contains("3.5 S is that of a wire"));
  CHECK_THAT(said("up,down\n1e-6,2e-6\n"), Contains("at least 2 of each"));
  CHECK_THAT(said("up,down\n"), Contains("at least 2 of each"));
  CHECK_THAT(said("# nothing\n"), Contains("f.csv: empty"));
  CHECK_THAT(said("rmp1,rmp2,rmp3\n1e-6,1e-6,1e-6\n"),
             Contains("unknown column \"rmp1\"") && Contains("SET.csv RESET.csv"));
  CHECK_THAT(said("pusle,conductance,direction\n"), Contains("did you mean pulse?") && !Contains("SET.csv"));
}

TEST_CASE("files of runs that do not fit together are refused", "[devices]") {
  const std::string set = "a,b\n1e-7,1e-7\n2e-7,2e-7\n3e-7,3e-7\n", reset = "a,b\n2e-7,2e-7\n1e-7,1e-7\n";
  const auto said = [&](const std::string& one, const std::string& two, double volts = 0.1) {
    return problem([&] { parse_set_reset_csv(one, "set.csv", two, "reset.csv", CsvScale{0, 0, volts}); });
  };
  CHECK(said(set, reset) == "accepted");
  CHECK(said(set, reset, -0.1) != "accepted");
  CHECK_THAT(said(set, reset, 0), Contains("--read-voltage"));
  CHECK_THAT(said(reset, set), Contains("set.csv: run a does not rise") && Contains("comes first"));
  CHECK_THAT(said(set, set), Contains("reset.csv: run a rises"));
  CHECK_THAT(said(set, "a\n2e-7\n1e-7\n"), Contains("2 rising runs and 1 falling ones"));
  CHECK_THAT(said("a,b\n1e-7,1e-7\n2e-7\n", reset), Contains("set.csv:3: 1 cells"));
  CHECK_THAT(said("a,b\n1e-7,1e-7\nnan,2e-7\n", reset), Contains("set.csv:3: \"nan\" is not a finite number"));
  CHECK_THAT(said("a,b\n1e-7,\n2e-7,\n", reset), Contains("run b has no values"));
  CHECK_THAT(said("", reset), Contains("set.csv: empty"));
  CHECK_THAT(said("a,b\n-1e-7,1e-7\n2e-7,2e-7\n", reset), Contains("negative conductance"));
  CHECK_THROWS_WITH(read_lab_files({"a", "b", "c"}, {}), Contains("one CSV file"));
  CHECK_THROWS_WITH(parse_lab_csv("pulse,conductance,direction\n0,1e-6,\n", "a", CsvScale{0, 0, 0.1}),
                    Contains("--read-voltage is for"));
  CHECK_THROWS_WITH(read_lab_files({"a", "b"}, CsvScale{1e-6, 2e-6, 0.1}), Contains("--window is for one file"));
  CHECK_THROWS_WITH(read_lab_files({"absent.csv"}, {}), Contains("cannot be read"));
}

TEST_CASE("cells in quotes may hold commas, quotes and line ends, which are blanks, and lines are still counted",
          "[devices]") {
  std::string csv = "device,pulse,conductance_uS,\"direction\"\r\n";
  int pulse = 0;
  const auto add = [&](const std::string& direction) {
    csv += fmt::format("\"die 2, \"\"west\"\"\nof '=1\",{},{},{}\r\n", pulse, pulse + 1, direction);
    ++pulse;
  };
  add("");
  for (const char* direction : {"up", "up", "down", "down"}) add(direction);
  const std::vector<LabRecord> records = parse_lab_csv(csv, "own.csv");
  REQUIRE(records.size() == 1);
  CHECK(records[0].device == "die 2, \"west\" of '=1");  // names stand in comments of one line
  CHECK(records[0].pulses.conductance_S.size() == 5);
  CHECK(parse_lab_csv(csv + "'=x,0,1,\n'=x,1,2,up\n'=x,2,3,up\n'=x,3,2,down\n'=x,4,1,down\n", "own.csv")[1].device ==
        "=x");
  CHECK_THAT(problem([&] { parse_lab_csv(csv + "a,1\n", "own.csv"); }), Catch::Contains("own.csv:12: 2 cells"));
}
