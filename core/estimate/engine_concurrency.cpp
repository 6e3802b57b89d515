#include "core/estimate/engine_concurrency.hpp"

#include <algorithm>
#include <functional>

#include "core/rules/conditions.hpp"
#include "core/units/bits.hpp"

namespace lanewise {
namespace {

constexpr std::size_t kMaxOrdered = 4096;

}  // namespace

EngineConcurrency::Gpus EngineConcurrency::gpus_of(Step const& step) const {
  Gpus gpus;
  for (auto const& place : {step.from, step.to})
    if (auto const gpu = gpu_at(model_.machine(), place);
        gpu && std::find(gpus.begin(), gpus.end(), *gpu) == gpus.end())
      gpus.push_back(*gpu);
  for (auto const& relay : {step.way.relay, step.way.relay_to})
    if (relay) gpus.push_back(*relay);
  return gpus;
}

EngineConcurrency::Purpose EngineConcurrency::purpose_of(Step const& step, PciId gpu, int slots) const {
  if (slots < 2) return Purpose::Any;
  auto const from = gpu_at(model_.machine(), step.from);
  auto const to = gpu_at(model_.machine(), step.to);
  constexpr int kOneEachWay = 2;
  if (slots > kOneEachWay) {
    if (from == to) return Purpose::Within;
    bool const through_host =
        step.way.mechanism == Mechanism::HostStaged || step.way.mechanism == Mechanism::SharedHost;
    if (from && to && !through_host) return Purpose::Peers;
  }
  return to == gpu && from != gpu ? Purpose::In : Purpose::Out;
}

EngineConcurrency::Works EngineConcurrency::works_of(std::size_t step, PciId gpu) const {
  auto const& resources = model_.resources();
  Works works;
  for (auto const engine : demands_[step].engines)
    if (engine == resources.copy_engines(gpu) || engine == resources.peer_copy_engines(gpu))
      works.push_back({step, engine, purpose_of(steps_[step], gpu, resources.at(engine).slots)});
  return works;
}

void EngineConcurrency::look() {
  looked_ = true;
  of_gpu_.resize(model_.machine().functions.size());
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    if (demands_[i].engines.empty()) continue;
    for (auto const gpu : gpus_of(steps_[i]))
      for (auto const& work : works_of(i, gpu)) of_gpu_[index(gpu)].push_back(work);
  }
  if (std::any_of(steps_.begin(), steps_.end(), [](Step const& step) { return !step.after.empty(); }))
    find_what_is_before();
}

void EngineConcurrency::find_what_is_before() {
  auto const count = steps_.size();
  if (count > kMaxOrdered) return;
  before_.assign(count, Bits(words_for(count), 0));
  std::vector<std::vector<std::size_t>> next(count);
  std::vector<std::size_t> missing(count);
  std::vector<std::size_t> free;
  for (std::size_t i = 0; i < count; ++i) {
    missing[i] = steps_[i].after.size();
    if (missing[i] == 0) free.push_back(i);
    for (auto const before : steps_[i].after) next[index(before)].push_back(i);
  }
  while (!free.empty()) {
    auto const i = free.back();
    free.pop_back();
    for (auto const following : next[i]) {
      auto& before = before_[following];
      std::transform(before.begin(), before.end(), before_[i].begin(), before.begin(), std::bit_or<>());
      set_bit(before, i);
      if (--missing[following] == 0) free.push_back(following);
    }
  }
}

bool EngineConcurrency::ordered(std::size_t a, std::size_t b) const {
  if (before_.empty()) return false;
  return has_bit(before_[b], a) || has_bit(before_[a], b);
}

bool EngineConcurrency::beside(std::size_t step) {
  if (!looked_) look();
  for (auto const gpu : gpus_of(steps_[step]))
    for (auto const& own : works_of(step, gpu))
      for (auto const& other : of_gpu_[index(gpu)])
        if ((other.engine != own.engine || other.purpose != own.purpose) && other.step != step &&
            !ordered(step, other.step))
          return true;
  return false;
}

}  // namespace lanewise
