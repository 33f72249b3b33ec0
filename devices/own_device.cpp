// SPDX-License-Identifier: Apache-2.0
#include "devices/own_device.hpp"

#include <stdexcept>
#include <utility>

#include "devices/step_kernel.hpp"
#include "sim/base/errors.hpp"

namespace nudge {
namespace {

using Law = std::shared_ptr<OwnDeviceLaw>;

Law& lent() {
  static Law law;
  return law;
}

Law expect_lent() {
  if (lent()) return lent();
  throw UserError(
      "device.model = own: the device is code of the program that ran it, which is not available here. Use Python: "
      "nudge.train(config, devices={name: Device}, ...), nudge.resume(file, device=Device)");
}

template <class S>
OwnDeviceLaw::States own_of(const DeviceCells<S>& cells) {
  OwnDeviceLaw::States all;
  for (const Matrix<S>& one : cells.own) {
    all.push_back(Eigen::Map<const Matrix<S>>(one.data(), 1, one.size()).template cast<double>());
  }
  return all;
}

template <class S>
Matrix<double> flat(const Matrix<S>& g) {
  return Eigen::Map<const Matrix<S>>(g.data(), 1, g.size()).template cast<double>();
}

/// Step of the program's law: its pulses are rounded, worn and made noisy as in every model, with the noise of equal pulses, of their change.
class OwnStep final : public StepModel {
 public:
  explicit OwnStep(Law law) : law_(std::move(law)) {}
  bool bounded() const override { return true; }
  PulseCount update(DeviceCells<float>& cells, const UpdateRequest<float>& request) const override {
    return send(cells, request);
  }
  PulseCount update(DeviceCells<double>& cells, const UpdateRequest<double>& request) const override {
    return send(cells, request);
  }

 private:
  template <class S>
  PulseCount send(DeviceCells<S>& cells, UpdateRequest<S> request) const {
    request.threads = 1;
    return update_devices<S>(
        [&](const ElementChunk<S>& chunk, S sigma, S floor, ChunkArray<S>& change, ChunkArray<S>& noise) {
          Matrix<double> g(1, chunk.size), n(1, chunk.size);
          OwnDeviceLaw::States own(cells.own.size(), Matrix<double>(1, chunk.size));
          for (Index k = 0; k < chunk.size; ++k) {
            g(k) = static_cast<double>(chunk.sign[k] * chunk.g[k]);
            n(k) = static_cast<double>(chunk.sign[k] * chunk.n[k]);
            for (std::size_t s = 0; s < own.size(); ++s) {
              own[s](k) = static_cast<double>(cells.own[s].data()[chunk.at(k)]);
            }
          }
          const Matrix<double> after = law_->pulsed(g, n, own);
          for (Index k = 0; k < chunk.size; ++k) {
            for (std::size_t s = 0; s < own.size(); ++s) cells.own[s].data()[chunk.at(k)] = static_cast<S>(own[s](k));
            const S root = std::sqrt(chunk.n[k]);
            change[k] = chunk.sign[k] * static_cast<S>(after(k) - g(k));
            noise[k] = chunk.n[k] > 0 ? std::hypot(sigma * change[k] / root, floor * chunk.step[k] * root) : S(0);
          }
        },
        cells, request);
  }

  Law law_;
};

template <class S>
class OwnPart final : public DevicePart<S> {
 public:
  static bool wanted(const DeviceSpec& /*spec*/, const ArraySite& /*site*/) {
    const Law law = expect_lent();
    return law->waits() || law->disturbs() || law->reads_noisy() || law->outside();
  }
  OwnPart(const DeviceSpec& spec, const ArraySite& site, DeviceCells<S>& /*cells*/)
      : law_(expect_lent()),
        temperature_K_(spec.temperature_K),
        array_(2 * site.identity.entity + site.identity.side) {}

