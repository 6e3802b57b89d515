#pragma once
// A plan prepared in host memory: memory, drives' files, and a thread for each step.
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "core/plan/dag_runner.hpp"
#include "hw/memory/memory.hpp"
#include "hw/program/run.hpp"
#include "hw/storage/drives.hpp"
#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise::hw {

class HostRun : public Run {
 public:
  // `plan` must outlive this. Throws as HostExecutor::run().
  HostRun(Plan const& plan, Model const& model, Drives& drives);
  HostRun(HostRun const&) = delete;
  HostRun& operator=(HostRun const&) = delete;
  ~HostRun() override;

  RunTimes once() override;
  [[nodiscard]] std::vector<std::string> mismatches() const override;

 private:
  struct RunStep {
    std::unique_ptr<NodeMemory> source, target;
    std::optional<DriveRange> from_drive, to_drive;
    std::function<void()> move;
    NumaIndex near;
    StepTimes times;
  };

  [[nodiscard]] RunStep build(std::size_t number, Model const& model, Drives& drives) const;
  void fill_sources();
  void make_ready(StepId id);  // with the mutex held
  void stop();
  void serve(std::size_t number);
  void end(std::size_t number, std::exception_ptr caught);

  std::vector<Step> const& steps_;
  PlanDrives drives_;
  std::vector<RunStep> run_steps_;
  std::mutex mutex_;
  std::deque<std::condition_variable> may_begin_;  // by step: woken alone, so that many steps cost no more each
  std::condition_variable all_ended_;
  // Guarded by the mutex.
  std::optional<DagRunner> runner_;
  std::vector<bool> ready_;  // by step: it may begin, and has not
  std::size_t under_way_ = 0;
  std::exception_ptr caught_;  // of the first step that failed: then no other begins
  bool is_stopping_ = false;
  std::vector<std::jthread> threads_;
};

}  // namespace lanewise::hw
