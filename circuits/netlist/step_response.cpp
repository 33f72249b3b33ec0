// SPDX-License-Identifier: Apache-2.0
#include "circuits/netlist/step_response.hpp"

#include <fmt/format.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "circuits/netlist/node_coordinates.hpp"
#include "circuits/netlist/operating_point.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

/// Steps at most: a circuit that takes more rings on and on.
constexpr std::size_t kMostSteps = 200000;
/// The first time at which a consistent start is asked for, of the whole.
constexpr double kFirst = 1e-9;
/// How far from a jump its side is told, as a share of the stretch.
constexpr double kInside = 1e-9;
/// Jumps of slopes of waveforms at most.
constexpr std::size_t kMostJumps = 100000;

/// The matrices Nᵀ C P and Nᵀ (∂r/∂v) P as entries of one sparse pattern.
class ReducedMatrices {
 public:
  struct Part {
    std::size_t entry, from;  ///< of the pattern; of the nodal Jacobian
    double weight;
  };

  ReducedMatrices(const NodalEquations& equations, const NodeCoordinates& at, double node_capacitance_F) {
    std::map<std::pair<int, int>, double> capacitance;  // by column, row of z
    const auto join = [&](int of, int by, double farad) {
      if (of < 0 || by < 0 || farad == 0) return;
      between.push_back({of, by, farad});
      for (const auto& [row, n] : at.carried(of)) {
        for (const auto& [column, p] : at.set_by(by)) capacitance[{column, row}] += n * farad * p;
      }
    };
    for (int i = 0; i < equations.nodes(); ++i) join(i, i, node_capacitance_F);
    for (const Element& e : equations.netlist().elements) {
      if (e.kind != ElementKind::capacitor) continue;
      for (const int of : {0, 1}) {
        for (const int by : {0, 1}) {
          join(e.nodes[static_cast<std::size_t>(of)], e.nodes[static_cast<std::size_t>(by)],
               of == by ? e.value : -e.value);
        }
      }
    }
    std::map<std::pair<int, int>, std::vector<Part>> slopes;
    const SparsePattern& nodal = equations.pattern();
    for (int by = 0; by < equations.nodes(); ++by) {
      for (int k = nodal.column_begin[static_cast<std::size_t>(by)];
           k < nodal.column_begin[static_cast<std::size_t>(by) + 1]; ++k) {
        const auto from = static_cast<std::size_t>(k);
        if (nodal.row[from] >= equations.nodes()) break;
        for (const auto& [row, n] : at.carried(nodal.row[from])) {
          for (const auto& [column, p] : at.set_by(by)) slopes[{column, row}].push_back({0, from, n * p});
        }
      }
    }
    for (const auto& [place, farad] : capacitance) slopes[place];
    column_begin.assign(static_cast<std::size_t>(at.columns()) + 1, 0);
    for (auto& [place, parts] : slopes) {
      for (Part& part : parts) {
        part.entry = rows.size();
        all.push_back(part);
      }
      const auto found = capacitance.find(place);
      farads.push_back(found == capacitance.end() ? 0 : found->second);
      rows.push_back(place.second);
      columns.push_back(place.first);
      ++column_begin[static_cast<std::size_t>(place.first) + 1];
    }
    for (std::size_t j = 1; j < column_begin.size(); ++j) column_begin[j] += column_begin[j - 1];
  }

  /// Charge that capacitances have at the voltages v of the nodes, as states see it: Nᵀ C v.
  void charge(const NodeCoordinates& at, const std::vector<double>& v, std::vector<double>& out) const {
    std::vector<double> of_nodes(v.size(), 0.0);
    for (const Between& one : between) {
      of_nodes[static_cast<std::size_t>(one.of)] += one.farad * v[static_cast<std::size_t>(one.by)];
    }
    out.assign(static_cast<std::size_t>(at.columns()), 0.0);
    at.gather(of_nodes.data(), out.data());
  }

  struct Between {
    int of, by;
    double farad;
  };
  std::vector<Between> between;  ///< entries of C
  std::vector<Part> all;
  std::vector<double> farads;  ///< by entry
  std::vector<int> rows, columns, column_begin;
};

/// The equations as IDA asks for them.
struct Problem {
  Problem(const NodalEquations& e, double node_capacitance_F)
      : equations(&e), at(e, {}), matrices(e, at, node_capacitance_F), values(e.values()) {
    x.assign(static_cast<std::size_t>(e.unknowns()), 0.0);
  }

