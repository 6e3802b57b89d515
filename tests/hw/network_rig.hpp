#pragma once
// All processes of a network plan, each in a thread of a test, over a network in memory.
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "hw/memory/pattern.hpp"
#include "lanewise/io/error.hpp"
#include "tests/hw/fake_network.hpp"

namespace lanewise::hw::test {

// Far longer than a busy machine keeps a thread waiting, and short enough to wait for.
constexpr Seconds kStall{2};

// Copies are slow: each has ended only when it is asked for the second time.
class SlowCopier : public Copier {
 public:
  explicit SlowCopier(std::unique_ptr<Copier> copier) : copier_(std::move(copier)) {}
  void copy_out(std::byte* host, std::size_t offset, std::size_t bytes) override {
    copier_->copy_out(host, offset, bytes);
  }
  void copy_in(std::byte const* host, std::size_t offset, std::size_t bytes) override {
    copier_->copy_in(host, offset, bytes);
  }
  void add(std::byte const* source, std::size_t offset, std::size_t bytes) override {
    copier_->add(source, offset, bytes);
  }
  [[nodiscard]] std::int64_t completed() override {
    if (seen_ < copier_->completed() && ++asked_ % 2 == 0) ++seen_;
    return seen_;
  }

 private:
  std::unique_ptr<Copier> copier_;
  std::int64_t seen_ = 0;
  int asked_ = 0;
};

// Stands for memory of a GPU that no NIC reaches.
class SlowMemory : public NodeMemory {
 public:
  using NodeMemory::NodeMemory;
  [[nodiscard]] std::unique_ptr<Copier> copier() override { return std::make_unique<SlowCopier>(NodeMemory::copier()); }
};

// All processes of a plan, each in a thread of this process.
class Rig {
 public:
  Rig(NetworkPlan plan, std::vector<std::vector<int>> const& ranks)
      : plan_(std::move(plan)), layout_(layout_of(plan_, ranks)), network_(layout_) {
    for (auto const& of_node : ranks) processes_ += static_cast<int>(of_node.size());
    for (std::size_t i = 0; i < plan_.steps.size(); ++i) {
      auto const& step = plan_.steps[i];
      sources_.push_back(std::make_unique<SlowMemory>(Bytes(step.bytes), std::nullopt));
      targets_.push_back(std::make_unique<SlowMemory>(Bytes(step.bytes), std::nullopt));
      rings_.push_back(
          std::make_unique<NodeMemory>(Bytes(2 * std::max<std::int64_t>(1, step.slots * step.chunk)), std::nullopt));
      sources_.back()->fill(seed_of(i));
    }
    for (auto const& buffer : plan_.buffers)
      buffers_.push_back(std::make_unique<SlowMemory>(Bytes(buffer.bytes), std::nullopt));
  }
  explicit Rig(NetworkPlan plan) : Rig(std::move(plan), {{0}, {1}}) {}

  FakeNetwork& network() { return network_; }
  [[nodiscard]] Layout const& layout() const { return layout_; }
  void set_depth(QueueDepth depth) { depth_ = depth; }

  // Runs `times` times and keeps what each process threw.
  void run(int times = 1) {
    errors_.assign(static_cast<std::size_t>(processes_), "");
    faults_.clear();
    spans_.assign(plan_.steps.size(), {});
    std::vector<std::unique_ptr<FakeGroup>> groups;
    std::vector<std::unique_ptr<FakeTransport>> transport;
    std::vector<std::unique_ptr<NetworkRun>> runs;
    for (int rank = 0; rank < processes_; ++rank) {
      groups.push_back(std::make_unique<FakeGroup>(rank, processes_, failed_));
      transport.push_back(std::make_unique<FakeTransport>(network_, rank, depth_));
      runs.push_back(std::make_unique<NetworkRun>(plan_, layout_, parts(rank), *transport.back(), *groups.back(),
                                                  nullptr, kStall));
    }
    for (int i = 0; i < times; ++i) {
      for (auto const& target : targets_) target->clear();
      for (std::size_t b = 0; b < buffers_.size(); ++b) {
        buffers_[b]->clear();
        for (auto const& content : plan_.buffers[b].before) buffers_[b]->fill(content);
      }
      for (auto const& run : runs) run->prepare();
      auto const release = monotonic_now();
      std::vector<std::jthread> threads;
      for (std::size_t rank = 0; rank < runs.size(); ++rank)
        threads.emplace_back([&, rank] {
          try {
            auto const spans = runs[rank]->once(release);
            for (std::size_t step = 0; step < spans.size(); ++step)
              if (layout_.steps[step].driver == static_cast<int>(rank)) spans_[step] = spans[step];
          } catch (Error const& error) {
            errors_[rank] = error.what();
            groups[rank]->announce_failure();
          }
        });
    }
    for (auto const& run : runs) faults_.insert(faults_.end(), run->faults().begin(), run->faults().end());
  }

