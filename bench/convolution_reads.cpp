// SPDX-License-Identifier: Apache-2.0
// Reads of a convolution, forward and transposed, beside oneDNN's own of the same function and beside its products alone; see bench/README.md.
#include <fmt/format.h>
#ifdef NUDGE_ONEDNN
#include <oneapi/dnnl/dnnl.hpp>
#endif

#include <chrono>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include "bench/fastest_product.hpp"
#include "bench/measure.hpp"
#include "circuits/digital_matrix.hpp"
#include "circuits/terms/bilinear_link.hpp"
#include "circuits/terms/convolution.hpp"

namespace nudge::bench {
namespace {

#ifdef NUDGE_ONEDNN

using Memories = std::unordered_map<int, dnnl::memory>;

struct Step {
  dnnl::primitive primitive;
  Memories arguments;
};

/// Makes the library's plan of an operation with these arguments; `hint`: its forward plan, for backward operations.
template <class Operation, class... Hint, class... Arguments>
auto plan(const dnnl::engine& engine, const std::tuple<Arguments...>& arguments, const Hint&... hint) {
  return std::apply(
      [&](const auto&... a) {
#if DNNL_VERSION_MAJOR >= 3
        return typename Operation::primitive_desc(engine, a..., hint...);
#else
        return typename Operation::primitive_desc(typename Operation::desc(a...), engine, hint...);
#endif
      },
      arguments);
}

/// Arguments of a pooling: strides, sizes and paddings, as many as this version of the library takes.
auto pooling(const dnnl::memory::dims& window) {
  const dnnl::memory::dims none = {0, 0};
#if DNNL_VERSION_MAJOR >= 3
  return std::tuple(window, window, none, none, none);
#else
  return std::tuple(window, window, none, none);
#endif
}

/// Convolution and its transpose by oneDNN, with all data already in its own layouts. `folded` false: the maps of every
/// pixel, then their mean pooling. `folded` true: one kernel of (k + p − 1)² numbers with stride p, which is the same
/// function; it has p² times fewer places and ((k + p − 1)/k)² times as many numbers in each. One thread.
class ConvolutionFloor {
 public:
  ConvolutionFloor(const Convolution& s, Index samples, bool folded) {
    using namespace dnnl;
    const Index k = folded ? s.kernel + s.pool - 1 : s.kernel, stride = folded ? s.pool : 1, pad = (s.kernel - 1) / 2;
    const memory::dims source = {samples, s.channels, s.height, s.width}, kernels = {s.maps, s.channels, k, k},
                       maps = {samples, s.maps, s.height / stride, s.width / stride},
                       pooled = {samples, s.maps, s.height / s.pool, s.width / s.pool}, strides = {stride, stride},
                       padding = {pad, pad}, window = {s.pool, s.pool};
    const auto any = [](const memory::dims& dims) {
      return memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
    };
    const auto forward =
        plan<convolution_forward>(engine_, std::tuple(prop_kind::forward_training, algorithm::convolution_auto,
                                                      any(source), any(kernels), any(maps), strides, padding, padding));
    const memory x = filled(forward.src_desc()), w = filled(forward.weights_desc()), u = filled(forward.dst_desc());
    forward_.push_back({convolution_forward(forward), {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, u}}});
    const auto back = plan<convolution_backward_data>(
        engine_,
        std::tuple(algorithm::convolution_auto, any(source), any(kernels), any(maps), strides, padding, padding),
        forward);
    const memory dx = filled(back.diff_src_desc()), wt = filled(back.weights_desc()), du = filled(back.diff_dst_desc());
    if (!folded && s.pool > 1) {
      constexpr auto mean_of = algorithm::pooling_avg_include_padding;
      const auto pool = plan<pooling_forward>(
          engine_, std::tuple_cat(std::tuple(prop_kind::forward_training, mean_of, forward.dst_desc(), any(pooled)),
                                  pooling(window)));
      const memory mean = filled(pool.dst_desc());
      forward_.push_back({pooling_forward(pool), {{DNNL_ARG_SRC, u}, {DNNL_ARG_DST, mean}}});
      const auto unpool = plan<pooling_backward>(
          engine_, std::tuple_cat(std::tuple(mean_of, back.diff_dst_desc(), any(pooled)), pooling(window)), pool);
      transposed_.push_back(
          {pooling_backward(unpool), {{DNNL_ARG_DIFF_DST, filled(unpool.diff_dst_desc())}, {DNNL_ARG_DIFF_SRC, du}}});
    }
    transposed_.push_back(
        {convolution_backward_data(back), {{DNNL_ARG_DIFF_DST, du}, {DNNL_ARG_WEIGHTS, wt}, {DNNL_ARG_DIFF_SRC, dx}}});
  }

