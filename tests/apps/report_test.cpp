// SPDX-License-Identifier: Apache-2.0
#include <regex>

#include <cmath>
#include <cstdlib>
#include <fstream>
#include <limits>

#include "apps/report/page_text.hpp"
#include "apps/report/report.hpp"
#include "apps/report/svg_chart.hpp"
#include "sim/base/errors.hpp"
#include "sim/io/run_record.hpp"
#include "tests/apps/synthetic_runs.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/gradcheck/phase_record.hpp"

using namespace nudge;
using namespace nudge::report;
using Catch::Contains;

namespace {

constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();
constexpr double inf = std::numeric_limits<double>::infinity();

std::size_t occurrences(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++n;
  return n;
}

/// Keeps whole pages out of the messages of failed checks.
bool has(const std::string& page, const std::string& part) { return page.find(part) != std::string::npos; }

/// Every tag is closed in order and no bare & or < stands in the text: what XML asks for, names and attributes aside.
bool balanced(const std::string& page) {
  std::vector<std::string> open;
  std::size_t at = 0;
  while ((at = page.find('<', at)) != std::string::npos) {
    const std::size_t end = page.find('>', at);
    if (end == std::string::npos) return false;
    const std::string tag = page.substr(at + 1, end - at - 1);
    at = end;
    if (tag.empty() || tag.find('<') != std::string::npos) return false;
    if (tag[0] == '!' || tag.back() == '/') continue;
    const std::string name = tag.substr(0, tag.find_first_of(" \n"));
    if (name[0] != '/') {
      open.push_back(name);
    } else if (open.empty() || "/" + open.back() != name) {
      return false;
    } else {
      open.pop_back();
    }
  }
  return open.empty();
}

Chart chart_of(std::vector<double> x, std::vector<double> y) {
  Chart chart;
  chart.title = "A chart";
  chart.series.push_back({"one", std::move(x), std::move(y), {}, {}, 0, true, false, false});
  return chart;
}

}  // namespace

TEST_CASE("a legend says once what its entries have in common") {
  const auto said = [](const std::vector<std::string>& labels) {
    std::vector<nudge::report::LegendEntry> entries;
    for (const std::string& label : labels) entries.push_back({label, 0, false, false, false});
    return std::regex_replace(nudge::report::legend(entries), std::regex("<svg[^>]*></svg>"), "");
  };
  CHECK_THAT(said({"a.h5: ep, beta = 0.1, noise = 0", "a.h5: ep, beta = 0.1, noise = 1"}),
             Contains("<li class=\"head\">a.h5, ep, beta = 0.1; noise:</li><li>0</li><li>1</li>"));
  CHECK_THAT(said({"beta = 0.1, noise = 0", "beta = 1, noise = 0"}),
             Contains("head\">noise = 0; beta:</li><li>0.1</li>"));
  for (const auto& labels :
       {std::vector<std::string>{"a, b", "a"}, {"a, b", "c, d"}, {"one", "two"}, {"a, b", "a, b"}}) {
    CHECK_THAT(said(labels),
               !Contains("head") && Contains("<li>" + labels.front() + "</li><li>" + labels.back() + "</li>"));
  }
}

TEST_CASE("text and numbers of a page", "[report]") {
  CHECK(escape("a<b & \"c\" 'd'\x01") == "a&lt;b &amp; &quot;c&quot; &#39;d&#39; ");
  CHECK(escape("v\xE2\x80\xAEtuo\xC3\xA9") == "v\\u202etuo\xC3\xA9");  // U+202E would turn the rest around
  CHECK(number(2.18849) == "2.188");
  CHECK(number(1.2e-5) == "1.2·10⁻⁵");
  CHECK(number(-0.5) == "−0.5");
  CHECK(number(not_a_number) == "not finite");
  CHECK(with_deviation(0.04223, 0.00142) == "0.0422 ± 0.0014");
  CHECK(with_deviation(-96.3, 1.26) == "−96.3 ± 1.3");
  CHECK(with_deviation(7.708e6, 4.1e4) == "(7.708 ± 0.041)·10⁶");
  CHECK(with_deviation(1.4e-7, 3e-7) == "(1.4 ± 3.0)·10⁻⁷");
  CHECK(with_deviation(0, 2.5e-6) == "(0.0 ± 2.5)·10⁻⁶");
  CHECK(with_deviation(12, 0) == "12");
  CHECK(count(1, "step") == "1 step");
}