  Passed wait(DeviceCells<S>& cells, double seconds, std::uint64_t /*step*/, Gathering gathering) override {
    if (!law_->waits() || !waiting_.add(seconds, gathering, law_->least_wait_s())) return Passed::unchanged;
    return applied(cells, waiting_, [this](const Matrix<double>& g, double gathered, OwnDeviceLaw::States& own) {
      return law_->waited(g, gathered, temperature_K_, own);
    });
  }
  Passed read(DeviceCells<S>& cells, double seconds, Gathering gathering) override {
    if (!law_->disturbs() || !reading_.add(seconds, gathering, law_->least_wait_s())) return Passed::unchanged;
    return applied(cells, reading_, [this](const Matrix<double>& g, double gathered, OwnDeviceLaw::States& own) {
      return law_->disturbed(g, gathered, own);
    });
  }

  void hold(DeviceCells<S>& cells) override {
    if (!law_->outside()) return;
    OwnDeviceLaw::States own = own_of(cells);
    take(cells, law_->held(array_, flat(cells.g), own), own);
  }

  bool reads_noisy() const override { return law_->reads_noisy(); }
  void add_read_variance(const DeviceCells<S>& cells, Matrix<double>& variance_S2) const override {
    const Matrix<double> sigma = law_->read_noise_S(flat(cells.g), own_of(cells));
    for (Index i = 0; i < sigma.size(); ++i) variance_S2.data()[i] += sigma(i) * sigma(i);
  }

  std::vector<SlowArray<S>> state() override {
    return {waiting_.state("own_waiting_time", "the device of one's own"),
            reading_.state("own_reading_time", "its read disturb")};
  }
  void restored(DeviceCells<S>& cells) override {
    waiting_.restored();
    reading_.restored();
    if (!law_->outside()) return;
    OwnDeviceLaw::States own = own_of(cells);
    take(cells, law_->restored(array_, flat(cells.g), own), own);
  }

 private:
  static void take(DeviceCells<S>& cells, const Matrix<double>& g, const OwnDeviceLaw::States& own) {
    for (Index i = 0; i < g.size(); ++i) {
      cells.g.data()[i] = static_cast<S>(g(i));
      for (std::size_t s = 0; s < own.size(); ++s) cells.own[s].data()[i] = static_cast<S>(own[s](i));
    }
  }

  template <class Change>
  Passed applied(DeviceCells<S>& cells, GatheredTime<S>& time, Change change) {
    OwnDeviceLaw::States own = own_of(cells);
    const Matrix<double> g = change(flat(cells.g), time.seconds(), own);
    for (Index i = 0; i < g.size(); ++i) {
      const S lower = cells.lower.data()[i], upper = cells.upper.data()[i];
      cells.g.data()[i] = std::clamp(static_cast<S>(g(i)), lower, upper);
      for (std::size_t s = 0; s < own.size(); ++s) cells.own[s].data()[i] = static_cast<S>(own[s](i));
    }
    time.applied();
    return Passed::stored;
  }

  Law law_;
  double temperature_K_;
  std::uint32_t array_;
  GatheredTime<S> waiting_, reading_;
};

DeviceModel& own_model() {
  static DeviceModel model = [] {
    DeviceModel own;
    own.name = own_device_name;
    own.summary = "code of the calling program";
    own.equation = "what its functions say";
    own.source = "the program's own";
    own.make = [](const DeviceSpec&) -> std::unique_ptr<StepModel> { return std::make_unique<OwnStep>(expect_lent()); };
    own.parts = {part_kind<OwnPart>()};
    return own;
  }();
  return model;
}

}  // namespace

LentDevice::LentDevice(std::shared_ptr<OwnDeviceLaw> law) {
  if (lent()) throw std::logic_error("a device is lent already");
  own_model().states = law->states();
  lent() = std::move(law);
}

LentDevice::~LentDevice() { lent() = nullptr; }

const DeviceModel& own_device_model() { return own_model(); }

}  // namespace nudge