  void forward() { run(forward_); }
  void transposed() { run(transposed_); }
  static bool available() { return true; }

 private:
  dnnl::memory filled(const dnnl::memory::desc& desc) const {
    dnnl::memory memory(desc, engine_);
    auto* const data = static_cast<float*>(memory.get_data_handle());
    for (std::size_t i = 0; i < desc.get_size() / sizeof(float); ++i) data[i] = 0.01F * static_cast<float>(i % 17);
    return memory;
  }
  void run(std::vector<Step>& steps) {
    for (Step& step : steps) step.primitive.execute(stream_, step.arguments);
    stream_.wait();
  }

  dnnl::engine engine_{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream_{engine_};
  std::vector<Step> forward_, transposed_;
};

#else

class ConvolutionFloor {
 public:
  ConvolutionFloor(const Convolution&, Index, bool) {}
  void forward() {}
  void transposed() {}
  static bool available() { return false; }
};

#endif

constexpr int kReads = 20;  // to a measurement

double seconds_of_reads(const auto& work) {
  return seconds_of([&] {
    for (int i = 0; i < kReads; ++i) work();
  });
}

/// Times both reads, as a sweep of an energy network makes them; ratios above 1: slower than the floor.
void reads(benchmark::State& state, const Convolution& shape, Index samples) {
  const DigitalMatrix<float> kernels(Matrix<float>::Random(shape.patch(), shape.maps) * 0.1F);
  LinkReader<float> link({0, &kernels, shape});
  const Matrix<float> x = Matrix<float>::Random(samples, shape.inputs());
  Matrix<float> u(samples, shape.outputs()), back(samples, shape.inputs());
  const auto ours = [&] {
    ReadContext context;
    link.read(ReadDirection::forward, x, u, context, Store::assign);
    link.read(ReadDirection::transposed, u, back, context, Store::assign);
    u *= 1e-2F;  // or it would grow
  };
  const Matrix<float> w = kernels.weights();
  Matrix<float> patches = Matrix<float>::Random(samples * shape.positions(), shape.patch()),
                at_positions(samples * shape.positions(), shape.maps);
  const auto products = [&] {
    fastest_multiply(patches, w, at_positions);
    fastest_transposed(at_positions, w, patches);
    at_positions *= 1e-2F;
  };
  ConvolutionFloor pooled(shape, samples, false), folded(shape, samples, true);
  const auto by = [](ConvolutionFloor& floor) {
    return [&floor] {
      floor.forward();
      floor.transposed();
    };
  };
  const auto once = [&] {
    return std::vector<double>{seconds_of_reads(ours), seconds_of_reads(products), seconds_of_reads(by(pooled)),
                               seconds_of_reads(by(folded))};
  };
  once();
  std::vector<double> of_products, of_pooled, of_folded;
  for (auto _ : state) {
    const std::vector<double> s = once();
    state.SetIterationTime(s[0]);
    of_products.push_back(s[0] / s[1]);
    of_pooled.push_back(s[0] / s[2]);
    of_folded.push_back(s[0] / s[3]);
  }
  state.counters["to_products"] = median(of_products);
  if (!ConvolutionFloor::available()) return state.SetLabel("floor: " + fastest_libraries());
  state.counters["to_onednn_pooled"] = median(of_pooled);
  state.counters["to_onednn_folded"] = median(of_folded);
  state.SetLabel("floors: products by " + fastest_libraries() + "; convolutions by oneDNN");
}

}  // namespace
}  // namespace nudge::bench

int main(int argc, char** argv) {
  using namespace nudge::bench;
  for (const nudge::Index samples : {16, 64}) {
    for (const nudge::Convolution& s : {nudge::Convolution{1, 28, 28, 16, 3, 2},
                                        {16, 14, 14, 32, 3, 2},
                                        {32, 14, 14, 64, 3, 1},
                                        {16, 28, 28, 32, 5, 2}}) {
      const std::string name = fmt::format("read/{}x{}x{}_to_{}/kernel{}/pool{}/B{}", s.channels, s.height, s.width,
                                           s.maps, s.kernel, s.pool, samples);
      add(name, 41, [=](benchmark::State& state) { reads(state, s, samples); });
    }
  }
  return run_added(argc, argv);
}
