// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "circuits/rules/rule_spec.hpp"
#include "sim/config/section.hpp"

namespace nudge {

/// The keys of update rules, part of crossbar_section().
const Section<RuleSpec>& rule_section();

}  // namespace nudge
