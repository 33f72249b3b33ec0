// SPDX-License-Identifier: Apache-2.0
// ngspice settles the exported transformer where we do.

#include "tests/circuits/ngspice.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/numerics.hpp"
#include "tests/support/temporary_directory.hpp"
#include "training/config/assembly.hpp"
#include "training/config/config_table.hpp"
#include "training/data/characters.hpp"
#include "training/models/transformer/transformer_config.hpp"

using namespace nudge;
using namespace nudge::test;

TEST_CASE("ngspice settles an exported transformer where we do", "[transformer][spice]") {
  if (!ngspice_installed()) return;
  for (const char* setting : {"transformer.feedback=0", "transformer.feedback=0.15", "transformer.positions=learned"}) {
    CAPTURE(setting);
    const Config config = parse_program_config(
        "small.toml",
        "precision = 'double'\n[network]\nkind = 'transformer'\n[transformer]\nlayers = 1\nloops = 2\n[model]\n"
        "channels = 4\ntokens = 3\nmemories = 6\nheads = 2\n",
        {setting});
    const auto network =
        make_network<double>(config, network_plan(config, character_sizes(config, 5)), Weights::digital);
    TransformerNetlist spec;
    spec.input = random_matrix<double>(network->rows(), 4, 3);
    spec.start.resize(network->rows(), network->cols());
    network->initial_state(spec.input, spec.start);
    spec.stop_s = 40 * spec.time_constant_s;  // four nodes in a row: e⁻⁴⁰ (40)³ of the start is left
    const TemporaryDirectory folder;
    run_ngspice(folder.path(), transformer_netlist(*network, spec, "states.data"));
    Matrix<double> last = Matrix<double>::Constant(network->rows(), network->cols(), 1e9);
    std::ifstream data(folder.path() / "states.data");
    for (std::string text; std::getline(data, text);) {
      std::istringstream line(text);
      double time = 0;
      if (!(line >> time)) continue;
      for (Index i = 0; i < last.size(); ++i) line >> last.data()[i];
    }
    CircuitDynamics<double> dynamics(network->circuit(), network->rows(), 1);
    dynamics.bind(spec.input, ReadContext{});
    Matrix<double> z = spec.start;
    SettleWorkspace<double> scratch;
    SettleOptions options;
    options.schedule = RelaxationSchedule::sweep;
    options.step = 0.8;
    options.max_steps = 200;
    REQUIRE(settle<double>(dynamics, z, options, scratch).residual < 1e-12);
    CHECK(relative_error(last, z) < 1e-5);  // reltol = 1e-6 of ngspice, through four layers
  }
}