TEST_CASE("axes choose round ticks", "[report]") {
  const Axis linear(Scale::linear, {0, 600}, 0, 100, 0, 5);
  REQUIRE(linear.ticks().size() == 4);
  CHECK(linear.ticks()[1].label == "200");
  CHECK(linear.pixel(300) == Approx(50));
  const Axis close(Scale::linear, {2.181, 2.189}, 0, 100, 0, 5);
  CHECK(close.ticks().front().label == "2.182");
  const Axis log(Scale::logarithmic, {1e-6, 1e-1, -3, not_a_number}, 0, 100, 0, 5);
  CHECK(log.ticks().front().label == "10⁻⁶");
  CHECK(log.pixel(1e-6) == Approx(0).margin(1e-9));
  CHECK_FALSE(log.shows(0));
  const Axis zero(Scale::logarithmic, {0, 1e-3, 1e-1}, 0, 100, 0, 5);
  CHECK(zero.shows(0));
  CHECK(zero.ticks().front().label == "0");
  CHECK(zero.pixel(0) < zero.gap_pixel());
  CHECK(zero.gap_pixel() < zero.pixel(1e-3));
  CHECK(Axis(Scale::linear, {not_a_number, inf}, 0, 1, 0, 5).empty());
  const double most = std::numeric_limits<double>::max(), least = std::numeric_limits<double>::denorm_min();
  CHECK(Axis(Scale::linear, {0, most}, 0, 100, 0, 5).ticks().size() < 10);  // found by fuzzing: it never ended
  CHECK(Axis(Scale::linear, {-1e300, 1e300}, 0, 100, 0.04, 5).ticks().size() == 5);
  CHECK(Axis(Scale::linear, {0, least}, 0, 100, 0, 5).ticks().size() < 10);
  CHECK(Axis(Scale::logarithmic, {0, -1}, 0, 1, 0, 5).empty());
  for (const double value : {0.0, 3.0, -1e-300, 1e300}) {  // a single value still gets a frame with ticks
    const Axis single(Scale::linear, {value}, 0, 100, 0, 5);
    CHECK(single.pixel(value) == Approx(50));
    CHECK_FALSE(single.ticks().empty());
  }
}

TEST_CASE("values that are not finite are gaps in a curve", "[report]") {
  const std::string whole = chart_figure(chart_of({0, 1, 2, 3, 4}, {1, 2, 3, 2, 1}));
  CHECK(occurrences(whole, "<path class=\"curve") == 1);
  const std::string gap = chart_figure(chart_of({0, 1, 2, 3, 4}, {1, 2, not_a_number, inf, 1}));
  const std::size_t begin = gap.find("d=\"M");
  const std::string path = gap.substr(begin, gap.find('"', begin + 3) - begin);
  CHECK(occurrences(path, "M") == 2);
  CHECK(gap.find("nan") == std::string::npos);
  CHECK(gap.find("inf") == std::string::npos);
  CHECK(has(chart_figure(chart_of({0, 1}, {not_a_number, not_a_number})), "no finite values"));
  CHECK(has(chart_figure(chart_of({}, {})), "no finite values"));
}

TEST_CASE("text of a chart is escaped and described", "[report]") {
  Chart chart = chart_of({0, 1}, {0, 1});
  chart.title = "a < b & \"c\"";
  chart.series.push_back(chart.series.front());
  chart.series.back().label = "<script>";
  const std::string svg = chart_figure(chart);
  CHECK(balanced(svg));
  CHECK(svg.find("<script>") == std::string::npos);
  CHECK(has(svg, "<title>a &lt; b &amp; &quot;c&quot;</title>"));
  CHECK(has(svg, "role=\"img\""));
  CHECK(has(svg, "<desc>"));
}

