// SPDX-License-Identifier: Apache-2.0
// What update rules refuse, and what they take.
#include "circuits/linear_map_factory.hpp"
#include "tests/support/catch.hpp"

using namespace nudge;

namespace {

CrossbarSpec rule_of(UpdateScheme update) {
  CrossbarSpec spec;
  spec.device.model = "constant_step";
  spec.mapping.w_max = 1;
  spec.programming.update = update;
  return spec;
}

}  // namespace

TEST_CASE("rules refuse devices without what they need", "[rules]") {
  const auto refused = [](const CrossbarSpec& spec, const std::string& words) {
    CHECK_THROWS_WITH(make_linear_map<double>(spec, Matrix<double>::Ones(2, 2), 0, 0), Catch::Contains(words));
  };
  for (const char* model : {"ideal", "constant_step"}) {
    for (const UpdateScheme update :
         {UpdateScheme::tiki_taka, UpdateScheme::ttv2, UpdateScheme::residual, UpdateScheme::multi_tile}) {
      CrossbarSpec spec = rule_of(update);
      spec.device.model = model;
      refused(spec, "a symmetry point");
    }
    for (const UpdateScheme update : {UpdateScheme::accumulate, UpdateScheme::c_ttv2, UpdateScheme::agad}) {
      CrossbarSpec spec = rule_of(update);
      spec.device.model = model;
      CHECK_NOTHROW(make_linear_map<double>(spec, Matrix<double>::Ones(2, 2), 0, 0));
    }
  }
  CrossbarSpec spec = rule_of(UpdateScheme::one_sided);
  refused(spec, "unless crossbar.mapping = one_sided");
  spec.mapping.kind = MappingKind::one_sided;
  CHECK_NOTHROW(make_linear_map<double>(spec, Matrix<double>::Ones(2, 2), 0, 0));
  spec.programming.update = UpdateScheme::pulses;
  refused(spec, "crossbar.mapping = one_sided (must be differential");
  spec = rule_of(UpdateScheme::accumulate);
  spec.rule.threshold = 0.5;
  refused(spec, "crossbar.threshold = 0.5");
  spec = rule_of(UpdateScheme::accumulate);
  spec.rule.share = 1;
  refused(spec, "crossbar.residual_share = 1");
}
