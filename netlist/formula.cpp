// SPDX-License-Identifier: Apache-2.0
#include "netlist/formula.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace nudge {
namespace {

double sign_of(double x) { return x > 0 ? 1 : (x < 0 ? -1 : 0); }
void flat(const double* /*x*/, double /*value*/, double* d) { d[0] = 0; }
void flat_pair(const double* /*x*/, double /*value*/, double* d) { d[0] = d[1] = 0; }

/// Slopes of |x|^y times `sign`, a value whose derivative by x is `by_base`.
void power_slopes(const double* x, double value, double by_base, double* d) {
  d[0] = by_base;
  d[1] = x[0] == 0 ? 0 : value * std::log(std::abs(x[0]));
}

constexpr FormulaFunction kPower = {
    "pow", 2, [](const double* x) { return std::pow(x[0], x[1]); },
    [](const double* x, double value, double* d) { power_slopes(x, value, x[1] * std::pow(x[0], x[1] - 1), d); }};
/// |x|^y: pow(), ^ and ** of B sources.
constexpr FormulaFunction kPowerOfMagnitude = {
    "pow", 2, [](const double* x) { return std::pow(std::abs(x[0]), x[1]); },
    [](const double* x, double value, double* d) {
      power_slopes(x, value, x[1] == 0 ? 0 : sign_of(x[0]) * x[1] * std::pow(std::abs(x[0]), x[1] - 1), d);
    }};
constexpr FormulaFunction kMagnitudePower = {"pwr", 2, kPowerOfMagnitude.value, kPowerOfMagnitude.slopes};
/// sgn(x) |x|^y: pwr() of B sources.
constexpr FormulaFunction kSignedPower = {
    "pwr", 2, [](const double* x) { return sign_of(x[0]) * std::pow(std::abs(x[0]), x[1]); },
    [](const double* x, double value, double* d) {
      power_slopes(x, value, x[1] == 0 ? 0 : x[1] * std::pow(std::abs(x[0]), x[1] - 1), d);
    }};

constexpr std::array<FormulaFunction, 29> kFunctions = {{
    {"abs", 1, [](const double* x) { return std::abs(x[0]); },
     [](const double* x, double, double* d) { d[0] = sign_of(x[0]); }},
    {"sqrt", 1, [](const double* x) { return std::sqrt(x[0]); },
     [](const double*, double y, double* d) { d[0] = 0.5 / y; }},
    {"exp", 1, [](const double* x) { return std::exp(x[0]); }, [](const double*, double y, double* d) { d[0] = y; }},
    {"ln", 1, [](const double* x) { return std::log(x[0]); },
     [](const double* x, double, double* d) { d[0] = 1 / x[0]; }},
    {"log", 1, [](const double* x) { return std::log(x[0]); },
     [](const double* x, double, double* d) { d[0] = 1 / x[0]; }},
    {"log10", 1, [](const double* x) { return std::log10(x[0]); },
     [](const double* x, double, double* d) { d[0] = 1 / (x[0] * std::log(10.0)); }},
    {"min", 2, [](const double* x) { return std::min(x[0], x[1]); },
     [](const double* x, double, double* d) {
       d[0] = x[1] < x[0] ? 0 : 1;
       d[1] = 1 - d[0];
     }},
    {"max", 2, [](const double* x) { return std::max(x[0], x[1]); },
     [](const double* x, double, double* d) {
       d[0] = x[1] > x[0] ? 0 : 1;
       d[1] = 1 - d[0];
     }},
    {"sin", 1, [](const double* x) { return std::sin(x[0]); },
     [](const double* x, double, double* d) { d[0] = std::cos(x[0]); }},
    {"cos", 1, [](const double* x) { return std::cos(x[0]); },
     [](const double* x, double, double* d) { d[0] = -std::sin(x[0]); }},
    {"tan", 1, [](const double* x) { return std::tan(x[0]); },
     [](const double*, double y, double* d) { d[0] = 1 + y * y; }},
    {"asin", 1, [](const double* x) { return std::asin(x[0]); },
     [](const double* x, double, double* d) { d[0] = 1 / std::sqrt(1 - x[0] * x[0]); }},
    {"acos", 1, [](const double* x) { return std::acos(x[0]); },
     [](const double* x, double, double* d) { d[0] = -1 / std::sqrt(1 - x[0] * x[0]); }},
    {"atan", 1, [](const double* x) { return std::atan(x[0]); },
     [](const double* x, double, double* d) { d[0] = 1 / (1 + x[0] * x[0]); }},
    {"atan2", 2, [](const double* x) { return std::atan2(x[0], x[1]); },
     [](const double* x, double, double* d) {
       const double square = x[0] * x[0] + x[1] * x[1];
       d[0] = x[1] / square;
       d[1] = -x[0] / square;
     }},
    {"sinh", 1, [](const double* x) { return std::sinh(x[0]); },
     [](const double* x, double, double* d) { d[0] = std::cosh(x[0]); }},
    {"cosh", 1, [](const double* x) { return std::cosh(x[0]); },
     [](const double* x, double, double* d) { d[0] = std::sinh(x[0]); }},
    {"tanh", 1, [](const double* x) { return std::tanh(x[0]); },
     [](const double*, double y, double* d) { d[0] = 1 - y * y; }},
    {"asinh", 1, [](const double* x) { return std::asinh(x[0]); },
     [](const double* x, double, double* d) { d[0] = 1 / std::sqrt(x[0] * x[0] + 1); }},
    {"acosh", 1, [](const double* x) { return std::acosh(x[0]); },
     [](const double* x, double, double* d) { d[0] = 1 / std::sqrt(x[0] * x[0] - 1); }},
    {"atanh", 1, [](const double* x) { return std::atanh(x[0]); },
     [](const double* x, double, double* d) { d[0] = 1 / (1 - x[0] * x[0]); }},
    {"floor", 1, [](const double* x) { return std::floor(x[0]); }, flat},
    {"ceil", 1, [](const double* x) { return std::ceil(x[0]); }, flat},
    {"int", 1, [](const double* x) { return std::trunc(x[0]); }, flat},
    {"nint", 1, [](const double* x) { return std::nearbyint(x[0]); }, flat},  // halves to even numbers, as ngspice
    {"sgn", 1, [](const double* x) { return sign_of(x[0]); }, flat},
    {"ternary_fcn", 3, [](const double* x) { return x[0] != 0 ? x[1] : x[2]; },
     [](const double* x, double, double* d) {
       d[0] = 0;
       d[1] = x[0] != 0 ? 1 : 0;
       d[2] = 1 - d[1];
     }},
    {"neg", 1, [](const double* x) { return -x[0]; }, [](const double*, double, double* d) { d[0] = -1; }},
    {"not", 1, [](const double* x) { return x[0] == 0 ? 1.0 : 0.0; }, flat},
}};

/// Functions of B sources alone: steps and ramps (ngspice manual, "B source"), straight lines, and PSpice's limit(x, low, high), if and table.
constexpr std::array<FormulaFunction, 13> kCircuitFunctions = {{
    {"u", 1, [](const double* x) { return 0.5 + 0.5 * sign_of(x[0]); }, flat},
    {"uramp", 1, [](const double* x) { return std::max(x[0], 0.0); },
     [](const double* x, double, double* d) { d[0] = x[0] > 0 ? 1 : 0; }},
    {"u2", 1, [](const double* x) { return std::clamp(x[0], 0.0, 1.0); },
     [](const double* x, double, double* d) { d[0] = x[0] > 0 && x[0] < 1 ? 1 : 0; }},
    {"eq0", 1, [](const double* x) { return x[0] == 0 ? 1.0 : 0.0; }, flat},
    {"ne0", 1, [](const double* x) { return x[0] != 0 ? 1.0 : 0.0; }, flat},
    {"gt0", 1, [](const double* x) { return x[0] > 0 ? 1.0 : 0.0; }, flat},
    {"lt0", 1, [](const double* x) { return x[0] < 0 ? 1.0 : 0.0; }, flat},
    {"ge0", 1, [](const double* x) { return x[0] >= 0 ? 1.0 : 0.0; }, flat},
    {"le0", 1, [](const double* x) { return x[0] <= 0 ? 1.0 : 0.0; }, flat},
    {"limit", 3, [](const double* x) { return std::max(std::min(x[1], x[2]), std::min(std::max(x[1], x[2]), x[0])); },
     [](const double* x, double, double* d) {
       const std::size_t low = x[1] <= x[2] ? 1 : 2, high = 3 - low;
       d[0] = d[1] = d[2] = 0;
       d[x[0] < x[low] ? low : x[0] > x[high] ? high : 0] = 1;
     }},
    {"if", 3, kFunctions[26].value, kFunctions[26].slopes},
    {"pwl", -1, nullptr, nullptr},
    {"table", -1, nullptr, nullptr},
}};

constexpr FormulaFunction kOperators[] = {
    {"||", 2, [](const double* x) { return x[0] != 0 || x[1] != 0 ? 1.0 : 0.0; }, flat_pair},
    {"&&", 2, [](const double* x) { return x[0] != 0 && x[1] != 0 ? 1.0 : 0.0; }, flat_pair},
    {"<=", 2, [](const double* x) { return x[0] <= x[1] ? 1.0 : 0.0; }, flat_pair},
    {">=", 2, [](const double* x) { return x[0] >= x[1] ? 1.0 : 0.0; }, flat_pair},
    {"==", 2, [](const double* x) { return x[0] == x[1] ? 1.0 : 0.0; }, flat_pair},
    {"!=", 2, [](const double* x) { return x[0] != x[1] ? 1.0 : 0.0; }, flat_pair},
    {"<", 2, [](const double* x) { return x[0] < x[1] ? 1.0 : 0.0; }, flat_pair},
    {">", 2, [](const double* x) { return x[0] > x[1] ? 1.0 : 0.0; }, flat_pair},
    {"+", 2, [](const double* x) { return x[0] + x[1]; }, [](const double*, double, double* d) { d[0] = d[1] = 1; }},
    {"-", 2, [](const double* x) { return x[0] - x[1]; },
     [](const double*, double, double* d) {
       d[0] = 1;
       d[1] = -1;
     }},
    {"*", 2, [](const double* x) { return x[0] * x[1]; },
     [](const double* x, double, double* d) {
       d[0] = x[1];
       d[1] = x[0];
     }},
    {"/", 2, [](const double* x) { return x[0] / x[1]; },
     [](const double* x, double y, double* d) {
       d[0] = 1 / x[1];
       d[1] = -y / x[1];
     }},
};

/// Straight lines between points, constant before and behind them.
double on_lines(const std::vector<double>& table, double x, double* slope) {
  std::size_t k = 0;
  while (k + 2 < table.size() && table[k] <= x) k += 2;
  const bool outside = x < table[0] || table[k] <= x || k == 0;
  if (slope != nullptr) *slope = 0;
  if (outside) return x < table[0] ? table[1] : table[k + 1];
  const double rise = (table[k + 1] - table[k - 1]) / (table[k] - table[k - 2]);
  if (slope != nullptr) *slope = rise;
  return table[k - 1] + rise * (x - table[k - 2]);
}

/// Slope that Newton's method can use where a value is finite and its slope is not: steep, as √x at 0, or none, as atan2 at (0, 0).
/// 1e9 is steep beside the slopes of circuits, and two such rows leave a matrix regular.
double finite_slope(double slope) {
  constexpr double kSteep = 1e9;
  if (std::isfinite(slope)) return slope;
  return std::isnan(slope) ? 0 : std::copysign(kSteep, slope);
}

}  // namespace

