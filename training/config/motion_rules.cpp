// SPDX-License-Identifier: Apache-2.0
// Steps so small that rounding takes them back: what they leave as it is looks like a result.
#include <fmt/format.h>

#include "training/config/assembly.hpp"
#include "training/config/rows.hpp"

namespace nudge {
namespace {

/// Half the distance from 1 to the next number: x + d is x where |d| is below this share of |x|.
double rounding_unit(const Config& c) { return c.text("precision") == "double" ? 0x1p-53 : 0x1p-24; }

std::string number_text(double value) { return format_quantity(value, Unit::none, 3); }

/// A step moves a state by at most about eps of its own size, its distance to the equilibrium: all of it is rounded away below one
/// rounding unit. From z = 0 it would come eps T1 of the way, a millionth in 24 steps of single precision.
ConfigRule state_moves(const std::string& key, bool of_step) {
  return {{key, "precision", "relaxation.step"}, [of_step](const Config& c) {
            const bool set = c.real("relaxation.step") > 0;
            const double step = RelaxationStep(c).at(c.real("model.damping"));
            if (set != of_step || step >= rounding_unit(c)) return std::string();
            return fmt::format(
                "makes steps of {}; they must be at least {}, one rounding unit of precision = {}: below it "
                "z + eps F is z, and the state stays where it starts",
                number_text(step), number_text(rounding_unit(c)), c.text("precision"));
          }};
}

/// Adam's step is about the learning rate whatever the gradient (Kingma and Ba, arXiv:1412.6980, section 2.1), a comparator's is: weights of 1e-3 or more
/// round it away below 1e-3 units. A step of sgd is as large as the gradient makes it; below a unit squared one of 1/unit times the
/// weight would be needed.
ConfigRule weights_move() {
  return {{"train.learning_rate", "train.optimizer", "precision"}, [](const Config& c) {
            const double unit = rounding_unit(c);
            const bool adam = c.text("train.optimizer") != "sgd";
            const double least = adam ? 1e-3 * unit : unit * unit;
            if (c.real("train.learning_rate") >= least) return std::string();
            return fmt::format(
                "must be at least {}: steps of {} would be below one rounding unit of the weights in precision = {}, "
                "and nothing would move",
                number_text(least), c.text("train.optimizer"), c.text("precision"));
          }};
}

}  // namespace

std::vector<ConfigRule> motion_rules() {
  return {state_moves("relaxation.step", true), state_moves("relaxation.step_fraction", false), weights_move()};
}

}  // namespace nudge
