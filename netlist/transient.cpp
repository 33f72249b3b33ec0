// SPDX-License-Identifier: Apache-2.0
#include "netlist/transient.hpp"

#include <fmt/format.h>
#include <ida/ida.h>
#include <nvector/nvector_serial.h>
#include <sunlinsol/sunlinsol_klu.h>
#include <sunmatrix/sunmatrix_sparse.h>

#include <algorithm>
#include <cmath>

#include "netlist/transient_problem.hpp"
#include "sim/base/out_of_memory.hpp"

namespace nudge {
namespace {

/// Limit on the steps of a run: a circuit that takes more rings on and on.
constexpr int kMostSteps = 200000;
/// First time at which a consistent start is asked for, as a share of the whole.
constexpr double kFirst = 1e-9;
/// Share of a stretch that steps stay below where something jumps: as many steps as are allowed are 2e-4 of it then.
constexpr double kStuck = 1e-9;
/// Number of moments given of a stretch without a jump where nodes follow sources and nothing is integrated: a choice, for drawing.
constexpr int kShown = 100;
/// Limit on the switchings of a stretch: a switch that opens itself at once as often as it closes never comes to rest.
constexpr int kMostSwitchings = 100000;
/// Limit on the new starts of a stretch after steps that failed.
constexpr int kMostRestarts = 100;

void require_made(bool made, const char* what) {
  if (!made) throw NumericalFailure(fmt::format("the transient cannot be set up: {}", what));
}

/// Communicator for IDA. Its messages of errors are not printed; return values tell them.
#if SUNDIALS_VERSION_MAJOR >= 7
const SUNComm alone = SUN_COMM_NULL;
void silence(SUNContext context, void* /*memory*/) { SUNContext_ClearErrHandlers(context); }
#else
constexpr std::nullptr_t alone = nullptr;
void say_nothing(int /*code*/, const char* /*module*/, const char* /*function*/, char* /*message*/, void* /*data*/) {}
void silence(SUNContext /*context*/, void* memory) { IDASetErrHandlerFn(memory, say_nothing, nullptr); }
#endif

}  // namespace

class Transient::Integrator {
 public:
  Integrator(Problem& problem, double relative_error, double absolute_error_V) : problem_(&problem) {
    require_made(SUNContext_Create(alone, &context_) == 0, "no context");
    const sunindextype n = problem.at->columns();
    if (n == 0) return;  // sources set every node
    const auto made = [n](auto* one, const char* what) {
      return made_by("SUNDIALS", one, fmt::format("{} of {} nodes", what, n));
    };
    for (N_Vector* v : {&z_, &rate_, &kind_}) *v = made(N_VNew_Serial(n, context_), "a vector");
    matrix_ =
        made(SUNSparseMatrix(n, n, static_cast<sunindextype>(problem.matrices->pattern.entries()), CSC_MAT, context_),
             "the matrix");
    solver_ = made(SUNLinSol_KLU(z_, matrix_, context_), "the linear solver");
    memory_ = made(IDACreate(context_), "the integrator");
    for (N_Vector v : {z_, rate_, kind_}) N_VConst(0, v);
    silence(context_, memory_);
    require_made(IDAInit(memory_, residual_of, 0, z_, rate_) == IDA_SUCCESS, "no integrator");
    const bool set = IDASStolerances(memory_, relative_error, absolute_error_V) == IDA_SUCCESS &&
                     IDASetUserData(memory_, problem_) == IDA_SUCCESS &&
                     IDASetSuppressAlg(memory_, SUNTRUE) == IDA_SUCCESS;
    require_made(set, "no tolerances");
    require_made(IDASetLinearSolver(memory_, solver_, matrix_) == IDALS_SUCCESS, "no linear solver");
    require_made(IDASetJacFn(memory_, jacobian_of) == IDALS_SUCCESS, "no Jacobian");
    if (const auto switches = static_cast<int>(problem.switches.size()); switches > 0) {
      const bool roots = IDARootInit(memory_, switches, switchings_of) == IDA_SUCCESS &&
                         IDASetNoInactiveRootWarn(memory_) == IDA_SUCCESS;
      require_made(roots, "no switches");
    }
    find_kinds();
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

  /// Finds the columns that have a capacitance and are not held.
  void find_kinds() {
    if (empty()) return;
    N_VConst(0, kind_);
    const ReducedMatrices& m = *problem_->matrices;
    for (std::size_t k = 0; k < m.farads.size(); ++k) {
      const int column = m.columns[k];
      if (m.pattern.row[k] == column && m.farads[k] > 0 && !problem_->held(column))
        N_VGetArrayPointer(kind_)[column] = 1;
    }
    require_made(IDASetId(memory_, kind_) == IDA_SUCCESS, "no kinds of unknowns");
  }
  bool charges() const { return empty() || N_VMaxNorm(kind_) > 0; }

  /// Computes the start of columns with capacitance: M z = charges before − those of sources, of held columns and of columns
  /// without capacitance.
  bool start(const std::vector<double>& before) {
    if (empty()) return true;
    start_at(before);
    if (problem_->own) find_kinds();
    const ReducedMatrices& m = *problem_->matrices;
    const double* has = N_VGetArrayPointer(kind_);
    double* z = N_VGetArrayPointer(z_);
    std::vector<double> values = m.farads, charge, other;
    for (std::size_t k = 0; k < values.size(); ++k) {
      const int row = m.pattern.row[k], column = m.columns[k];
      if (has[row] == 0 || has[column] == 0) values[k] = row == column ? 1 : 0;
    }
    for (int i = 0; i < problem_->at->columns(); ++i) {
      if (problem_->held(i)) z[i] = problem_->actions[static_cast<std::size_t>(i - problem_->at->inner())].value;
      if (has[i] != 0) z[i] = 0;
    }
    const double* x = problem_->voltages(z);
    m.charge(*problem_->at, before, charge);
    m.charge(*problem_->at, {x, x + problem_->equations->nodes()}, other);
    for (std::size_t i = 0; i < charge.size(); ++i) charge[i] -= other[i];
    SparseLu lu(m.pattern);
    if (!lu.factor(values)) return false;
    lu.solve(charge.data());
    for (int i = 0; i < problem_->at->columns(); ++i) {
      if (has[i] != 0) z[i] = charge[static_cast<std::size_t>(i)];
    }
    return true;
  }

  void start_at(const std::vector<double>& volts) {
    if (empty()) return;
    problem_->at->state(volts, N_VGetArrayPointer(z_));
    problem_->rest();
    problem_->follow(volts.data());
    N_VConst(0, rate_);
    // Pivots are chosen anew: nothing of an earlier run is left.
    const auto entries = static_cast<sunindextype>(problem_->matrices->pattern.entries());
    require_made(SUNLinSol_KLUReInit(solver_, matrix_, entries, SUNKLU_REINIT_PARTIAL) == 0, "no new pivots");
    jacobians_ = 0;
    begun_ = false;
  }

  TransientEnd run(double begin, double end, const Keep& keep) {
    problem_->begin = begin;
    problem_->end = end;
    if (empty()) {
      for (int k = 0; k <= kShown; ++k) give(begin + (end - begin) * k / kShown, keep);
      return TransientEnd::reached;
    }
    reached_ = begin;
    double stuck =
        begin;  // where a step failed: the integrator starts anew there, from the algebraic columns of find_start()
    for (int switchings = 0, restarts = 0; switchings < kMostSwitchings; ++switchings) {
      const TransientEnd found = run_on(reached_, end, keep);
      const bool again = found == TransientEnd::stopped && failed_ && reached_ > stuck && ++restarts < kMostRestarts;
      if (again) stuck = reached_;
      if (!again && (found != TransientEnd::reached || reached_ >= end)) return found;
    }
    return TransientEnd::stopped;
  }

  const double* state() const { return empty() ? nullptr : N_VGetArrayPointer(z_); }
  int jacobians() const { return jacobians_; }
  int jumping() const { return jumping_; }

 private:
  /// Runs to the end, or to where a switch has switched.
  TransientEnd run_on(double begin, double end, const Keep& keep) {
    const auto columns = problem_->at->columns();
    const double *z = N_VGetArrayPointer(z_), *rate = N_VGetArrayPointer(rate_);
    const std::vector<double> from(z, z + columns), moving(rate, rate + columns);
    int steps = 0;
    TransientEnd found = run(begin, end, 0, keep, steps);
    if (found == TransientEnd::stopped && steps == 0) {  // IDA's own first step failed its test ten times over
      std::copy(from.begin(), from.end(), N_VGetArrayPointer(z_));
      std::copy(moving.begin(), moving.end(), N_VGetArrayPointer(rate_));
      found = run(begin, end, kFirst * (end - begin), keep, steps);
    }
    return found;
  }

  /// Node, of those without a capacitance if there are any, that IDA's last correction moved most, in units of the error allowed.
  int find_jumping() {
    const auto columns = static_cast<std::size_t>(problem_->at->columns());
    std::vector<double> step(columns, 0.0), moved(static_cast<std::size_t>(problem_->equations->nodes()));
    N_Vector corrections = N_VClone(z_), weights = N_VClone(z_);
    const bool known = corrections != nullptr && weights != nullptr &&
                       IDAGetEstLocalErrors(memory_, corrections) == IDA_SUCCESS &&
                       IDAGetErrWeights(memory_, weights) == IDA_SUCCESS;
    std::size_t worst = 0;
    double most = -1;
    for (std::size_t i = 0; known && i < columns; ++i) {
      const double size = std::abs(N_VGetArrayPointer(corrections)[i] * N_VGetArrayPointer(weights)[i]);
      const bool free = N_VMaxNorm(kind_) == 0 || N_VMin(kind_) > 0 || N_VGetArrayPointer(kind_)[i] == 0;
      if (free && size > most) {
        most = size;
        worst = i;
      }
    }
    for (N_Vector v : {corrections, weights}) {
      if (v != nullptr) N_VDestroy(v);
    }
    if (most < 0) return -1;
    step[worst] = 1;
    problem_->at->displaced(step.data(), moved.data());
    const auto farther = [](double a, double b) { return std::abs(a) < std::abs(b); };
    return static_cast<int>(std::max_element(moved.begin(), moved.end(), farther) - moved.begin());
  }

  bool empty() const { return z_ == nullptr; }

  /// Runs with a first step of this length; 0: IDA's own.
  TransientEnd run(double begin, double end, double first, const Keep& keep, int& steps) {
    if (!find_start(begin, end, first)) return TransientEnd::no_start;
    if (!begun_) give(begin, keep);
    begun_ = true;
    double t = begin;
    int how = 0;
    for (steps = 0; t < end && steps < kMostSteps && how != IDA_ROOT_RETURN; ++steps) {
      how = IDASolve(memory_, end, &t, z_, rate_, IDA_ONE_STEP);
      if (how < 0) break;
      give(t, keep);
    }
    reached_ = t;
    failed_ = how < 0;
    if (how == IDA_ROOT_RETURN) turn_switches();
    double last = 0;
    IDAGetLastStep(memory_, &last);
    const bool stopped = t < end && how != IDA_ROOT_RETURN;
    if (stopped && (steps < kMostSteps || last < kStuck * (end - begin))) jumping_ = find_jumping();
    long jacobians = 0;
    IDAGetNumJacEvals(memory_, &jacobians);
    jacobians_ += static_cast<int>(jacobians);
    return stopped ? TransientEnd::stopped : TransientEnd::reached;
  }

  /// Finds the state at `begin`: columns without a capacitance, the rates of the others, and switches that turn at once.
  bool find_start(double begin, double end, double first) {
    if (problem_->own) {
      problem_->set_time(begin);
      problem_->evaluate(N_VGetArrayPointer(z_));
      find_kinds();
    }
    if (problem_->switches.size() > 0) watch_closely();
    for (std::size_t turns = 0; turns <= 2 * problem_->switches.size() + 1; ++turns) {
      const double beside = std::min(std::max(kFirst * (end - begin), 1e-13 * std::abs(end)), end - begin);
      const auto consistent = [&] {
        return IDAReInit(memory_, begin, z_, rate_) == IDA_SUCCESS && IDASetStopTime(memory_, end) == IDA_SUCCESS &&
               IDASetInitStep(memory_, first) == IDA_SUCCESS &&
               IDACalcIC(memory_, IDA_YA_YDP_INIT, begin + beside) >= 0;
      };
      if (!consistent() && !(find_algebraic(begin) && consistent())) return false;
      IDAGetConsistentIC(memory_, z_, rate_);
      problem_->set_time(begin);
      if (problem_->follow_once(problem_->voltages(state()))) continue;
      problem_->switches.rest();
      std::vector<int> directions;
      for (std::size_t k = 0; k < problem_->switches.size(); ++k)
        directions.push_back(problem_->switches.closed(k) ? -1 : 1);
      return directions.empty() || IDASetRootDirection(memory_, directions.data()) == IDA_SUCCESS;
    }
    return false;
  }

  /// Keeps steps so short that no switch turns twice within one.
  void watch_closely() {
    constexpr double kSwitchedSteps = 20;  // least number of steps of a stretch, and of a period of a sine
    double longest = (problem_->end - problem_->begin) / kSwitchedSteps;
    for (const std::size_t k : problem_->waves) {
      const Waveform& wave = problem_->equations->netlist().elements[k].wave;
      if (wave.kind == Waveform::Kind::sine && wave.numbers.size() > 2 && wave.numbers[2] > 0)
        longest = std::min(longest, 1 / (kSwitchedSteps * wave.numbers[2]));
    }
    IDASetMaxStep(memory_, longest);
    IDASetSuppressAlg(memory_, SUNFALSE);
  }

  /// Finds the columns without a capacitance by Newton's method with limited junctions, as a start. False where that is no help.
  bool find_algebraic(double begin) {
    if (!problem_->actions.empty()) return false;
    problem_->set_time(begin);
    const auto columns = static_cast<std::size_t>(problem_->at->columns());
    double* z = N_VGetArrayPointer(z_);
    const double* x = problem_->voltages(z);
    std::vector<double> volts(x, x + problem_->equations->nodes()), found(columns);
    if (!problem_->algebraic_start().solve(problem_->values, volts)) return false;
    problem_->at->state(volts, found.data());
    for (std::size_t i = 0; i < columns; ++i) {
      if (N_VGetArrayPointer(kind_)[i] == 0) z[i] = found[i];
    }
    return true;
  }

  /// Turns the switches whose thresholds the last step has met.
  void turn_switches() {
    std::vector<int> met(problem_->switches.size());
    IDAGetRootInfo(memory_, met.data());
    for (std::size_t k = 0; k < met.size(); ++k) {
      if (met[k] != 0) problem_->switches.turn(k);
    }
    problem_->switches.set(problem_->values);
  }

  static int switchings_of(sunrealtype t, N_Vector z, N_Vector /*slope*/, sunrealtype* out, void* data) {
    auto& problem = *static_cast<Problem*>(data);
    problem.set_time(t);
    const double* v = problem.voltages(N_VGetArrayPointer(z));
    for (std::size_t k = 0; k < problem.switches.size(); ++k) out[k] = problem.switches.beyond(k, v);
    return 0;
  }

  void give(double t, const Keep& keep) {
    if (!keep) return;
    problem_->set_time(t);
    keep(t, problem_->voltages(state()));
  }

  static int residual_of(sunrealtype t, N_Vector z, N_Vector slope, N_Vector out, void* data) {
    auto& problem = *static_cast<Problem*>(data);
    double* f = N_VGetArrayPointer(out);
    const double* rate = N_VGetArrayPointer(slope);
    const int columns = problem.at->columns();
    problem.set_time(t);
    problem.evaluate(N_VGetArrayPointer(z));
    std::fill(f, f + columns, 0.0);
    problem.at->gather(problem.residual.data(), f);
    problem.add_moved_charge(t, f);
    const ReducedMatrices& m = *problem.matrices;
    for (std::size_t k = 0; k < m.farads.size(); ++k) f[m.pattern.row[k]] += m.farads[k] * rate[m.columns[k]];
    problem.add_actions(N_VGetArrayPointer(z), f);
    for (int i = 0; i < columns; ++i) {
      if (!std::isfinite(f[i])) return 1;  // a junction far out: a shorter step
    }
    return 0;
  }

  static int jacobian_of(sunrealtype t, sunrealtype rate, N_Vector z, N_Vector /*slope*/, N_Vector /*residual*/,
                         SUNMatrix out, void* data, N_Vector /*a*/, N_Vector /*b*/, N_Vector /*c*/) {
    auto& problem = *static_cast<Problem*>(data);
    const ReducedMatrices& m = *problem.matrices;
    problem.set_time(t);
    problem.evaluate(N_VGetArrayPointer(z));
    std::copy(m.pattern.column_begin.begin(), m.pattern.column_begin.end(), SUNSparseMatrix_IndexPointers(out));
    std::copy(m.pattern.row.begin(), m.pattern.row.end(), SUNSparseMatrix_IndexValues(out));
    double* entries = SUNSparseMatrix_Data(out);
    for (std::size_t k = 0; k < m.farads.size(); ++k) entries[k] = rate * m.farads[k];
    for (const ReducedMatrices::Part& part : m.slopes) entries[part.entry] += part.weight * problem.jacobian[part.from];
    for (std::size_t k = 0; k < m.farads.size() && !problem.actions.empty(); ++k) {
      const int row = m.pattern.row[k];
      const bool own = row == m.columns[k];
      if (problem.held(row)) entries[k] = own ? 1 : 0;
      const int action = row - problem.at->inner();
      if (own && action >= 0 && !problem.held(row))
        entries[k] += problem.actions[static_cast<std::size_t>(action)].load_S;
    }
    return 0;
  }

  Problem* problem_;
  SUNContext context_ = nullptr;
  N_Vector z_ = nullptr, rate_ = nullptr, kind_ = nullptr;
  SUNMatrix matrix_ = nullptr;
  SUNLinearSolver solver_ = nullptr;
  void* memory_ = nullptr;
  int jacobians_ = 0;
  int jumping_ = -1;
  double reached_ = 0;
  bool failed_ = false;
  bool begun_ = false;
};

Transient::Transient(const NodalEquations& equations, const NodeCoordinates& at, const ReducedMatrices& matrices,
                     double relative_error, double absolute_error_V)
    : problem_(std::make_unique<Problem>(equations, at, matrices)),
      integrator_(std::make_unique<Integrator>(*problem_, relative_error, absolute_error_V)) {}

Transient::~Transient() = default;

std::vector<double>& Transient::values() { return problem_->values; }
void Transient::follow(std::vector<std::size_t> waves) {
  problem_->waves = std::move(waves);
  problem_->set_time(0);
}
void Transient::act(std::vector<OutputAction> actions) {
  problem_->actions = std::move(actions);
  integrator_->find_kinds();
}
bool Transient::charges() const { return integrator_->charges(); }
bool Transient::start(const std::vector<double>& before) { return integrator_->start(before); }
void Transient::start_at(const std::vector<double>& volts) { integrator_->start_at(volts); }
TransientEnd Transient::run(double begin, double end, const Keep& keep) { return integrator_->run(begin, end, keep); }
const double* Transient::state() const { return integrator_->state(); }
int Transient::jumping() const { return integrator_->jumping(); }
int Transient::jacobians() const { return integrator_->jacobians(); }

}  // namespace nudge
