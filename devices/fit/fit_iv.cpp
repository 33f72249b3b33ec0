// SPDX-License-Identifier: Apache-2.0
#include "devices/fit/fit_iv.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>

#include "devices/fit/fit_numbers.hpp"
#include "devices/fit/iv_motion.hpp"
#include "devices/fit/residual_vector.hpp"
#include "sim/base/decompositions.hpp"
#include "sim/base/errors.hpp"
#include "sim/base/parallel.hpp"
#include "sim/base/statistics.hpp"
#include "sim/base/units.hpp"

namespace nudge {
namespace {

constexpr double usual_noise = 0.01;   // of the logarithm of a current: weight of what is expected of a number
constexpr double expected_within = 4;  // e^4: an order of magnitude and a half to either side
constexpr std::size_t most_rows = 3000;

/// Number of a law as a coordinate: its value is a monotone function of it.
struct IvCoordinate {
  std::string name, unit;
  double start = 0;
  std::function<double(double)> value;
};

/// Sweeps with the sign at which the device is set upwards.
struct IvProblem {
  std::vector<IvSweep> sweeps;
  std::vector<std::size_t> device;  ///< of each sweep, 0, 1, ...
  std::size_t devices = 0, rows = 0;
  IvLimits limits = {};
  double floor_A = 0, curvature = 0, peak_up = 0, peak_down = 0;
};

class IvResiduals final : public ResidualVector {
 public:
  IvResiduals(const IvProblem& problem, bool vteam, std::vector<IvCoordinate> coordinates)
      : problem_(problem), vteam_(vteam), coordinates_(std::move(coordinates)) {}

  Index inputs() const override { return static_cast<Index>(coordinates_.size()); }
  Index values() const override { return static_cast<Index>(problem_.rows) + inputs(); }
  ForwardDifferences differences() const override { return {1e-5}; }
  const std::vector<IvCoordinate>& coordinates() const { return coordinates_; }

  IvMotion motion(const Eigen::VectorXd& x) const {
    IvMotion m;
    m.vteam = vteam_;
    m.curvature = problem_.curvature;
    std::map<std::string, double*> place = {{"g_min", &m.g_min_S}, {"g_max", &m.g_max_S}};
    Vteam& r = m.resistive;
    Yakopcic& g = m.conductive;
    if (vteam_) {
      place.insert({{"threshold_up", &r.threshold_up_V},
                    {"threshold_down", &r.threshold_down_V},
                    {"k_up", &r.k_up_Hz},
                    {"k_down", &r.k_down_Hz},
                    {"alpha_up", &r.alpha_up},
                    {"alpha_down", &r.alpha_down},
                    {"window", &r.window}});
    } else {
      place.insert({{"threshold_up", &g.threshold_up_V},
                    {"threshold_down", &g.threshold_down_V},
                    {"A_up", &g.A_up},
                    {"A_down", &g.A_down},
                    {"x_up", &g.x_up},
                    {"x_down", &g.x_down},
                    {"alpha_up", &g.alpha_up},
                    {"alpha_down", &g.alpha_down}});
    }
    for (std::size_t k = 0; k < coordinates_.size(); ++k) {
      const auto own = place.find(coordinates_[k].name);
      if (own != place.end()) *own->second = coordinates_[k].value(x[static_cast<Index>(k)]);
    }
    return m;
  }

  void residuals(const Eigen::VectorXd& x, Eigen::VectorXd& r) const override {
    const IvMotion m = motion(x);
    std::vector<double> state(problem_.devices);
    for (std::size_t d = 0; d < state.size(); ++d) {  // the last coordinates
      const std::size_t k = coordinates_.size() - problem_.devices + d;
      state[d] = coordinates_[k].value(x[static_cast<Index>(k)]);
    }
    Index at = 0;
    for (std::size_t s = 0; s < problem_.sweeps.size(); ++s) {
      const IvSweep& sweep = problem_.sweeps[s];
      double& own = state[problem_.device[s]];
      for (std::size_t i = 0; i < sweep.volts.size(); ++i, ++at) {
        const double v = sweep.volts[i], amps = sweep.current_A[i];
        if (i > 0) own = m.moved(own, sweep.volts[i - 1], v, sweep.time_s[i] - sweep.time_s[i - 1]);
        r[at] = problem_.limits.holds(v, amps)
                    ? 0
                    : std::asinh(amps / problem_.floor_A) - std::asinh(m.current(own, v) / problem_.floor_A);
      }
    }
    for (std::size_t k = 0; k < coordinates_.size(); ++k, ++at) {
      r[at] = usual_noise * (x[static_cast<Index>(k)] - coordinates_[k].start) / expected_within;
    }
  }