  const double* voltages(const double* z) {
    at.voltages(z, values, x.data());
    return x.data();
  }
  /// Sources have the values of a time; nothing changes of a step.
  void set_time(double t) {
    for (const std::size_t k : waves) values[k] = equations->netlist().elements[k].wave.at(t);
  }
  /// f += Nᵀ C Q de/dt, what sources that move charge, within the break that t lies in.
  void add_moved_charge(double t, double* f) {
    if (waves.empty()) return;
    const double inside = std::clamp(t, begin + kInside * (end - begin), end - kInside * (end - begin));
    std::vector<double> rates(values.size(), 0.0), rest(static_cast<std::size_t>(at.columns()), 0.0), v(x.size(), 0.0),
        charge;
    for (const std::size_t k : waves) rates[k] = equations->netlist().elements[k].wave.slope(inside);
    at.voltages(rest.data(), rates, v.data());
    v.resize(static_cast<std::size_t>(equations->nodes()));
    matrices.charge(at, v, charge);
    for (std::size_t i = 0; i < charge.size(); ++i) f[i] += charge[i];
  }
  /// r and ∂r/∂v at z.
  void evaluate(const double* z) {
    voltages(z);
    equations->evaluate(x, values, {}, {}, nullptr, residual, jacobian);
  }

  const NodalEquations* equations;
  NodeCoordinates at;
  ReducedMatrices matrices;
  std::vector<double> values, x, residual, jacobian;
  std::vector<std::size_t> waves;  ///< elements that follow a waveform
  double begin = 0, end = 0;       ///< of the present stretch without a jump
};

int residual_of(realtype t, N_Vector z, N_Vector slope, N_Vector out, void* data) {
  auto& problem = *static_cast<Problem*>(data);
  double* f = N_VGetArrayPointer(out);
  const double* rate = N_VGetArrayPointer(slope);
  problem.set_time(t);
  problem.evaluate(N_VGetArrayPointer(z));
  std::fill(f, f + problem.at.columns(), 0.0);
  problem.at.gather(problem.residual.data(), f);
  problem.add_moved_charge(t, f);
  const ReducedMatrices& m = problem.matrices;
  for (std::size_t k = 0; k < m.farads.size(); ++k) f[m.rows[k]] += m.farads[k] * rate[m.columns[k]];
  for (int i = 0; i < problem.at.columns(); ++i) {
    if (!std::isfinite(f[i])) return 1;  // a junction far out: a shorter step
  }
  return 0;
}

int jacobian_of(realtype t, realtype rate, N_Vector z, N_Vector /*slope*/, N_Vector /*residual*/, SUNMatrix out,
                void* data, N_Vector /*a*/, N_Vector /*b*/, N_Vector /*c*/) {
  auto& problem = *static_cast<Problem*>(data);
  const ReducedMatrices& m = problem.matrices;
  problem.set_time(t);
  problem.evaluate(N_VGetArrayPointer(z));
  std::copy(m.column_begin.begin(), m.column_begin.end(), SUNSparseMatrix_IndexPointers(out));
  std::copy(m.rows.begin(), m.rows.end(), SUNSparseMatrix_IndexValues(out));
  double* entries = SUNSparseMatrix_Data(out);
  for (std::size_t k = 0; k < m.farads.size(); ++k) entries[k] = rate * m.farads[k];
  for (const ReducedMatrices::Part& part : m.all) entries[part.entry] += part.weight * problem.jacobian[part.from];
  return 0;
}

void require(bool made, const char* what) {
  if (!made) throw NumericalFailure(fmt::format("the transient cannot be set up: {}", what));
}

[[noreturn]] void no_start() {
  throw NumericalFailure(
      "no consistent start: capacitors hang on each other alone, or nothing loads a node without one (give every node "
      "a "
      "capacitance to ground: --capacitance)");
}

/// What IDA says of an error is said by what is thrown.
void silent(int /*code*/, const char* /*module*/, const char* /*function*/, char* /*message*/, void* /*data*/) {}

