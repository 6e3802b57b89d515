#pragma once
// An executor whose times are noisy as on a shared host: each mechanism takes what the test says, times what disturbs
// the run, times what disturbs the step.
#include <algorithm>
#include <cmath>
#include <map>
#include <memory>
#include <random>
#include <set>
#include <string>

#include "core/plan/run_samples.hpp"
#include "lanewise/io/error.hpp"
#include "lanewise/plan/executor.hpp"
#include "tests/verdict/fake_executor.hpp"

namespace lanewise::test {

struct Noise {
  double step = 0;                                 // standard deviation of each step's logarithm
  double drift = 0;                                // a slow wave over the runs, as a share
  std::map<std::string, double> of_transfer = {};  // standard deviation of these transfers' steps instead
};

class NoisyExecutor : public Executor {
 public:
  NoisyExecutor(Durations durations, Noise noise, unsigned seed = 1)
      : durations_(std::move(durations)), noise_(std::move(noise)), random_(seed) {}

  Trace run(Plan const& plan) override {
    constexpr int kRepetitions = 7;
    RunSamples samples(plan);
    for (int i = 0; i < kRepetitions; ++i) samples.add(once(plan));
    Trace trace;
    trace.mode = "hw";
    trace.machine = plan.machine;
    trace.fingerprint = plan.fingerprint;
    samples.summarise(trace);
    return trace;
  }
  std::unique_ptr<RepeatableRun> prepare(Plan const& plan) override {
    for (auto const& step : plan.steps)
      if (refuses.contains(step.way.mechanism)) throw PlanError("not here");
    return std::make_unique<Prepared>(*this, plan);
  }
  [[nodiscard]] bool is_exact() const override { return false; }

  std::set<Mechanism> refuses;
  int runs = 0;
  int most_prepared = 0;

 private:
  class Prepared : public RepeatableRun {
   public:
    Prepared(NoisyExecutor& executor, Plan const& plan) : executor_(executor), plan_(plan) {
      executor_.most_prepared = std::max(executor_.most_prepared, ++executor_.prepared_);
    }
    Prepared(Prepared const&) = delete;
    Prepared& operator=(Prepared const&) = delete;
    ~Prepared() override { --executor_.prepared_; }
    RunTimes once() override { return executor_.once(plan_); }

   private:
    NoisyExecutor& executor_;
    Plan const& plan_;
  };

  RunTimes once(Plan const& plan) {
    constexpr double kRunsOfWave = 40;
    auto const wave = 1 + noise_.drift * std::sin(runs++ / kRunsOfWave);
    RunTimes times;
    for (auto const& step : plan.steps) {
      auto const own = noise_.of_transfer.find(step.transfer);
      auto const deviation = own == noise_.of_transfer.end() ? noise_.step : own->second;
      auto const factor = std::exp(std::normal_distribution<double>(0, 1)(random_) * deviation) * wave;
      Seconds start{0};
      for (auto const before : step.after) start = std::max(start, times.steps[index(before)].end);
      auto const end = start + durations_.at(step.way.mechanism) * factor;
      times.steps.push_back({start, end});
      times.makespan = std::max(times.makespan, end);
    }
    return times;
  }

  Durations durations_;
  Noise noise_;
  std::mt19937 random_;
  int prepared_ = 0;
};

}  // namespace lanewise::test
