#include "hw/cuda/memory/shared_buffers.hpp"

#include <fmt/format.h>

#include "hw/cuda/runtime/cuda_error.hpp"
#include "lanewise/io/error.hpp"

namespace lanewise::hw {
namespace {

constexpr std::uint64_t kUnwantedSeed = 0x756e77616e746564ULL;  // of bytes that no step may deliver
constexpr std::int64_t kAddedElement = 4;                       // bytes of an element of an addition
constexpr std::int64_t kVector = 16;                            // bytes that kernels move at a time

Contribution contribution(Content const& content) { return {length(content.from) / 8, content.first, content.count}; }

}  // namespace

SharedBuffers::SharedBuffers(Plan const& plan, Devices const& devices)
    : steps_(plan.steps), plan_(plan.buffers), initial_(initial_contents(plan)), expected_(expected_contents(plan)) {
  refuse_cuts();
  for (auto const& buffer : plan.buffers) {
    bool const on_gpu = std::holds_alternative<PciId>(buffer.at);
    auto const near = on_gpu ? devices.of(buffer.at) : devices.all().front();
    buffers_.emplace_back(devices, buffer.at, buffer.bytes, on_gpu ? Pages::Device : Pages::Pinned, near);
  }
}

SharedBuffers::SharedBuffers(Plan const& plan, Devices const& devices, std::vector<void*> const& memory)
    : steps_(plan.steps), plan_(plan.buffers) {
  refuse_cuts();
  for (std::size_t i = 0; i < plan.buffers.size(); ++i) {
    auto const& buffer = plan.buffers[i];
    bool const on_gpu = std::holds_alternative<PciId>(buffer.at);
    auto const near = on_gpu ? devices.of(buffer.at) : devices.all().front();
    buffers_.push_back(
        DeviceBuffer::view(devices, memory[i], buffer.bytes, on_gpu ? Pages::Device : Pages::Pinned, near));
  }
}

void SharedBuffers::refuse_cuts() const {
  for (auto const& step : steps_) {
    if (step.reduces && step.bytes.value() % kAddedElement != 0)
      throw PlanError(fmt::format("step '{}': additions are of {} bytes each; {} bytes are not whole ones",
                                  step.transfer, kAddedElement, step.bytes.value()));
    for (auto const& region : {step.reads, step.writes})
      if (region && region->offset.value() % kVector != 0)
        throw PlanError(fmt::format("step '{}': on GPUs all cuts are at multiples of {} bytes, not at {}",
                                    step.transfer, kVector, region->offset.value()));
  }
}

DeviceBuffer SharedBuffers::window(Region const& region, Bytes bytes) const {
  return buffers_[index(region.buffer)].window(region.offset, bytes);
}

void SharedBuffers::fill() {
  for (std::size_t i = 0; i < buffers_.size(); ++i) {
    auto& buffer = buffers_[i];
    buffer.fill(kUnwantedSeed);
    DeviceGuard const guard(buffer.device());
    for (auto const& content : initial_[i])
      launch_fill_sum(static_cast<std::uint8_t*>(buffer.data()) + content.at.value(), length(content.bytes),
                      contribution(content), buffer.shape(), nullptr);
    LANEWISE_CUDA(cudaStreamSynchronize(nullptr));
  }
}

std::optional<Mismatch> SharedBuffers::mismatch(std::size_t i) const {
  auto const& buffer = buffers_[i];
  auto const* const memory = static_cast<std::uint8_t const*>(buffer.data());
  DeviceGuard const guard(buffer.device());
  auto const found = allocate_on(buffer.device(), Bytes(8));
  check_cuda(cudaMemsetAsync(found.get(), 0xff, 8, nullptr), "cudaMemsetAsync");
  for (auto const& content : expected_[i])
    launch_compare_sum(memory + content.at.value(), length(content.bytes), contribution(content), length(content.at),
                       static_cast<unsigned long long*>(found.get()), buffer.shape(), nullptr);
  std::uint64_t first = 0;
  check_cuda(cudaMemcpy(&first, found.get(), 8, cudaMemcpyDeviceToHost), "cudaMemcpy");
  if (first == kNoMismatch) return std::nullopt;
  Mismatch wrong{first, 0, 0};
  check_cuda(cudaMemcpy(&wrong.got, memory + first, 1, cudaMemcpyDeviceToHost), "cudaMemcpy");
  for (auto const& content : expected_[i])
    if (first >= length(content.at) && first < length(content.at + content.bytes)) {
      auto const within = first - length(content.at);
      wrong.expected = byte_of(contributed_word(contribution(content), within / 8), within);
    }
  return wrong;
}

std::size_t SharedBuffers::last_writer(std::size_t buffer, std::uint64_t offset) const {
  std::size_t last = 0;
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    auto const& region = steps_[i].writes;
    if (region && index(region->buffer) == buffer && offset >= length(region->offset) &&
        offset < length(region->offset + steps_[i].bytes))
      last = i;
  }
  return last;
}

std::vector<std::string> SharedBuffers::mismatches() const {
  std::vector<std::string> by_step(steps_.size());
  for (std::size_t i = 0; i < buffers_.size(); ++i)
    if (auto const wrong = mismatch(i))
      by_step.at(last_writer(i, wrong->offset)) = fmt::format("{}: {}", plan_[i].name, text_of(*wrong));
  return by_step;
}

}  // namespace lanewise::hw