std::vector<double> operating_point(const NodalEquations& equations, const std::vector<double>& values) {
  OperatingPointSolver solver(equations);
  std::vector<double> x(static_cast<std::size_t>(equations.unknowns()), 0.0);
  const OperatingPoint found = solver.solve(values, {}, x);
  if (found.status != Status::converged) throw NumericalFailure(describe_failure(equations, found));
  x.resize(static_cast<std::size_t>(equations.nodes()));
  return x;
}

/// The time after which every node stays within the band.
void find_end(StepResponse& out, double band) {
  double largest = 0;
  for (std::size_t i = 0; i < out.end_V.size(); ++i) {
    for (const auto& v : out.volts) largest = std::max(largest, std::abs(v[i] - out.end_V[i]));
  }
  const double limit = band * largest;
  std::size_t last = out.volts.size();
  const auto within = [&](const std::vector<double>& v) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (std::abs(v[i] - out.end_V[i]) > limit) return false;
    }
    return true;
  };
  while (last > 0 && within(out.volts[last - 1])) --last;
  if (last == out.volts.size()) {
    out.settled_s = out.time_s.back();
    if (out.status == Status::converged) out.status = Status::max_steps;
    return;
  }
  out.settled_s = out.time_s[last];
}

class Integrator {
 public:
  Integrator(Problem& problem, const StepResponseOptions& options) : problem_(&problem), options_(options) {
    require(SUNContext_Create(nullptr, &context_) == 0, "no context");
    const sunindextype n = problem.at.columns();
    for (N_Vector* v : {&z_, &rate_, &kind_}) *v = N_VNew_Serial(n, context_);
    matrix_ = SUNSparseMatrix(n, n, static_cast<sunindextype>(problem.matrices.rows.size()), CSC_MAT, context_);
    solver_ = SUNLinSol_KLU(z_, matrix_, context_);
    memory_ = IDACreate(context_);
    for (N_Vector v : {z_, rate_, kind_}) N_VConst(0, v);
    const ReducedMatrices& m = problem.matrices;
    for (std::size_t k = 0; k < m.farads.size(); ++k) {
      if (m.rows[k] == m.columns[k] && m.farads[k] > 0) N_VGetArrayPointer(kind_)[m.rows[k]] = 1;
    }
    IDASetErrHandlerFn(memory_, silent, nullptr);
    require(IDAInit(memory_, residual_of, 0, z_, rate_) == IDA_SUCCESS, "no integrator");
    IDASStolerances(memory_, options.relative_error, options.absolute_error_V);
    IDASetUserData(memory_, problem_);
    IDASetId(memory_, kind_);
    IDASetSuppressAlg(memory_, SUNTRUE);
    require(IDASetLinearSolver(memory_, solver_, matrix_) == IDALS_SUCCESS, "no linear solver");
    require(IDASetJacFn(memory_, jacobian_of) == IDALS_SUCCESS, "no Jacobian");
  }
  ~Integrator() {
    IDAFree(&memory_);
    SUNLinSolFree(solver_);
    SUNMatDestroy(matrix_);
    for (N_Vector v : {z_, rate_, kind_}) N_VDestroy(v);
    SUNContext_Free(&context_);
  }
  Integrator(const Integrator&) = delete;
  Integrator& operator=(const Integrator&) = delete;

  bool charges() const { return N_VMaxNorm(kind_) > 0; }