TEST_CASE("a report of every kind of run is one self-contained well-formed page", "[report]") {
  const test::TemporaryDirectory dir;
  test::synthetic_training(600, true).write(dir / "train.h5", Overwrite::must_not_exist);
  test::synthetic_training(20, false).write(dir / "short.h5", Overwrite::must_not_exist);
  test::synthetic_gradcheck().write(dir / "gradcheck.h5", Overwrite::must_not_exist);
  test::synthetic_sweep(false).write(dir / "sweep.h5", Overwrite::must_not_exist);
  test::synthetic_sweep(true).write(dir / "sweep2.h5", Overwrite::must_not_exist);
  const std::vector<std::vector<std::filesystem::path>> sets{
      {dir / "train.h5"},
      {dir / "short.h5"},
      {dir / "gradcheck.h5"},
      {dir / "sweep.h5"},
      {dir / "sweep2.h5"},
      {dir / "train.h5", dir / "short.h5", dir / "gradcheck.h5", dir / "sweep.h5", dir / "sweep2.h5"}};
  const bool python = std::system("/usr/bin/python3 -c 'import xml.dom.minidom' 2>/dev/null") == 0;
  if (!python) WARN("SKIPPED: no /usr/bin/python3, only our own check of the tags");
  for (const auto& files : sets) {
    const std::string page = report_html(files);
    CHECK(balanced(page));
    CHECK(page.find("://") == std::string::npos);
    CHECK(occurrences(page, "<script>") == 1);  // the buttons that save figures; nothing is fetched
    CHECK(page.find(" src=") == std::string::npos);
    CHECK(page.find("fetch(") == std::string::npos);
    CHECK(page.find("url(") == std::string::npos);
    CHECK(occurrences(page, "nan") == occurrences(page, "provenance"));  // no number is printed as nan
    CHECK(has(page, "prefers-color-scheme: dark"));
    CHECK(has(page, "resolved config"));
    std::ofstream(dir / "page.html") << page;
    const std::string parse = "/usr/bin/python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' ";
    if (python) CHECK(std::system((parse + (dir / "page.html").string()).c_str()) == 0);
  }
  const std::string train = report_html(sets[0]);
  CHECK(has(train, "aep anchored"));
  CHECK(has(train, "backprop"));
  CHECK(has(train, "Force residual"));
  CHECK(has(train, "Damping c"));
  CHECK(has(train, "outlier &lt;step&gt; &amp; &quot;skipped&quot;"));
  CHECK(has(train, "channels = 128"));
  CHECK(has(train, "−0.039 (−1.7 %)"));  // 2.19 against 2.23 and what is left of the transient
  CHECK(has(report_html(sets[2]), "1 − cosine"));
  CHECK(has(report_html(sets[2]), "aep transposed"));
  CHECK(has(report_html(sets[3]), "Final loss against devices.read_noise"));
  CHECK(has(report_html(sets[3]), "1 run: stopped"));
  CHECK(has(report_html(sets[4]), "estimator = aep_transposed"));
  CHECK(has(report_html(sets[5]), "short.h5: aep anchored"));
}

TEST_CASE("a report says what a file lacks and refuses what is not a run", "[report]") {
  const test::TemporaryDirectory dir;
  H5Document bare;
  bare.attribute("kind", "train");
  bare.group("train");
  bare.write(dir / "bare.h5", Overwrite::must_not_exist);
  const std::string page = report_html({dir / "bare.h5"});
  CHECK(balanced(page));
  CHECK(has(page, "no finite values"));
  CHECK(has(page, "No damping was recorded"));
  CHECK(has(page, "The file holds no config"));

  bare.column("train/step", std::vector<std::int64_t>{1, 2}, {});
  bare.column("train/loss", std::vector<double>{1, 2, 3}, {});
  bare.write(dir / "odd.h5", Overwrite::must_not_exist);
  CHECK_THROWS_WITH(report_html({dir / "odd.h5"}), Contains("odd.h5: train/loss: length 2 expected"));

  H5Document other;
  other.attribute("kind", "eqblock");
  other.write(dir / "case.h5", Overwrite::must_not_exist);
  CHECK_THROWS_WITH(report_html({dir / "case.h5"}), Contains("is not a result file of nudge"));
  CHECK_THROWS_AS(report_html({dir / "none.h5"}), UserError);
  CHECK_THROWS_AS(report_html({}), UserError);
}