 private:
  const IvProblem& problem_;
  bool vteam_;
  std::vector<IvCoordinate> coordinates_;
};

double unit_share(double x) { return 1 / (1 + std::exp(-x)); }
double share_place(double p) { return std::log(p / (1 - p)); }

/// Every m-th row and all turns of the voltage, so that few thousand rows are followed.
IvSweep thinned(const IvSweep& sweep, std::size_t every, double sign) {
  IvSweep out{sweep.device, sweep.cycle, {}, {}, {}, {}};
  for (std::size_t i = 0; i < sweep.volts.size(); ++i) {
    const bool inner = i > 0 && i + 1 < sweep.volts.size();
    const bool turn = inner && (sweep.volts[i] - sweep.volts[i - 1]) * (sweep.volts[i + 1] - sweep.volts[i]) <= 0;
    if (inner && !turn && i % every != 0) continue;
    out.volts.push_back(sign * sweep.volts[i]);
    out.current_A.push_back(sign * sweep.current_A[i]);
    out.time_s.push_back(sweep.time_s[i]);
  }
  return out;
}

IvProblem problem_of(const IvData& data, const IvReads& reads) {
  IvProblem p;
  std::size_t all = 0;
  for (const IvSweep& sweep : data.sweeps) all += sweep.volts.size();
  std::map<double, std::size_t> device;
  for (const IvSweep& sweep : data.sweeps) {
    p.sweeps.push_back(thinned(sweep, 1 + all / most_rows, reads.set_V.value < 0 ? -1 : 1));
    p.device.push_back(device.emplace(sweep.device, device.size()).first->second);
    p.rows += p.sweeps.back().volts.size();
    for (const double v : p.sweeps.back().volts)
      p.peak_up = std::max(p.peak_up, v), p.peak_down = std::max(p.peak_down, -v);
  }
  p.devices = device.size();
  p.limits = data.limits;
  if (reads.set_V.value < 0) std::swap(p.limits.positive_A, p.limits.negative_A);
  p.curvature = reads.sinh_V() > 0 ? reads.curvature_per_V2.value : 0;
  p.floor_A = 0.02 * reads.off_S.value * std::min(p.peak_up, p.peak_down);
  return p;
}

/// Median speed of the voltage where it moves, V/s.
double ramp_of(const IvProblem& p) {
  std::vector<double> speeds;
  for (const IvSweep& sweep : p.sweeps) {
    for (std::size_t i = 1; i < sweep.volts.size(); ++i) {
      const double speed = std::abs(sweep.volts[i] - sweep.volts[i - 1]) / (sweep.time_s[i] - sweep.time_s[i - 1]);
      if (speed > 0) speeds.push_back(speed);
    }
  }
  return upper_median(speeds);
}

/// Coordinates of a law: thresholds begin at `part` of the voltages at which the device switches, powers at `power`, and
/// speeds at those that bring it halfway on a ramp up to there.
std::vector<IvCoordinate> coordinates_of(const IvProblem& p, const IvReads& reads, bool vteam, double part,
                                         double power) {
  std::vector<IvCoordinate> out;
  const auto factor = [](double start) {
    return [start](double x) { return start * std::exp(std::clamp(x, -60.0, 60.0)); };
  };
  const double off = reads.off_S.value, on = reads.on_S.value, ramp = ramp_of(p);
  out.push_back({"g_min", "S", 0, factor(off)});
  out.push_back({"g_max", "S", 0, factor(on)});
  for (const bool up : {true, false}) {
    const std::string end = up ? "_up" : "_down";
    const double seen = std::abs(up ? reads.set_V.value : reads.reset_V.value), peak = up ? p.peak_up : p.peak_down;
    const double threshold = part * seen, sign = vteam && !up ? -1 : 1;
    out.push_back({"threshold" + end, "V", share_place(std::min(threshold / peak, 0.99)),
                   [=](double x) { return sign * peak * unit_share(x); }});
    const double way = vteam ? threshold / (power + 1) * std::pow(1 / part - 1, power + 1)
                             : std::exp(seen) - std::exp(threshold) * (1 + seen - threshold);
    out.push_back({(vteam ? "k" : "A") + end, "1/s", 0, factor(0.5 * ramp / way)});
    out.push_back(
        {"alpha" + end, "1", std::log(power), [](double x) { return std::exp(std::min(x, std::log(20.0))); }});
    if (!vteam) out.push_back({"x" + end, "1", 0, unit_share});
  }
  if (vteam) out.push_back({"window", "1", 0, [](double x) { return std::exp(std::min(x, std::log(10.0))); }});
  const bool first_sets = !reads.lobes.empty() && reads.lobes.front().after_S > reads.lobes.front().before_S;
  for (std::size_t d = 0; d < p.devices; ++d)
    out.push_back({"state at first", "1", first_sets ? -4.0 : 4.0, unit_share});
  return out;
}

/// Numbers of the law with intervals from the curvature of the squares.
std::vector<FittedNumber> numbers_of(const IvResiduals& residuals, const Eigen::VectorXd& x, double sigma,
                                     int degrees) {
  Eigen::MatrixXd j(residuals.values(), residuals.inputs());
  residuals.jacobian(x, j);
  const Eigen::MatrixXd information = j.transpose() * j;
  const double t = student_t_quantile(0.975, degrees);
  std::vector<FittedNumber> out;
  for (Index k = 0; k < x.size(); ++k) {
    const IvCoordinate& of = residuals.coordinates()[static_cast<std::size_t>(k)];
    if (of.name == "state at first") continue;
    FittedNumber number{of.name, of.unit, of.value(x[k]), {}, {}};
    const double variance = semidefinite_solve(information, Eigen::VectorXd::Unit(x.size(), k))[k];
    const double half = t * sigma * std::sqrt(std::max(variance, 0.0));
    if (half < 3 && variance > 0) {
      number.low = of.value(x[k] - half);
      number.high = of.value(x[k] + half);
      if (*number.low > *number.high) std::swap(*number.low, *number.high);
    }
    out.push_back(std::move(number));
  }
  return out;
}

/// Start of a search: thresholds at this part of the voltages at which the device switches, and powers of the law.
struct IvStart {
  bool vteam = true;
  double part = 0.6, power = 1;
};

/// End of a search from one start.
struct IvEnd {
  IvStart start;
  Eigen::VectorXd x;
  double squares = std::numeric_limits<double>::infinity();
};

IvEnd search(const IvProblem& problem, const IvReads& reads, const IvStart& start, Eigen::VectorXd x,
             const DescentEnd& end) {
  const IvResiduals residuals(problem, start.vteam,
                              coordinates_of(problem, reads, start.vteam, start.part, start.power));
  if (x.size() == 0) {
    x.resize(residuals.inputs());
    for (Index k = 0; k < x.size(); ++k) x[k] = residuals.coordinates()[static_cast<std::size_t>(k)].start;
  }
  descend(residuals, end, x);
  Eigen::VectorXd r(residuals.values());
  residuals.residuals(x, r);
  return {start, x, r.head(static_cast<Index>(problem.rows)).squaredNorm()};
}

IvLaw law_at(const IvProblem& problem, const IvReads& reads, const IvEnd& end) {
  const IvResiduals residuals(problem, end.start.vteam,
                              coordinates_of(problem, reads, end.start.vteam, end.start.part, end.start.power));
  Eigen::VectorXd r(residuals.values());
  residuals.residuals(end.x, r);
  const auto rows = static_cast<Index>(problem.rows);
  const double n = static_cast<double>(rows);
  const int degrees = std::max(static_cast<int>(rows - end.x.size()), 1);
  IvLaw law;
  law.rms = std::sqrt(end.squares / n);
  law.akaike = n * std::log(std::max(end.squares / n, 1e-30)) + 2.0 * static_cast<double>(end.x.size());
  law.correlation = end.squares > 0 ? r.segment(0, rows - 1).dot(r.segment(1, rows - 1)) / end.squares : 0;
  law.numbers = numbers_of(residuals, end.x, std::sqrt(end.squares / degrees), degrees);
  law.spec = device_of_law(residuals.motion(end.x), reads);
  return law;
}

/// Best law of each kind. Searches from all starts stop early, side by side; the best two of each kind go on.
std::vector<IvLaw> fit_laws(const IvProblem& problem, const IvReads& reads, const std::vector<bool>& kinds) {
  std::vector<IvEnd> ends;
  for (const bool vteam : kinds) {
    for (const double part : {0.6, 0.9}) {
      for (const double power : {1.0, 3.0}) ends.push_back({{vteam, part, power}, {}});
    }
  }
  constexpr DescentEnd first = {40, 1e-3, 1e-3}, last = {150, 1e-8, 1e-8};
  const auto go_on = [&](const DescentEnd& until) {
    parallel_for(static_cast<Index>(ends.size()), 0, [&](Index k, int) {
      IvEnd& own = ends[static_cast<std::size_t>(k)];
      own = search(problem, reads, own.start, own.x, until);
    });
    std::stable_sort(ends.begin(), ends.end(), [](const IvEnd& a, const IvEnd& b) { return a.squares < b.squares; });
  };
  go_on(first);
  std::vector<IvEnd> kept;
  for (const bool vteam : kinds) {
    std::size_t own = 0;
    for (const IvEnd& end : ends) {
      if (end.start.vteam == vteam && own++ < 2) kept.push_back(end);
    }
  }
  ends = std::move(kept);
  go_on(last);
  std::vector<IvLaw> laws;
  for (const bool vteam : kinds) {
    const auto best =
        std::find_if(ends.begin(), ends.end(), [vteam](const IvEnd& end) { return end.start.vteam == vteam; });
    laws.push_back(law_at(problem, reads, *best));
  }
  return laws;
}

/// Devices of which no lobe switches, where others switch: "device 3", "devices 3, 5".
std::string dead_devices(const IvData& data, const IvReads& reads) {
  std::map<double, bool> alive;
  for (const IvLobe& lobe : reads.lobes) alive[data.sweeps[lobe.sweep].device] |= lobe.switches();
  std::string out;
  std::size_t dead = 0;
  for (const auto& [device, switches] : alive) {
    if (!switches) out += fmt::format("{}{:g}", dead++ > 0 ? ", " : "", device);
  }
  if (dead == 0 || dead == alive.size()) return "";
  return (dead > 1 ? "devices " : "device ") + out;
}

std::string why_no_law(const IvData& data, const IvReads& reads) {
  if (reads.is_volatile()) {
    return fmt::format(
        "the device returns by itself in {} of {} lobes: a threshold switch, unless its reset is not in the "
        "file. vteam and yakopcic keep their state. No model of nudge has a state that returns within a sweep",
        reads.returned, reads.switched);
  }
  const auto both = [](const IvNumber& most, const IvNumber& other) { return 10 * other.n > most.n; };
  if (both(reads.set_V, reads.other_set_V)) return "it sets at voltages of both signs: these laws are bipolar";
  if (both(reads.reset_V, reads.other_reset_V)) return "it resets at voltages of both signs: these laws are bipolar";
  if (!reads.set_V.known() || !reads.reset_V.known()) return "a set and a reset are needed";
  if (reads.off_below_S > 0) {
    return fmt::format("noise of the current hides the off state (below {}): average more, or measure it at more volts",
                       format_quantity(reads.off_below_S, Unit::siemens, 3));
  }
  if (reads.set_V.value * reads.reset_V.value > 0) return "set and reset have the same sign: these laws are bipolar";
  if (std::isfinite(data.limits.at(reads.reset_V.value))) {
    return "the current is limited at the sign of the reset, which hides how the device moves there: raise that limit";
  }
  if (const std::string dead = dead_devices(data, reads); !dead.empty()) {
    return fmt::format("nothing switches in {}, in others it does: without its rows these get a law", dead);
  }
  const bool times =
      std::none_of(data.sweeps.begin(), data.sweeps.end(), [](const IvSweep& s) { return s.time_s.empty(); });
  return times ? "" : "speeds need times: a column time, or --rate with the rows per second";
}

}  // namespace

IvFit fit_iv(const IvData& data, const std::string& model) {
  if (model != "auto" && model != "vteam" && model != "yakopcic") {
    throw UserError(
        fmt::format("devices fit --iv: model \"{}\" (vteam, yakopcic, or auto: the better of both)", model));
  }
  IvFit fit;
  fit.reads = look_at_sweeps(data);
  fit.why_no_law = why_no_law(data, fit.reads);
  if (!fit.why_no_law.empty()) return fit;
  if (fit.reads.set_V.value < 0) {
    fit.warnings.push_back(
        "the set is at negative voltages: in the device both signs are turned, pulses up are positive");
  }
  const IvProblem problem = problem_of(data, fit.reads);
  std::vector<bool> kinds;
  for (const bool vteam : {true, false}) {
    if (model == "auto" || (model == "vteam") == vteam) kinds.push_back(vteam);
  }
  fit.laws = fit_laws(problem, fit.reads, kinds);
  std::stable_sort(fit.laws.begin(), fit.laws.end(),
                   [](const IvLaw& a, const IvLaw& b) { return a.akaike < b.akaike; });
  const IvLaw& best = fit.laws.front();
  // A device that does not move leaves half of ln(on/off). Loops whose thresholds wander from cycle to cycle come near it.
  if (!(best.rms < 0.15 * 0.5 * std::log(fit.reads.ratio.value))) {
    fit.why_no_law = fmt::format(
        "{} leaves an rms of {:.3g} of ln(current), a device that never switches {:.3g}: these laws "
        "do not describe the loops (do thresholds differ from cycle to cycle? Fit one cycle)",
        best.spec.model, best.rms, 0.5 * std::log(fit.reads.ratio.value));
    fit.laws.clear();
    return fit;
  }
  if (std::abs(best.correlation) > 3 / std::sqrt(static_cast<double>(problem.rows))) {
    fit.warnings.push_back(
        fmt::format("errors of {} correlate by {:+.2f} from row to row: its loop has another shape, and "
                    "its intervals are too narrow",
                    best.spec.model, best.correlation));
  }
  for (std::string& warning : pulse_warnings(best.spec)) fit.warnings.push_back(std::move(warning));
  return fit;
}

}  // namespace nudge
