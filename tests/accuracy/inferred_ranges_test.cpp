// Machines whose products nobody names: every bundled machine of a published measurement, seen through the table that
// `nvidia-smi topo -m` would print of it.
#include <gtest/gtest.h>

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

class InferredRanges : public testing::Test {
 protected:
  // Counts the figures of every measurement that has a single machine with GPUs.
  void SetUp() override {
    for (auto const& entry : std::filesystem::directory_iterator(LANEWISE_SOURCE_DIR "/measurements/published")) {
      auto measurement = read_measurement(SourceText::load(entry.path()));
      auto const machine = catalogue_.machine(measurement.machine);
      if (machine.hosts.size() > 1 || machine.all(PciKind::Gpu).empty()) continue;
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
