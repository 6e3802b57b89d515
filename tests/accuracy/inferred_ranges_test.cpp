// Machines whose products nobody names: every bundled machine of a published measurement, seen through the table that
// `nvidia-smi topo -m` would print of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <memory>

#include "core/accuracy/accuracy.hpp"
#include "core/interop/machines/topo_m.hpp"
#include "core/view/machine/topo.hpp"
#include "lanewise/sim/simgrid_executor.hpp"

namespace lanewise {
namespace {

struct Count {
  int held = 0;
  int all = 0;
  [[nodiscard]] double share() const { return static_cast<double>(held) / all; }
};

bool has_only_gpus_of_nvidia(Machine const& machine) {
  auto const gpus = machine.all(PciKind::Gpu);
  return !gpus.empty() && std::all_of(gpus.begin(), gpus.end(), [&](PciId gpu) {
    auto const* part = machine.part_of(gpu);
    return part == nullptr || part->gpu.vendor == "nvidia";
  });
}

bool names_a_drive(Measurement const& measurement, Machine const& machine) {
  auto const is_drive = [&](std::string const& name) {
    auto const id = machine.find_function(name);
    return id && machine.at(*id).kind == PciKind::Nvme;
  };
  for (auto const& series : measurement.series)
    for (auto const& point : series.points)
      for (auto const& flow : point.flows)
        if (is_drive(flow.from) || is_drive(flow.to)) return true;
  return false;
}

class InferredRanges : public testing::Test {
 protected:
  // Counts the figures of every measurement that has a single machine with NVIDIA GPUs, but those of drives: neither
  // other GPUs nor drives are in the table.
  void SetUp() override {
    for (auto const& entry : std::filesystem::directory_iterator(LANEWISE_SOURCE_DIR "/measurements/published")) {
      auto measurement = read_measurement(SourceText::load(entry.path()));
      auto const machine = catalogue_.machine(measurement.machine);
      if (machine.hosts.size() > 1 || !has_only_gpus_of_nvidia(machine) || names_a_drive(measurement, machine))
        continue;
      // What a library decides depends on the generation of the GPUs, which the table does not say.
      std::erase_if(measurement.series, [](MeasuredSeries const& series) { return series.collective.has_value(); });
      measurement.withheld.clear();  // figures of parts that the inferred machine does not have
      auto const table = SourceText::from_memory(measurement.machine, topo_matrix(machine));
      count(evaluate(measurement,
                     {.machine = [&](Measurement const&) { return read_topo_m(table, {}, catalogue_); },
                      .executor = [](Model const& model) { return std::make_unique<sim::SimGridExecutor>(model); },
                      .catalogue = catalogue_}));
    }
  }

  Catalogue catalogue_{{LANEWISE_SOURCE_DIR "/topologies"}};
  Count trusted_, all_, unpredicted_;

 private:
  void count(MeasurementResult const& result) {
    for (auto const& point : result.points) {
      ++unpredicted_.all;
      unpredicted_.held += point.predicted ? 0 : 1;
      if (!point.predicted) continue;
      bool const held = point.interval.low <= point.measured && point.measured <= point.interval.high;
      for (auto* of : {&all_, point.in_gate() ? &trusted_ : nullptr}) {
        if (of == nullptr) continue;
        ++of->all;
        of->held += held ? 1 : 0;
      }
    }
  }
};

// The spread of a generic part promises 90 % of the products; doubtful figures are counted too.
TEST_F(InferredRanges, HoldWhatWasMeasured) {
  EXPECT_GE(all_.all, 3000);
  EXPECT_GE(all_.share(), 0.9) << all_.held << " of " << all_.all;
  EXPECT_GE(trusted_.share(), 0.9) << trusted_.held << " of " << trusted_.all;
  EXPECT_LE(unpredicted_.share(), 0.02) << unpredicted_.held << " of " << unpredicted_.all;
}

}  // namespace
}  // namespace lanewise
