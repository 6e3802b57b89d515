#include "tests/calibration/synthetic.hpp"

#include <cmath>

#include "core/calibration/makespan_together.hpp"
#include "core/measurement/measured_transfer.hpp"
#include "core/rules/conditions.hpp"

namespace lanewise::test {
namespace {

constexpr double kNoise = 0.01;
constexpr int kOneOutlierIn = 100;

CalibrationTarget target_of(Machine const& machine, std::string const& name, std::string const& key) {
  auto const id = part_at(machine, name);
  for (auto const& part : machine.parts)
    for (auto const& figure : adjustable_figures())
      if (figure.kind == part.kind && figure.key == key && (id ? &machine.at(*id) == &part : part.name == name))
        return {&figure, part.name, id ? name : ""};
  throw InputError("no figure " + name + " " + key);
}

class Bench {
 public:
  Bench(Machine const& machine, std::uint32_t seed) : model_(machine), planner_(model_), random_(seed) {}

  Measurement measured() {
    auto const& machine = model_.machine();
    Measurement made;
    made.name = "synthetic";
    made.machine = machine.name;
    std::vector<MeasuredFlow> pairs, same, down, up;
    for (auto const a : machine.all(PciKind::Gpu)) {
      auto const& name = machine.at(a).name;
      for (auto const b : machine.all(PciKind::Gpu))
        (a == b ? same : pairs).push_back({name, machine.at(b).name, Bytes(0)});
      for (auto const& numa : machine.numa_nodes) {
        down.push_back({numa.name, name, Bytes(0)});
        up.push_back({name, numa.name, Bytes(0)});
      }
    }
    for (auto const mechanism : {Mechanism::Nvlink, Mechanism::PcieP2p}) {
      auto const by = std::string(to_string(mechanism));
      auto copies = series_of(by + "-copies", mechanism);
      add(made, copies, pairs);
      auto both = copies;
      both.name += "-both-ways";
      add_both_ways(made, both, pairs);
      copies.name += "-pulled";
      copies.pulled = true;
      add(made, copies, pairs);
      for (auto const op : {Op::Write, Op::Read}) {
        auto kernels = series_of(by + "-" + std::string(to_string(op)), mechanism, op);
        add(made, kernels, pairs);
        kernels.name += "-latency";
        kernels.quantity = MeasuredQuantity::Latency;
        add(made, kernels, pairs, {Bytes(4)});
      }
    }
    auto staged = series_of("staged", Mechanism::HostStaged);
    staged.by_driver = true;
    add(made, staged, pairs);
    staged.name += "-both-ways";
    add_both_ways(made, staged, pairs);
    add(made, series_of("local", Mechanism::Local), same);
    add(made, series_of("to-gpu", Mechanism::HostDma), down);
    add(made, series_of("to-host", Mechanism::HostDma), up);
    add_both_ways(made, series_of("host-both-ways", Mechanism::HostDma), down);
    return made;
  }

 private:
  static std::vector<Bytes> sizes() {
    std::vector<Bytes> all;
    for (auto const bytes : {4LL, 4LL << 10, 64LL << 10, 1LL << 20, 16LL << 20, 256LL << 20, 1LL << 30})
      all.emplace_back(bytes);
    return all;
  }

  std::optional<Way> way_of(Request const& request) const {
    try {
      auto const choice = planner_.choose(request);
      return choice.chosen ? std::optional(choice.evaluated[*choice.chosen].way) : std::nullopt;
    } catch (PlanError const&) {
      return std::nullopt;
    }
  }

  double noisy(double value) {
    value *= std::exp(normal_(random_) * kNoise);
    if (std::uniform_int_distribution<int>(1, kOneOutlierIn)(random_) > 1) return value;
    return value * (std::uniform_int_distribution<int>(0, 1)(random_) == 0 ? 0.4 : 2.5);
  }

  void add(Measurement& made, MeasuredSeries series, std::vector<MeasuredFlow> const& flows) {
    add(made, std::move(series), flows, sizes());
  }
  void add(Measurement& made, MeasuredSeries series, std::vector<MeasuredFlow> const& flows,
           std::vector<Bytes> const& sizes) {
    for (auto const& flow : flows)
      for (auto const bytes : sizes) {
        auto point = point_of({flow}, bytes);
        auto const request = request_of(model_.machine(), series, point, flow);
        auto const way = way_of(request);
        if (!way) continue;
        point.value = noisy(predicted_alone(model_, series, request, *way).value());
        series.points.push_back(point);
      }
    if (!series.points.empty()) made.series.push_back(std::move(series));
  }