  /// The sources come on: what has a capacitance jumps to where all charges are 0, Nᵀ C (P z + Q e) = 0.
  bool jump() {
    const ReducedMatrices& m = problem_->matrices;
    const double* has = N_VGetArrayPointer(kind_);
    std::vector<double> values = m.farads, charge;
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (has[m.rows[k]] == 0 || has[m.columns[k]] == 0) values[k] = m.rows[k] == m.columns[k] ? 1 : 0;
    }
    double* z = N_VGetArrayPointer(z_);
    problem_->voltages(z);
    problem_->x.resize(static_cast<std::size_t>(problem_->equations->nodes()));
    m.charge(problem_->at, problem_->x, charge);
    problem_->x.resize(static_cast<std::size_t>(problem_->equations->unknowns()), 0.0);
    SparseLu lu({problem_->at.columns(), m.column_begin, m.rows});
    if (!lu.factor(values)) return false;
    lu.solve(charge.data());
    for (int i = 0; i < problem_->at.columns(); ++i) z[i] = has[i] == 0 ? 0 : -charge[static_cast<std::size_t>(i)];
    return true;
  }

  /// From a state of charges, z of `volts`.
  void start_at(const std::vector<double>& volts) { problem_->at.state(volts, N_VGetArrayPointer(z_)); }

  /// On to a time behind `begin`, between which nothing jumps.
  void run(double begin, double end, StepResponse& out) {
    problem_->begin = begin;
    problem_->end = end;
    if (IDAReInit(memory_, begin, z_, rate_) != IDA_SUCCESS || IDASetStopTime(memory_, end) != IDA_SUCCESS ||
        IDACalcIC(memory_, IDA_YA_YDP_INIT, begin + kFirst * (end - begin)) < 0) {
      no_start();
    }
    IDAGetConsistentIC(memory_, z_, rate_);
    problem_->set_time(begin);
    if (out.time_s.empty()) keep(begin, out);
    while (out.time_s.back() < end && out.time_s.size() < kMostSteps) {
      double t = 0;
      if (IDASolve(memory_, end, &t, z_, rate_, IDA_ONE_STEP) < 0) {
        out.status = Status::stalled;
        break;
      }
      problem_->set_time(t);
      keep(t, out);
    }
    if (out.time_s.back() < end) out.status = Status::stalled;
    long jacobians = 0;
    IDAGetNumJacEvals(memory_, &jacobians);
    out.jacobians += static_cast<int>(jacobians);
  }

 private:
  void keep(double t, StepResponse& out) {
    const double* v = problem_->voltages(N_VGetArrayPointer(z_));
    out.time_s.push_back(t);
    out.volts.emplace_back(v, v + problem_->equations->nodes());
  }

  Problem* problem_;
  StepResponseOptions options_;
  SUNContext context_ = nullptr;
  N_Vector z_ = nullptr, rate_ = nullptr, kind_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver solver_ = nullptr;
  void* memory_ = nullptr;
};

}  // namespace

namespace {

void require_charges(const Integrator& integrator) {
  if (integrator.charges()) return;
  throw UserError("nothing of the netlist has a capacitance that could charge (give every node one: --capacitance)");
}

/// Times at which the slope of a waveform jumps, and the end.
std::vector<double> stretches(const Netlist& netlist, const std::vector<std::size_t>& waves, double stop) {
  std::vector<double> ends;
  for (const std::size_t k : waves) {
    const Element& e = netlist.elements[k];
    if (const std::string missing = e.wave.missing(); !missing.empty()) {
      throw UserError(fmt::format("{}: {}: {} must be there, and above 0 where it is a time or a frequency",
                                  to_string(e.place), e.name, missing));
    }
    if (!e.wave.breaks(stop, kMostJumps, ends)) {
      throw UserError(
          fmt::format("{}: {} jumps more than {} times in {:g} s", to_string(e.place), e.name, kMostJumps, stop));
    }
  }
  ends.push_back(stop);
  std::sort(ends.begin(), ends.end());
  const auto near = [stop](double a, double b) { return b - a < 1e-12 * stop; };
  ends.erase(std::unique(ends.begin(), ends.end(), near), ends.end());
  return ends;
}

}  // namespace

StepResponse step_response(const NodalEquations& equations, const StepResponseOptions& options) {
  Problem problem(equations, options.node_capacitance_F);
  StepResponse out;
  out.end_V = operating_point(equations, problem.values);
  Integrator integrator(problem, options);
  require_charges(integrator);
  if (!integrator.jump()) no_start();
  integrator.run(0, options.stop_s, out);
  find_end(out, options.band);
  return out;
}

StepResponse waveform_response(const NodalEquations& equations, const StepResponseOptions& options) {
  Problem problem(equations, options.node_capacitance_F);
  const std::vector<Element>& elements = equations.netlist().elements;
  for (std::size_t k = 0; k < elements.size(); ++k) {
    if (elements[k].wave.kind != Waveform::Kind::none) problem.waves.push_back(k);
  }
  const std::vector<double> ends = stretches(equations.netlist(), problem.waves, options.stop_s);
  problem.set_time(0);
  StepResponse out;
  Integrator integrator(problem, options);
  require_charges(integrator);
  integrator.start_at(operating_point(equations, problem.values));
  double begin = 0;
  for (const double end : ends) {
    integrator.run(begin, end, out);
    if (out.status == Status::stalled) break;
    begin = end;
  }
  out.end_V = out.volts.back();
  return out;
}

}  // namespace nudge
