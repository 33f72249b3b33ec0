// SPDX-License-Identifier: Apache-2.0
#include "bench/convolution_floor.hpp"

#ifdef NUDGE_ONEDNN

#include <oneapi/dnnl/dnnl.hpp>
#include <tuple>
#include <unordered_map>
#include <vector>

namespace nudge::bench {
namespace {

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

}  // namespace

struct ConvolutionFloor::Library {
  dnnl::engine engine{dnnl::engine::kind::cpu, 0};
  dnnl::stream stream{engine};
  std::vector<Step> forward, transposed;

  dnnl::memory filled(const dnnl::memory::desc& desc) const {
    dnnl::memory memory(desc, engine);
    auto* const data = static_cast<float*>(memory.get_data_handle());
    for (std::size_t i = 0; i < desc.get_size() / sizeof(float); ++i) data[i] = 0.01F * static_cast<float>(i % 17);
    return memory;
  }
  void run(std::vector<Step>& steps) {
    for (Step& step : steps) step.primitive.execute(stream, step.arguments);
    stream.wait();
  }
};

ConvolutionFloor::ConvolutionFloor(const Convolution& s, Index samples, bool folded)
    : library_(std::make_unique<Library>()) {
  using namespace dnnl;
  Library& own = *library_;
  const Index k = folded ? s.kernel + s.pool - 1 : s.kernel, stride = folded ? s.pool : 1, pad = (s.kernel - 1) / 2;
  const memory::dims source = {samples, s.channels, s.height, s.width}, kernels = {s.maps, s.channels, k, k},
                     maps = {samples, s.maps, s.height / stride, s.width / stride},
                     pooled = {samples, s.maps, s.height / s.pool, s.width / s.pool}, strides = {stride, stride},
                     padding = {pad, pad}, window = {s.pool, s.pool};
  const auto any = [](const memory::dims& dims) {
    return memory::desc(dims, memory::data_type::f32, memory::format_tag::any);
  };
  const auto forward = plan<convolution_forward>(
      own.engine, std::tuple(prop_kind::forward_training, algorithm::convolution_auto, any(source), any(kernels),
                             any(maps), strides, padding, padding));
  const memory x = own.filled(forward.src_desc()), w = own.filled(forward.weights_desc()),
               u = own.filled(forward.dst_desc());
  own.forward.push_back({convolution_forward(forward), {{DNNL_ARG_SRC, x}, {DNNL_ARG_WEIGHTS, w}, {DNNL_ARG_DST, u}}});
  const auto back = plan<convolution_backward_data>(
      own.engine,
      std::tuple(algorithm::convolution_auto, any(source), any(kernels), any(maps), strides, padding, padding),
      forward);
  const memory dx = own.filled(back.diff_src_desc()), wt = own.filled(back.weights_desc()),
               du = own.filled(back.diff_dst_desc());
  if (!folded && s.pool > 1) {
    constexpr auto mean_of = algorithm::pooling_avg_include_padding;
    const auto pool = plan<pooling_forward>(
        own.engine, std::tuple_cat(std::tuple(prop_kind::forward_training, mean_of, forward.dst_desc(), any(pooled)),
                                   pooling(window)));
    const memory mean = own.filled(pool.dst_desc());
    own.forward.push_back({pooling_forward(pool), {{DNNL_ARG_SRC, u}, {DNNL_ARG_DST, mean}}});
    const auto unpool = plan<pooling_backward>(
        own.engine, std::tuple_cat(std::tuple(mean_of, back.diff_dst_desc(), any(pooled)), pooling(window)), pool);
    own.transposed.push_back(
        {pooling_backward(unpool), {{DNNL_ARG_DIFF_DST, own.filled(unpool.diff_dst_desc())}, {DNNL_ARG_DIFF_SRC, du}}});
  }
  own.transposed.push_back(
      {convolution_backward_data(back), {{DNNL_ARG_DIFF_DST, du}, {DNNL_ARG_WEIGHTS, wt}, {DNNL_ARG_DIFF_SRC, dx}}});
}

ConvolutionFloor::~ConvolutionFloor() = default;
void ConvolutionFloor::forward() { library_->run(library_->forward); }
void ConvolutionFloor::transposed() { library_->run(library_->transposed); }
bool ConvolutionFloor::available() { return true; }

}  // namespace nudge::bench

#else

namespace nudge::bench {

struct ConvolutionFloor::Library {};
ConvolutionFloor::ConvolutionFloor(const Convolution&, Index, bool) {}
ConvolutionFloor::~ConvolutionFloor() = default;
void ConvolutionFloor::forward() {}
void ConvolutionFloor::transposed() {}
bool ConvolutionFloor::available() { return false; }

}  // namespace nudge::bench

#endif
