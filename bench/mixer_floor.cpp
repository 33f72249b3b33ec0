// SPDX-License-Identifier: Apache-2.0
#include "bench/mixer_floor.hpp"
#include "mixers/fem/free_energy_mixer.hpp"

namespace nudge::bench {
namespace {

Matrix<float> filled(Index rows, Index cols) { return Matrix<float>::Random(rows, cols) * 0.1F; }

}  // namespace

MixerFloor::MixerFloor(const SequenceShape& s) {
  for (const Field& field : sequence_fields(s)) {
    const bool looked_up = field.name == "emb";
    if (looked_up || field.rows() == 1) continue;
    // Attention's weights are (heads·m, D), used transposed: the same products.
    const bool transposed = field.shape.size() == 3;
    const Index in = transposed ? s.width : field.rows();
    const Index out = field.rows() * field.cols() / in;
    weights_.push_back({filled(s.tokens, in), filled(in, out), filled(s.tokens, out), filled(in, out)});
  }
  const MixerOptions options = sequence_mixer(s.mixer, s.width, s.heads, s.tokens).options;
  const bool free_energy = s.mixer.rfind("fem", 0) == 0;
  const Index keys = (free_energy ? options.of<FreeEnergyOptions>().keys : s.width) / s.heads;
  const Index values = free_energy ? 2 * options.of<FreeEnergyOptions>().values / s.heads : s.width / s.heads;
  reads_ = s.blocks * s.heads;
  read_ = {filled(s.tokens, keys), filled(s.tokens, keys), filled(s.tokens, values), filled(s.tokens, s.tokens),
           filled(s.tokens, values)};
}

void MixerFloor::token_products(Weight& each) {
  fastest_multiply(each.x, each.w, each.y);
  fastest_transposed(each.y, each.w, each.x);
  fastest_outer(each.x, each.y, 1e-6F, each.g, Store::assign);
}

void MixerFloor::read_products(Read& r) {
  fastest_transposed(r.q, r.k, r.p);
  fastest_multiply(r.p, r.v, r.o);
  fastest_transposed(r.o, r.v, r.p);
  fastest_outer(r.p, r.o, 1e-6F, r.v, Store::assign);
  fastest_multiply(r.p, r.k, r.q);
  fastest_outer(r.p, r.q, 1e-6F, r.k, Store::assign);
}

void MixerFloor::run() {
  for (Weight& each : weights_) {
    token_products(each);
    for (Matrix<float>* m : {&each.x, &each.y}) m->setConstant(0.1F);  // numbers stay where products are fast
  }
  for (Index n = 0; n < reads_; ++n) {
    read_products(read_);
    for (Matrix<float>* m : {&read_.q, &read_.k, &read_.v}) m->setConstant(0.1F);
  }
}

double MixerFloor::flops() const {
  double sum = 0;
  for (const Weight& each : weights_) {
    sum += 6.0 * static_cast<double>(each.x.rows()) * static_cast<double>(each.w.size());
  }
  const double pairs = static_cast<double>(read_.p.size()) * static_cast<double>(reads_);
  return sum + 6.0 * pairs * static_cast<double>(read_.k.cols() + read_.v.cols());
}

}  // namespace nudge::bench