TEST_CASE("one key at a time: every key has its figures, over the points that only it moves", "[report]") {
  const test::TemporaryDirectory dir;
  H5Document file;
  add_run_record(file, {"sweep", "seed = 1\n", 1, "float", 2, "2025-01-31T12:34:56Z", 300});
  file.column("points/device.read_noise", std::vector<double>{0, 0.1, 0.2, 0}, {});
  file.column("points/device.asymmetry", std::vector<double>{0.3, 0.3, 0.3, 0.5}, {});
  file.column("points/seed", std::vector<std::int64_t>{1, 1, 1, 1}, {});
  file.column("points/validation_loss", std::vector<double>{2, 2.5, 2.6, 2.1}, {"nat", "", {}});
  file.attribute("keys", std::string("device.read_noise, device.asymmetry"), "points");
  file.attribute("results", std::string("validation_loss"), "points");
  file.attribute("mode", std::string("one_at_a_time"), "points");
  file.write(dir / "sweep.h5", Overwrite::must_not_exist);
  const std::string page = report_html({dir / "sweep.h5"});
  CHECK_FALSE(has(page, "No run of the sweep has a finite result"));
  for (const char* key : {"<h3>device.read_noise</h3>", "<h3>device.asymmetry</h3>"}) {
    const std::size_t at = page.find(key);
    REQUIRE(at != std::string::npos);
    const std::string part = page.substr(at, page.find("<h", at + 4) - at);
    CHECK(has(part, "<svg"));
  }
}

TEST_CASE("one key at a time: a choice that moves other keys too stands with its own figures", "[report]") {
  const test::TemporaryDirectory dir;
  H5Document file;
  add_run_record(file, {"sweep", "seed = 1\n", 1, "float", 2, "2025-01-31T12:34:56Z", 300});
  // Without devices there is no spread of leaks: the second point differs from the first in both.
  file.column("points/device.preset", std::vector<std::string>{"ecram", "none", "ecram"}, {});
  file.column("points/circuit.leak_spread", std::vector<double>{0.05, 0, 0}, {});
  file.column("points/seed", std::vector<std::int64_t>{1, 1, 1}, {});
  file.column("points/validation_loss", std::vector<double>{2, 2.5, 2.25}, {"nat", "", {}});
  file.attribute("keys", std::string("device.preset, circuit.leak_spread"), "points");
  file.attribute("results", std::string("validation_loss"), "points");
  file.attribute("mode", std::string("one_at_a_time"), "points");
  file.write(dir / "sweep.h5", Overwrite::must_not_exist);
  const std::string page = report_html({dir / "sweep.h5"});
  const std::size_t preset = page.find("<h3>device.preset</h3>"), leak = page.find("<h3>circuit.leak_spread</h3>");
  REQUIRE(leak > preset);
  CHECK(has(page.substr(preset, leak - preset), "2.5"));
  CHECK_FALSE(has(page.substr(preset, leak - preset), "2.25"));
  CHECK(has(page.substr(leak), "2.25"));
  CHECK_FALSE(has(page.substr(leak, page.find("<h2", leak) - leak), "2.5<"));
}

namespace {

/// x of the label with this text, and its anchor.
double label_x(const std::string& svg, const std::string& text, const std::string& anchor) {
  const std::size_t end = svg.find(">" + text + "</text>");
  REQUIRE(end != std::string::npos);
  const std::string tag = svg.substr(svg.rfind("<text", end), end - svg.rfind("<text", end));
  CHECK(has(tag, anchor));
  const std::size_t x = tag.find(" x=\"");
  REQUIRE(x != std::string::npos);
  return std::stod(tag.substr(x + 4));
}

}  // namespace

