#include "hw/program/program_image.hpp"

#include <algorithm>
#include <cstring>
#include <set>

namespace lanewise::hw {
namespace {

class ImageBuilder {
 public:
  ImageBuilder(DevicePrograms const& programs, std::vector<Buffer> const& buffers, std::size_t gpu,
               Addresses const& addresses)
      : programs_(programs), buffers_(buffers), gpu_(gpu), where_(addresses), consumers_(programs.tasks.size()) {
    for (std::size_t i = 0; i < programs.tasks.size(); ++i) {
      auto const& task = programs.tasks[i];
      for (auto const before : task.waits) consumers_[before].insert(task.gpu);
      for (auto const other : programs.reached_by(task, buffers)) consumers_[i].insert(other);
    }
  }

  ProgramImage pack() {
    for (std::size_t i = 0; i < programs_.tasks.size(); ++i) {
      auto const reached = programs_.reached_by(programs_.tasks[i], buffers_);
      if (programs_.tasks[i].gpu == gpu_)
        add_task(i, reached);
      else if (std::find(reached.begin(), reached.end(), gpu_) != reached.end())
        add_visitor(i);
    }
    ProgramHeader header{append_range(leaves_, flags_), static_cast<std::uint32_t>(tasks_.size()),
                         static_cast<std::uint32_t>(addresses_.size())};
    ProgramImage image;
    auto const size = sizeof header + tasks_.size() * sizeof(PackedTask) + addresses_.size() * sizeof(std::uint64_t) +
                      flags_.size() * sizeof(std::uint32_t);
    image.bytes.resize((size + 15) / 16 * 16);
    auto* at = image.bytes.data();
    at = put(at, &header, sizeof header);
    at = put(at, tasks_.data(), tasks_.size() * sizeof(PackedTask));
    at = put(at, addresses_.data(), addresses_.size() * sizeof(std::uint64_t));
    put(at, flags_.data(), flags_.size() * sizeof(std::uint32_t));
    for (auto const visitor : visitors_) image.arrivals.push_back(flag(visitor, programs_.tasks.size() + gpu_));
    return image;
  }

 private:
  [[nodiscard]] std::uint64_t flag(std::size_t on, std::size_t number) const {
    return where_.flags.at(on) + number * sizeof(std::uint32_t);
  }
  [[nodiscard]] std::uint64_t address(Region const& region) const {
    return where_.buffers.at(index(region.buffer)) + static_cast<std::uint64_t>(region.offset.value());
  }
  template <class Value>
  static Range append_range(std::vector<Value> const& more, std::vector<Value>& list) {
    Range const range{static_cast<std::uint32_t>(list.size()), static_cast<std::uint32_t>(more.size())};
    list.insert(list.end(), more.begin(), more.end());
    return range;
  }
  static std::byte* put(std::byte* at, void const* from, std::size_t count) {
    if (count > 0) std::memcpy(at, from, count);
    return at + count;
  }

  void add_task(std::size_t id, std::vector<std::size_t> const& reached) {
    auto const& task = programs_.tasks[id];
    std::vector<std::uint64_t> sources;
    for (auto const& source : task.sources) sources.push_back(address(source));
    std::vector<std::uint64_t> signals;
    for (auto const consumer : consumers_[id]) signals.push_back(flag(consumer, id));
    std::vector<std::uint32_t> waits(task.waits.begin(), task.waits.end());
    for (auto const other : reached) waits.push_back(static_cast<std::uint32_t>(programs_.tasks.size() + other));
    PackedTask packed;
    packed.target = address(task.target);
    packed.bytes = static_cast<std::uint64_t>(task.bytes.value());
    packed.sources = append_range(sources, addresses_);
    packed.signals = append_range(signals, addresses_);
    packed.waits = append_range(waits, flags_);
    packed.first_block = task.first_block;
    packed.blocks = task.blocks;
    packed.id = static_cast<std::uint32_t>(id);
    tasks_.push_back(packed);
  }

  // A task of another GPU in this GPU's memory: it may begin once this GPU's kernel has begun, and that kernel ends
  // after it.
  void add_visitor(std::size_t id) {
    leaves_.push_back(static_cast<std::uint32_t>(id));
    visitors_.insert(programs_.tasks[id].gpu);
  }

  DevicePrograms const& programs_;
  std::vector<Buffer> const& buffers_;
  std::size_t gpu_;
  Addresses const& where_;
  std::vector<std::set<std::size_t>> consumers_;  // GPUs on which a task's flag is waited for
  std::vector<PackedTask> tasks_;
  std::vector<std::uint64_t> addresses_;
  std::vector<std::uint32_t> flags_;
  std::vector<std::uint32_t> leaves_;
  std::set<std::size_t> visitors_;
};

}  // namespace

std::size_t flag_count(DevicePrograms const& programs) { return programs.tasks.size() + programs.gpus.size(); }

ProgramImage image_of(DevicePrograms const& programs, std::vector<Buffer> const& buffers, std::size_t gpu,
                      Addresses const& addresses) {
  return ImageBuilder(programs, buffers, gpu, addresses).pack();
}

}  // namespace lanewise::hw