const FormulaFunction* find_function(const std::string& name, bool of_circuit) {
  if (name == "pow") return of_circuit ? &kPowerOfMagnitude : &kPower;
  if (name == "pwr") return of_circuit ? &kSignedPower : &kMagnitudePower;
  if (name == "neg" || name == "not") return nullptr;  // are written - and !
  for (const FormulaFunction& one : kFunctions) {
    if (name == one.name) return &one;
  }
  for (const FormulaFunction& one : kCircuitFunctions) {
    if (of_circuit && name == one.name) return &one;
  }
  return nullptr;
}

std::vector<std::string> function_names(bool of_circuit) {
  std::vector<std::string> all = {"pow", "pwr"};
  for (const FormulaFunction& one : kFunctions) all.emplace_back(one.name);
  all.resize(all.size() - 2);  // without neg and not
  for (const FormulaFunction& one : kCircuitFunctions) {
    if (of_circuit) all.emplace_back(one.name);
  }
  return all;
}

const FormulaFunction& operator_of(const std::string& symbol, bool of_circuit) {
  if (symbol == "^") return of_circuit ? kPowerOfMagnitude : kPower;
  if (symbol == "neg" || symbol == "!") return kFunctions[symbol == "!" ? 28 : 27];
  return *std::find_if(std::begin(kOperators), std::end(kOperators),
                       [&](const FormulaFunction& one) { return symbol == one.name; });
}

