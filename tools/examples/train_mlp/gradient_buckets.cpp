// SPDX-License-Identifier: Apache-2.0
#include "tools/examples/train_mlp/gradient_buckets.hpp"

#include <algorithm>

namespace train {

std::vector<Bucket> plan_buckets(
    const Shape& shape, std::size_t element_bytes, std::size_t least_bytes
) {
    std::vector<Bucket> buckets;
    std::size_t end = shape.layers();
    for (std::size_t layer = shape.layers(); layer-- > 0;) {
        const std::size_t bytes = (shape.offset(end) - shape.offset(layer)) * element_bytes;
        if (bytes < least_bytes && layer > 0) continue;
        buckets.push_back({layer, end});
        end = layer;
    }
    return buckets;
}

template<typename T>
GradientReduction<T>::GradientReduction(
    const dlrt::Communicator& world, const Shape& shape, std::span<T> gradients,
    std::size_t bucket_bytes
)
    : buckets_(plan_buckets(shape, sizeof(T), bucket_bytes)), is_done_(buckets_.size()) {
    for (const Bucket& bucket : buckets_) {
        const std::size_t begin = shape.offset(bucket.first_layer);
        const std::size_t count = shape.offset(bucket.end_layer) - begin;
        requests_.push_back(
            world.allreduce_init(elements_of(gradients.subspan(begin, count)), dlrt::Op::average)
        );
    }
}

template<typename T>
void GradientReduction<T>::layer_is_ready(std::size_t layer) {
    if (buckets_[begun_].first_layer == layer) {
        is_done_[begun_] = false;
        requests_[begun_].start();
        ++begun_;
        ++counts_.begun;
        if (layer > 0) ++counts_.begun_early;
    }
    advance();
}

template<typename T>
std::size_t GradientReduction<T>::advance() {
    for (std::size_t i = 0; i < begun_; ++i) {
        if (!is_done_[i]) is_done_[i] = requests_[i].test().has_value();
    }
    const auto begun_end = is_done_.begin() + static_cast<std::ptrdiff_t>(begun_);
    return static_cast<std::size_t>(std::count(is_done_.begin(), begun_end, true));
}

template<typename T>
void GradientReduction<T>::finish() {
    counts_.done_early += advance();
    dlrt::wait_all(requests_);
    begun_ = 0;
}

template class GradientReduction<double>;
template class GradientReduction<float>;
template class GradientReduction<Bfloat16>;
template class GradientReduction<Half>;

}  // namespace train
