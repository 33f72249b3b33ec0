// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace nudge {

/// Operand of an operation: a constant, or the result of an earlier operation of a Formula.
struct Operand {
  double value = 0;    ///< value of a constant
  int operation = -1;  ///< number of the operation; −1: a constant

  Operand() = default;
  Operand(double constant) : value(constant) {}  // NOLINT: a number is an operand
  static Operand of(int operation) {
    Operand made;
    made.operation = operation;
    return made;
  }
  bool constant() const { return operation < 0; }
};

/// Function of up to three numbers with its partial derivatives, or an operator.
struct FormulaFunction {
  const char* name;
  int arguments;  ///< count; −1: pwl, x and then pairs of constants
  double (*value)(const double* x);
  void (*slopes)(const double* x, double value, double* d);  ///< partial derivatives, one per argument
};

/// Function of that name, of B sources or of parameters, whose powers differ in ngspice; null: there is none.
const FormulaFunction* find_function(const std::string& name, bool of_circuit);
/// Names of all functions.
std::vector<std::string> function_names(bool of_circuit);
/// Operator between two numbers: || && <= >= == != < > + - * / ^.
const FormulaFunction& operator_of(const std::string& symbol, bool of_circuit);

/// Formula of the quantities of a circuit, a list of operations on earlier results: y = f(u₁ … u_n). Derivatives ∂y/∂u are exact, by
/// differentiation in reverse, one sweep for all of them (Griewank & Walther, Evaluating Derivatives, 2008, chapter 3). Read-only: threads share it.
class Formula {
 public:
  /// Limit on the operations of a formula and of its text. In a text every use of a result is written out.
  static constexpr double kMostOperations = 20000;

  /// Quantity number k of the circuit.
  Operand variable(int k);
  /// Value of a function of operands; a constant if all of them are. False if the formula would be too long.
  bool apply(const FormulaFunction& function, const std::vector<Operand>& operands, Operand& result);
  void set_result(Operand result) { result_ = result; }

  int variables() const { return variables_; }
  /// Computes y at u (variables); slopes (variables): ∂y/∂u.
  double at(const double* u, double* slopes) const;
  /// Offset and slopes if y is linear by its form, (y(0), ∂y/∂u …); nothing if it is not.
  std::optional<std::vector<double>> linear() const;
  /// The formula as ngspice reads it, with the names of the quantities.
  std::string text(const std::vector<std::string>& names) const;

 private:
  struct Operation {
    const FormulaFunction* function;  ///< null: a quantity of the circuit
    std::array<Operand, 3> x;
    int variable = -1;
    std::vector<double> table = {};  ///< pwl: x₁ y₁ x₂ y₂ …
    double length = 1;               ///< count of the operations of its text
  };
  double value_of(const Operation& one, const double* x, double* d) const;
  std::string text_of(const Operand& operand, const std::vector<std::string>& names) const;

  std::vector<Operation> operations_;
  Operand result_;
  int variables_ = 0;
};

}  // namespace nudge