Operand Formula::variable(int k) {
  variables_ = std::max(variables_, k + 1);
  operations_.push_back({nullptr, {}, k});
  return Operand::of(static_cast<int>(operations_.size()) - 1);
}

double Formula::value_of(const Operation& one, const double* x, double* d) const {
  if (!one.table.empty()) return on_lines(one.table, x[0], d);
  const double value = one.function->value(x);
  if (d == nullptr) return value;
  one.function->slopes(x, value, d);
  if (std::isfinite(value)) {
    for (int k = 0; k < one.function->arguments; ++k) d[k] = finite_slope(d[k]);
  }
  return value;
}

bool Formula::apply(const FormulaFunction& function, const std::vector<Operand>& operands, Operand& result) {
  Operation made{&function, {}};
  const std::size_t count = std::min<std::size_t>(operands.size(), 3);
  std::copy_n(operands.begin(), function.arguments < 0 ? 1 : count, made.x.begin());
  bool constant = true;
  for (std::size_t k = 1; function.arguments < 0 && k < operands.size(); ++k) made.table.push_back(operands[k].value);
  for (const Operand& one : made.x) {
    constant = constant && one.constant();
    if (!one.constant()) made.length += operations_[static_cast<std::size_t>(one.operation)].length;
  }
  if (constant) {
    const double x[3] = {made.x[0].value, made.x[1].value, made.x[2].value};
    result = value_of(made, x, nullptr);
    return true;
  }
  if (made.length > kMostOperations || static_cast<double>(operations_.size()) >= kMostOperations) return false;
  operations_.push_back(std::move(made));
  result = Operand::of(static_cast<int>(operations_.size()) - 1);
  return true;
}