  void add_both_ways(Measurement& made, MeasuredSeries series, std::vector<MeasuredFlow> const& flows) {
    series.quantity = MeasuredQuantity::Makespan;
    for (auto const& flow : flows)
      for (auto const bytes : {Bytes(16 << 20), Bytes(256 << 20)}) {
        if (flow.from.starts_with("gpu") && flow.from > flow.to) continue;
        auto point = point_of({flow, {flow.to, flow.from, Bytes(0)}}, bytes);
        std::vector<Released> released;
        for (auto const& one : point.flows) {
          auto const request = request_of(model_.machine(), series, point, one);
          if (auto const way = way_of(request))
            released.push_back({model_.lower(request.from, request.to, bytes, request.op, *way), bytes});
        }
        if (released.size() < 2) continue;
        point.value = noisy(makespan_together(model_, released).value().value());
        series.points.push_back(point);
      }
    if (!series.points.empty()) made.series.push_back(std::move(series));
  }

  Model model_;
  Planner planner_;
  std::mt19937 random_;
  std::normal_distribution<double> normal_;
};

}  // namespace

Machine with_hidden(Machine machine, std::vector<Hidden> const& hidden) {
  for (auto const& one : hidden) {
    auto const target = target_of(machine, one.name, one.key);
    target.set(machine, *target.value(machine) * one.factor);
  }
  return machine;
}

double figure_of(Machine const& machine, std::string const& name, std::string const& key) {
  return *target_of(machine, name, key).value(machine);
}

MeasuredSeries series_of(std::string name, Mechanism mechanism, Op op) {
  MeasuredSeries series;
  series.name = std::move(name);
  series.mechanism = mechanism;
  series.op = op;
  return series;
}

MeasuredPoint point_of(std::vector<MeasuredFlow> flows, Bytes bytes, double value) {
  MeasuredPoint point;
  point.flows = std::move(flows);
  point.bytes = bytes;
  point.value = value;
  return point;
}

Measurement singles_of(Machine const& machine, std::uint32_t seed) { return Bench(machine, seed).measured(); }

std::vector<Pattern> patterns_of(Machine const& machine) {
  std::vector<std::string> gpus;
  for (auto const id : machine.all(PciKind::Gpu)) gpus.push_back(machine.at(id).name);
  auto const near = [&](std::string const& gpu) {
    return machine.at(machine.numa_of(*machine.find_function(gpu))).name;
  };
  std::vector<Pattern> made{{"fan-in", {}},         {"fan-out", {}}, {"all-to-host", {}}, {"all-from-host", {}},
                            {"host-both-ways", {}}, {"mixed", {}},   {"all-to-all", {}}};
  for (std::size_t i = 0; i < gpus.size(); ++i) {
    if (i > 0) made[0].flows.push_back({gpus[i], gpus[0], Bytes(0)});
    if (i > 0) made[1].flows.push_back({gpus[0], gpus[i], Bytes(0)});
    made[2].flows.push_back({gpus[i], near(gpus[i]), Bytes(0)});
    made[3].flows.push_back({near(gpus[i]), gpus[i], Bytes(0)});
    made[4].flows.push_back({gpus[i], near(gpus[i]), Bytes(0)});
    made[4].flows.push_back({near(gpus[i]), gpus[i], Bytes(0)});
    made[5].flows.push_back(i % 2 == 0 ? MeasuredFlow{gpus[i], gpus[(i + 1) % gpus.size()]}
                                       : MeasuredFlow{near(gpus[i]), gpus[i]});
    for (std::size_t k = 0; k < gpus.size(); ++k)
      if (i != k) made[6].flows.push_back({gpus[i], gpus[k], Bytes(0)});
  }
  for (std::size_t shift = 1; shift < gpus.size(); ++shift) {
    Pattern pattern{"shift-" + std::to_string(shift), {}};
    for (std::size_t i = 0; i < gpus.size(); ++i)
      pattern.flows.push_back({gpus[i], gpus[(i + shift) % gpus.size()], Bytes(0)});
    made.push_back(std::move(pattern));
  }
  return made;
}

}  // namespace lanewise::test
