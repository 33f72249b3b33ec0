// SPDX-License-Identifier: Apache-2.0
#include "netlist/expression.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <vector>

#include "netlist/card_reader.hpp"
#include "sim/config/suggest.hpp"

namespace nudge {
namespace {

constexpr int kDeepest = 200;

bool letter(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; }
bool digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }

struct Factor {
  const char* name;
  double value;
};
/// Factors of SPICE's numbers, longer names first: MEG and MIL before M. µ is the micro sign or the Greek letter, in UTF-8.
constexpr std::array<Factor, 12> kFactors = {{{"meg", 1e6},
                                              {"mil", 25.4e-6},
                                              {"t", 1e12},
                                              {"g", 1e9},
                                              {"k", 1e3},
                                              {"m", 1e-3},
                                              {"u", 1e-6},
                                              {"\xC2\xB5", 1e-6},
                                              {"\xCE\xBC", 1e-6},
                                              {"n", 1e-9},
                                              {"p", 1e-12},
                                              {"f", 1e-15}}};

struct Function {
  const char* name;
  int arguments;
  double (*value)(const double* x);
};

double sign_of(double x) { return x > 0 ? 1 : (x < 0 ? -1 : 0); }

constexpr std::array<Function, 29> kFunctions = {{
    {"abs", 1, [](const double* x) { return std::abs(x[0]); }},
    {"sqrt", 1, [](const double* x) { return std::sqrt(x[0]); }},
    {"exp", 1, [](const double* x) { return std::exp(x[0]); }},
    {"ln", 1, [](const double* x) { return std::log(x[0]); }},
    {"log", 1, [](const double* x) { return std::log(x[0]); }},
    {"log10", 1, [](const double* x) { return std::log10(x[0]); }},
    {"pow", 2, [](const double* x) { return std::pow(x[0], x[1]); }},
    {"pwr", 2, [](const double* x) { return std::pow(std::abs(x[0]), x[1]); }},
    {"min", 2, [](const double* x) { return std::min(x[0], x[1]); }},
    {"max", 2, [](const double* x) { return std::max(x[0], x[1]); }},
    {"sin", 1, [](const double* x) { return std::sin(x[0]); }},
    {"cos", 1, [](const double* x) { return std::cos(x[0]); }},
    {"tan", 1, [](const double* x) { return std::tan(x[0]); }},
    {"asin", 1, [](const double* x) { return std::asin(x[0]); }},
    {"acos", 1, [](const double* x) { return std::acos(x[0]); }},
    {"atan", 1, [](const double* x) { return std::atan(x[0]); }},
    {"atan2", 2, [](const double* x) { return std::atan2(x[0], x[1]); }},
    {"sinh", 1, [](const double* x) { return std::sinh(x[0]); }},
    {"cosh", 1, [](const double* x) { return std::cosh(x[0]); }},
    {"tanh", 1, [](const double* x) { return std::tanh(x[0]); }},
    {"asinh", 1, [](const double* x) { return std::asinh(x[0]); }},
    {"acosh", 1, [](const double* x) { return std::acosh(x[0]); }},
    {"atanh", 1, [](const double* x) { return std::atanh(x[0]); }},
    {"floor", 1, [](const double* x) { return std::floor(x[0]); }},
    {"ceil", 1, [](const double* x) { return std::ceil(x[0]); }},
    {"int", 1, [](const double* x) { return std::trunc(x[0]); }},
    {"nint", 1, [](const double* x) { return std::nearbyint(x[0]); }},  // halves to even numbers, as ngspice
    {"ternary_fcn", 3, [](const double* x) { return x[0] != 0 ? x[1] : x[2]; }},
    {"sgn", 1, [](const double* x) { return sign_of(x[0]); }},
}};

struct Operator {
  const char* symbol;
  double (*value)(double a, double b);
};

/// Operators of two numbers, level by level from loose to tight.
const std::array<std::vector<Operator>, 5> kLevels = {{
    {{"||", [](double a, double b) { return a != 0 || b != 0 ? 1.0 : 0.0; }}},
    {{"&&", [](double a, double b) { return a != 0 && b != 0 ? 1.0 : 0.0; }}},
    {{"<=", [](double a, double b) { return a <= b ? 1.0 : 0.0; }},
     {">=", [](double a, double b) { return a >= b ? 1.0 : 0.0; }},
     {"==", [](double a, double b) { return a == b ? 1.0 : 0.0; }},
     {"!=", [](double a, double b) { return a != b ? 1.0 : 0.0; }},
     {"<", [](double a, double b) { return a < b ? 1.0 : 0.0; }},
     {">", [](double a, double b) { return a > b ? 1.0 : 0.0; }}},
    {{"+", [](double a, double b) { return a + b; }}, {"-", [](double a, double b) { return a - b; }}},
    {{"*", [](double a, double b) { return a * b; }}, {"/", [](double a, double b) { return a / b; }}},
}};

/// Parser by recursive descent; binding from loose to tight: ?:, ||, &&, comparisons, + -, * /, unary, ^.
class Parser {
 public:
  Parser(const std::string& text, const Place& place, const LookUp& look_up, const UserFunction& user)
      : text_(text), place_(place), look_up_(look_up), user_(user) {}

  double whole() {
    const double value = choice();
    skip();
    if (at_ < text_.size()) fail(fmt::format("unexpected \"{}\" in the expression \"{}\"", text_[at_], text_));
    if (!std::isfinite(value)) fail_at(0, fmt::format("the expression \"{}\" is not a finite number", text_));
    return value;
  }

 private:
  [[noreturn]] void fail_at(std::size_t at, const std::string& what) const {
    Place there = place_;
    there.column += static_cast<int>(at);
    refuse(there, what);
  }
  [[noreturn]] void fail(const std::string& what) const { fail_at(at_, what); }

