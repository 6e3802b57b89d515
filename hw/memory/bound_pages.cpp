#include "hw/memory/bound_pages.hpp"

#include <fmt/format.h>
#include <linux/mempolicy.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <utility>

#include "lanewise/io/error.hpp"
#include "lanewise/machine/machine.hpp"
#include "lanewise/units/text.hpp"

namespace lanewise::hw {
namespace {

// The size of the kernel's node mask in its largest configuration.
constexpr int kMaxNodes = 1024;
constexpr int kWordBits = 64;

// On a machine without NUMA (one node) there is nothing to bind.
bool one_node_only() { return !std::filesystem::exists("/sys/devices/system/node/node1"); }

void bind_to(void* data, std::size_t length, int node) {
  if (one_node_only() && node == 0) return;
  std::array<unsigned long, kMaxNodes / kWordBits> mask{};
  if (node < 0 || node >= kMaxNodes) throw DeviceError("mbind", EINVAL, fmt::format("there is no NUMA node {}", node));
  mask[static_cast<std::size_t>(node / kWordBits)] = 1UL << (node % kWordBits);
  if (syscall(SYS_mbind, data, length, MPOL_BIND, mask.data(), kMaxNodes, MPOL_MF_MOVE) != 0)
    throw DeviceError(fmt::format("mbind to NUMA node {}", node), errno, std::strerror(errno));
}

cpu_set_t set_of(std::vector<int> const& numbers) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  for (auto const core : numbers)
    if (core < CPU_SETSIZE) CPU_SET(static_cast<std::size_t>(core), &cores);
  return cores;
}

}  // namespace

std::size_t whole_pages(Bytes bytes) {
  auto const page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  return (static_cast<std::size_t>(bytes.value()) + page - 1) / page * page;
}

BoundPages::BoundPages(Bytes bytes, NumaIndex numa) : length_(whole_pages(std::max(bytes, Bytes(1)))) {
  auto* const mapped = mmap(nullptr, length_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED)
    throw DeviceError(fmt::format("{} of host memory", exact_text(bytes)), errno, std::strerror(errno));
  data_ = mapped;
  try {
    if (numa) bind_to(data_, length_, *numa);
  } catch (...) {
    munmap(data_, length_);
    throw;
  }
  std::memset(data_, 0, length_);
}

BoundPages::BoundPages(BoundPages&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)), length_(other.length_) {}

BoundPages::~BoundPages() {
  if (data_ != nullptr) munmap(data_, length_);
}

struct OnNumaNode::Before {
  cpu_set_t cores;
};

OnNumaNode::OnNumaNode(NumaIndex numa) {
  if (!numa) return;
  std::ifstream file(fmt::format("/sys/devices/system/node/node{}/cpulist", *numa));
  std::string list;
  std::getline(file, list);
  auto const wanted = set_of(numbers_of_list(list));
  if (CPU_COUNT(&wanted) == 0) return;
  Before before{};
  if (sched_getaffinity(0, sizeof before.cores, &before.cores) != 0) return;
  // A container may forbid those cores: then the thread stays where it is.
  if (sched_setaffinity(0, sizeof wanted, &wanted) != 0) return;
  before_ = new Before(before);
}

OnNumaNode::~OnNumaNode() {
  if (before_ == nullptr) return;
  sched_setaffinity(0, sizeof before_->cores, &before_->cores);
  delete before_;
}

}  // namespace lanewise::hw
