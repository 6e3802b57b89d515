// Fuzzes the reader and the writer of measurement files. The property: any text is a measurement or a lanewise::Error;
// a measurement can be compared with a machine, and reads back equal.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>

#include "core/accuracy/accuracy.hpp"
#include "core/view/accuracy_text.hpp"
#include "fuzz/reads_back.hpp"

namespace {

constexpr char kMachine[] =
    "{lanewise: machine/1, machine: m, parts: {gpu: {kind: gpu, link: gen4 x16, memory_bandwidth: 900 GB/s}}, "
    "sockets: [{socket: cpu0, part: unknown, pcie: ["
    "{gpu: gpu0, part: gpu}, {gpu: gpu1, part: gpu}, {nic: nic0, part: unknown}]}]}";

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace lanewise;
  static Catalogue catalogue({});
  static Machine const machine = catalogue.machine_from(SourceText::from_memory("machine.yaml", kMachine));
  std::string const text(data, data + size);
  try {
    auto const measurement = read_measurement(SourceText::from_memory("fuzz.yaml", text));
    check_reads_back(measurement);
    AccuracyContext const context{.machine = [](Measurement const&) { return machine; },
                                  .executor = [](Model const&) { return std::unique_ptr<Executor>(); },
                                  .catalogue = catalogue};
    static_cast<void>(accuracy_text({evaluate(measurement, context)}));
  } catch (Error const&) {  // any text may be wrong; only a lanewise::Error may say so
  }
  return 0;
}