double Formula::at(const double* u, double* slopes) const {
  std::fill(slopes, slopes + variables_, 0.0);
  if (result_.constant()) return result_.value;
  thread_local std::vector<double> values, partial, bar;
  values.resize(operations_.size());
  partial.assign(3 * operations_.size(), 0.0);
  bar.assign(operations_.size(), 0.0);
  for (std::size_t i = 0; i < operations_.size(); ++i) {
    const Operation& one = operations_[i];
    if (one.function == nullptr) {
      values[i] = u[one.variable];
      continue;
    }
    double x[3];
    for (std::size_t k = 0; k < 3; ++k) {
      const Operand& of = one.x[k];
      x[k] = of.constant() ? of.value : values[static_cast<std::size_t>(of.operation)];
    }
    values[i] = value_of(one, x, partial.data() + 3 * i);
  }
  const auto result = static_cast<std::size_t>(result_.operation);
  bar[result] = 1;
  for (std::size_t i = result + 1; i-- > 0;) {
    const Operation& one = operations_[i];
    if (bar[i] == 0) continue;
    if (one.function == nullptr) slopes[one.variable] += bar[i];
    for (std::size_t k = 0; k < 3 && one.function != nullptr; ++k) {
      const double by = partial[3 * i + k];
      if (one.x[k].constant() || by == 0) continue;  // the branch that is not taken may have no finite slope
      bar[static_cast<std::size_t>(one.x[k].operation)] += bar[i] * by;
    }
  }
  return values[result];
}

std::optional<std::vector<double>> Formula::linear() const {
  for (const Operation& one : operations_) {
    if (one.function == nullptr) continue;
    const std::string name = one.function->name;
    const bool sum = name == "+" || name == "-" || name == "neg",
               product = name == "*" && (one.x[0].constant() || one.x[1].constant()),
               quotient = name == "/" && one.x[1].constant();
    if (!sum && !product && !quotient) return std::nullopt;
  }
  const std::vector<double> zero(static_cast<std::size_t>(variables_), 0.0);
  std::vector<double> found(zero.size() + 1);
  found[0] = at(zero.data(), found.data() + 1);
  return found;
}

std::string Formula::text_of(const Operand& operand, const std::vector<std::string>& names) const {
  if (operand.constant())
    return operand.value < 0 ? fmt::format("({})", operand.value) : fmt::format("{}", operand.value);
  const Operation& one = operations_[static_cast<std::size_t>(operand.operation)];
  if (one.function == nullptr) return names[static_cast<std::size_t>(one.variable)];
  const std::string name = one.function->name;
  const auto x = [&](std::size_t k) { return text_of(one.x[k], names); };
  if (!one.table.empty()) {
    std::string points;
    for (const double number : one.table) points += fmt::format(",{}", number);
    return fmt::format("pwl({}{})", x(0), points);
  }
  if (name == "neg" || name == "not") return fmt::format("({}{})", name == "neg" ? "-" : "!", x(0));
  if (name == "ternary_fcn" || name == "if") return fmt::format("({}?{}:{})", x(0), x(1), x(2));
  if (name == "limit") return fmt::format("max(min({1},{2}),min(max({1},{2}),{0}))", x(0), x(1), x(2));
  const bool word = std::isalpha(static_cast<unsigned char>(name.front())) != 0;
  if (!word) return fmt::format("({}{}{})", x(0), name, x(1));
  return one.function->arguments == 1 ? fmt::format("{}({})", name, x(0)) : fmt::format("{}({},{})", name, x(0), x(1));
}

std::string Formula::text(const std::vector<std::string>& names) const { return text_of(result_, names); }

}  // namespace nudge
