// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/terms/term.hpp"
#include "circuits/terms/two_array_memory.hpp"
#include "mixers/options.hpp"
#include "sim/config/choices.hpp"
#include "sim/settle.hpp"
#include "training/learning/estimators/estimator.hpp"
#include "training/models/hopfield/hopfield_plan.hpp"
#include "training/models/transformer/transformer_plan.hpp"

// Values of keys by name, shared by the rows and by what reads them.
namespace nudge {

inline const Choices<NudgeSides> nudge_sides{
    {"centered", NudgeSides::centered}, {"positive", NudgeSides::positive}, {"negative", NudgeSides::negative}};
inline const Choices<NudgedDrive> nudged_drives{{"state", NudgedDrive::state}, {"difference", NudgedDrive::difference}};
inline const Choices<bool> frozen_currents{{"live", false}, {"frozen", true}};
inline const Choices<RelaxationSchedule> relaxation_schedules{{"parallel", RelaxationSchedule::parallel},
                                                              {"sweep", RelaxationSchedule::sweep}};
inline const Choices<CorrectionScope> correction_scopes{{"attention", CorrectionScope::attention},
                                                        {"full", CorrectionScope::full}};
inline const Choices<Modulation> modulations{
    {"none", Modulation::none}, {"before", Modulation::before}, {"after", Modulation::after}};
inline const Choices<Activation> activations{{"relu2", Activation::relu2}, {"gelu", Activation::gelu}};
inline const Choices<HopfieldForm> hopfield_forms{{"projected", HopfieldForm::projected},
                                                  {"energy", HopfieldForm::energy}};
inline const Choices<bool> rotary_positions{{"rotary", true}, {"learned", false}};

}  // namespace nudge