  // What is wrong with the bytes that arrived: "step 3: ...", "node0/numa0.data: ...".
  [[nodiscard]] std::vector<std::string> wrong_bytes() const {
    std::vector<std::string> found;
    for (std::size_t i = 0; i < targets_.size(); ++i) {
      if (plan_.steps[i].reads.buffer >= 0) continue;
      if (auto const wrong = targets_[i]->mismatch(seed_of(i)))
        found.push_back("step " + std::to_string(i) + ": " + text_of(*wrong));
    }
    for (std::size_t b = 0; b < buffers_.size(); ++b)
      for (auto const& content : plan_.buffers[b].after)
        if (auto const wrong = buffers_[b]->mismatch(content))
          found.push_back(plan_.buffers[b].name + ": " + text_of(*wrong));
    return found;
  }
  void expect_all_arrived() const {
    for (auto const& error : errors_) EXPECT_EQ(error, "");
    for (auto const& wrong : wrong_bytes()) ADD_FAILURE() << wrong;
  }
  [[nodiscard]] std::vector<std::string> const& errors() const { return errors_; }
  [[nodiscard]] std::vector<std::string> const& faults() const { return faults_; }
  [[nodiscard]] StepSpan span(std::size_t step) const { return spans_[step]; }

 private:
  [[nodiscard]] std::vector<StepPart> parts(int rank) {
    std::vector<StepPart> parts(plan_.steps.size());
    for (std::size_t i = 0; i < parts.size(); ++i) {
      auto const& step = plan_.steps[i];
      auto const& layout_of_step = layout_.steps[i];
      StepEnd source{sources_[i].get(), 0, nullptr};
      StepEnd target{targets_[i].get(), 0, nullptr};
      if (step.reads.buffer >= 0) {
        source = {buffers_[static_cast<std::size_t>(step.reads.buffer)].get(),
                  static_cast<std::size_t>(step.reads.offset), nullptr};
        target = {buffers_[static_cast<std::size_t>(step.writes.buffer)].get(),
                  static_cast<std::size_t>(step.writes.offset), nullptr};
      }
      auto* const ring = rings_[i]->data();
      auto* const other_ring = ring + step.slots * step.chunk;
      bool const is_fetched_sum = step.reduces && step.verb == Verb::Read;
      auto* const from = step.ring_from.empty() ? source.data() : ring;
      auto* const to = is_fetched_sum ? targets_[i]->data() : step.ring_to.empty() ? target.data() : other_ring;
      auto const with_copier = [&](StepEnd end) {
        end.copier = copiers_.emplace_back(end.memory->copier()).get();
        return end;
      };
      if (layout_of_step.source == rank) {
        parts[i].source = step.ring_from.empty() ? source : with_copier(source);
        if (!step.ring_from.empty()) parts[i].ring = ring;
      }
      if (layout_of_step.target == rank) {
        parts[i].target = step.ring_to.empty() && !is_fetched_sum ? target : with_copier(target);
        if (!step.ring_to.empty()) parts[i].ring = other_ring;
        if (is_fetched_sum) parts[i].landing = targets_[i].get();
      }
      auto* const local = layout_of_step.source == rank ? from : to;
      auto* const remote = layout_of_step.source == rank ? to : from;
      for (std::size_t k = 0; k < layout_of_step.links.size(); ++k)
        parts[i].endpoints.push_back({local, 1, reinterpret_cast<std::uint64_t>(remote), 1});
    }
    return parts;
  }

  NetworkPlan plan_;
  Layout layout_;
  FakeNetwork network_;
  QueueDepth depth_;
  int processes_ = 0;
  std::atomic<bool> failed_ = false;
  std::vector<std::unique_ptr<SlowMemory>> sources_, targets_, buffers_;
  std::vector<std::unique_ptr<NodeMemory>> rings_;
  std::vector<std::unique_ptr<Copier>> copiers_;
  std::vector<std::string> errors_, faults_;
  std::vector<StepSpan> spans_;
};

}  // namespace lanewise::hw::test