TEST_CASE("long numbers and names of axes lie within the drawing", "[report]") {
  // Ten characters, which end 7 before the frame and are less than 7 wide each; 51 characters around their middle, the drawing is
  // 480 wide.
  const Axis tiny(Scale::linear, {1.3405e-5, 1.3447e-5}, 240, 32, 0.04, 5);
  const std::string& number = tiny.ticks().front().label;
  REQUIRE(number.find("·10⁻⁵") != std::string::npos);
  CHECK(label_x(chart_figure(chart_of({0, 1}, {1.3405e-5, 1.3447e-5})), number, "end") > 70);
  DotPlot plot;
  plot.x_label = "difference of the validation accuracy, right is better";
  plot.rows = {"device.step_spread = 0.6"};
  plot.series = {{"", {0.1}, {0.0}, {0.2}, 0}};
  CHECK(label_x(dot_figure(plot), plot.x_label, "middle") + 0.5 * 7 * static_cast<double>(plot.x_label.size()) < 480);
}

TEST_CASE("on paper tables are not cut off and the colours of heat maps are printed", "[report]") {
  const test::TemporaryDirectory dir;
  test::synthetic_gradcheck().write(dir / "gradcheck.h5", Overwrite::must_not_exist);
  const std::string page = report_html({dir / "gradcheck.h5"});
  const std::size_t print = page.find("@media print");
  REQUIRE(print != std::string::npos);
  CHECK(page.find(".scroll { overflow: visible; }", print) != std::string::npos);
  CHECK(page.find("print-color-adjust: exact", print) != std::string::npos);
  // Behind the rules for the screen, which would win otherwise; and dark colours are for screens alone.
  CHECK(page.find(".scroll { overflow-x: auto; }") < print);
  CHECK(has(page, "@media screen and (prefers-color-scheme: dark)"));
}

TEST_CASE("a gradcheck that has recorded steps shows what they add, group by group", "[report]") {
  const test::TemporaryDirectory dir;
  H5Document file = test::synthetic_gradcheck();
  PhaseRecord record{{4, 7}, {"ep"}, {"W1", "W2"}, {0.1}, {0, 0}, std::vector<double>(8), {}, {}, {}, 1, 1, 4, 1, 1};
  for (const double sample : {1.0, 3.0}) {
    for (const double group : {1.0, 10.0}) {
      for (const double step : {4.0, 2.0, 1.0}) {
        record.bptt.push_back(sample * group * step);
        record.update.push_back(1.5 * sample * group * step);
        record.distance.push_back(0);
      }
    }
  }
  write_record(record, file);
  file.write(dir / "gradcheck.h5", Overwrite::must_not_exist);
  const std::string page = report_html({dir / "gradcheck.h5"});
  CHECK(has(page, "Gradient per step: W1"));
  CHECK(has(page, "mean over 2 samples"));
  // Means over both samples: (1 + 3)/2 of 10 times 4, 2 and 1, and half as much again.
  CHECK(has(page, "0,120,80\n1,60,40\n2,30,20\n"));
}

TEST_CASE("write example pages to the current directory, to be looked at", "[.pages]") {
  const test::TemporaryDirectory dir;
  test::synthetic_training(600, true).write(dir / "train.h5", Overwrite::must_not_exist);
  test::synthetic_training(300, true).write(dir / "half.h5", Overwrite::must_not_exist);
  test::synthetic_gradcheck().write(dir / "gradcheck.h5", Overwrite::must_not_exist);
  test::synthetic_sweep(true).write(dir / "sweep.h5", Overwrite::must_not_exist);
  std::ofstream("example_one.html") << report_html({dir / "train.h5"});
  std::ofstream("example_all.html") << report_html(
      {dir / "train.h5", dir / "half.h5", dir / "gradcheck.h5", dir / "sweep.h5"});
}