  void skip() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(const char* symbol) {
    skip();
    const std::size_t length = std::char_traits<char>::length(symbol);
    if (text_.compare(at_, length, symbol) != 0) return false;
    at_ += length;
    return true;
  }
  void expect(const char* symbol) {
    if (!take(symbol)) fail(fmt::format("a \"{}\" is missing in the expression \"{}\"", symbol, text_));
  }

  double choice() {
    if (++depth_ > kDeepest) fail("the expression is too deep");
    double value = binary(0);
    if (take("?")) {
      const double yes = choice();
      expect(":");
      const double no = choice();
      value = value != 0 ? yes : no;
    }
    --depth_;
    return value;
  }

  double binary(std::size_t level) {
    if (level == kLevels.size()) return signed_power();
    double value = binary(level + 1);
    while (const Operator* taken = take_operator(level)) {
      const std::size_t where = at_;
      const double right = binary(level + 1);
      if (*taken->symbol == '/' && right == 0) {
        fail_at(where, fmt::format("division by 0 in the expression \"{}\"", text_));
      }
      value = taken->value(value, right);
    }
    return value;
  }

  const Operator* take_operator(std::size_t level) {
    skip();
    if (text_.compare(at_, 2, "**") == 0) return nullptr;  // binds tighter
    for (const Operator& one : kLevels[level]) {
      if (take(one.symbol)) return &one;
    }
    return nullptr;
  }

  double signed_power() {
    if (++depth_ > kDeepest) fail("the expression is too deep");
    double value = 0;
    if (take("-")) {
      value = -signed_power();
    } else if (take("+")) {
      value = signed_power();
    } else if (take("!")) {
      value = signed_power() == 0 ? 1 : 0;
    } else {
      value = atom();
      while (take("**") || take("^"))
        value = std::pow(value, take("-") ? -atom() : atom());  // 2^3^2 = 64, as in ngspice
    }
    --depth_;
    return value;
  }

  double atom() {
    if (take("(")) {
      const double value = choice();
      expect(")");
      return value;
    }
    skip();
    if (at_ == text_.size()) fail(fmt::format("the expression \"{}\" ends too early", text_));
    double value = 0;
    std::size_t used = 0;
    if (digit(text_[at_]) || text_[at_] == '.') {
      if (!read_spice_number(text_, at_, value, used)) fail(fmt::format("\"{}\" is not a number", text_.substr(at_)));
      at_ += used;
      return value;
    }
    if (!letter(text_[at_]) && text_[at_] != '_') {
      fail(fmt::format("unexpected \"{}\" in the expression \"{}\"", text_[at_], text_));
    }
    const std::size_t begin = at_;
    while (at_ < text_.size() && (letter(text_[at_]) || digit(text_[at_]) || text_[at_] == '_')) ++at_;
    const std::string name = text_.substr(begin, at_ - begin);
    if (take("(")) return call(name, begin);
    Place there = place_;
    there.column += static_cast<int>(begin);
    return look_up_(name, there);
  }

  double call(const std::string& name, std::size_t begin) {
    FunctionUse use{name, {}, place_};
    use.place.column += static_cast<int>(begin);
    std::vector<double>& arguments = use.values;
    if (!take(")")) {
      do arguments.push_back(choice());
      while (take(","));
      expect(")");
    }
    double value = 0;
    if (user_ && user_(use, value)) return value;
    std::vector<std::string> names;
    for (const Function& function : kFunctions) {
      names.emplace_back(function.name);
      if (name != function.name) continue;
      if (static_cast<int>(arguments.size()) != function.arguments) {
        fail_at(begin, argument_count_text(name, static_cast<std::size_t>(function.arguments), arguments.size()));
      }
      return function.value(arguments.data());
    }
    fail_at(begin, fmt::format("unknown function {}() ({})", name, did_you_mean(name, names)));
  }

  const std::string& text_;
  Place place_;
  const LookUp& look_up_;
  const UserFunction& user_;
  std::size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace

bool read_spice_number(const std::string& text, std::size_t from, double& value, std::size_t& used) {
  std::size_t begin = from;
  if (begin < text.size() && text[begin] == '+') ++begin;  // from_chars knows "-" alone
  const std::size_t first = begin < text.size() && begin == from && text[begin] == '-' ? begin + 1 : begin;
  if (first >= text.size() || (!digit(text[first]) && text[first] != '.')) return false;
  const auto [end, error] = std::from_chars(text.data() + begin, text.data() + text.size(), value);
  if (error != std::errc()) return false;
  auto at = static_cast<std::size_t>(end - text.data());
  for (const Factor& factor : kFactors) {
    const std::size_t length = std::char_traits<char>::length(factor.name);
    if (text.compare(at, length, factor.name) != 0) continue;
    value *= factor.value;
    at += length;
    break;
  }
  while (at < text.size() && letter(text[at])) ++at;
  for (const char* ohm : {"\xCE\xA9", "\xE2\x84\xA6"}) {  // the Greek letter and the sign
    if (text.compare(at, std::char_traits<char>::length(ohm), ohm) == 0) at += std::char_traits<char>::length(ohm);
  }
  used = at - from;
  return std::isfinite(value);
}

std::string argument_count_text(const std::string& function, std::size_t takes, std::size_t given) {
  return fmt::format("{}() takes {} argument{}, not {}", function, takes, takes == 1 ? "" : "s", given);
}

double evaluate_expression(const std::string& text, const Place& place, const LookUp& look_up,
                           const UserFunction& user) {
  return Parser(text, place, look_up, user).whole();
}

}  // namespace nudge
