// p2pdma_oracle LIBRARY: compares our rules of peer access with Linux's p2pdma decision, which p2pdma.sh compiles into
// LIBRARY: for every pair of every bundled machine under many ACS settings, and for random trees. Fails where they
// contradict one another, and where nothing was compared.
#include <dlfcn.h>
#include <fmt/format.h>

#include <exception>

#include "lanewise/machine/catalogue.hpp"
#include "tests/oracle/linux_pci.hpp"
#include "tests/oracle/p2pdma_comparison.hpp"
#include "tests/oracle/random_tree.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise::oracle {
namespace {

constexpr int kRandomTrees = 5'000;
constexpr std::uint32_t kSeed = 22;

// Which ports get an ACS control.
enum class Ports : std::uint8_t { All, BelowRootPorts, BelowSwitches };

void set_acs(Machine& machine, AcsControl control, Ports ports) {
  for (auto& host : machine.hosts) host.settings.acs = AcsControl::off();
  for (auto& function : machine.functions) {
    if (!function.parent) continue;
    bool const below_root_port = machine.at(*function.parent).kind == PciKind::RootPort;
    bool const wanted = ports == Ports::All || below_root_port == (ports == Ports::BelowRootPorts);
    function.acs = wanted ? control : AcsControl::off();
  }
}

void compare_bundled(P2pdmaComparison& comparison, Machine const& bundled, std::string const& name) {
  auto machine = bundled;
  for (auto& host : machine.hosts) {
    host.software.dma_buf = true;  // with nvidia-peermem beside it nobody asks p2pdma
    host.software.peermem = false;
  }
  for (auto const iommu : {IommuMode::Off, IommuMode::Passthrough, IommuMode::Lazy}) {
    for (auto& host : machine.hosts) host.settings.iommu = iommu;
    auto const named = [&](std::string const& acs) {
      return fmt::format("{} (acs {}, iommu {})", name, acs, to_string(iommu));
    };
    comparison.compare(machine, named("of the file"));
    auto changed = machine;
    for (auto const& control :
         {AcsControl::off(), AcsControl::on(), AcsControl::unknown(), AcsControl{true, AcsControl::kRequestRedirect},
          AcsControl{true, AcsControl::kCompletionRedirect}, AcsControl{true, AcsControl::kEgressControl},
          AcsControl{true, AcsControl::kSourceValidation | AcsControl::kUpstreamForwarding}})
      for (auto const ports : {Ports::All, Ports::BelowRootPorts, Ports::BelowSwitches}) {
        set_acs(changed, control, ports);
        comparison.compare(changed, named(to_string(control)));
      }
  }
}

void print(std::string_view title, P2pdmaComparison const& comparison) {
  fmt::print("{}: {} pairs compared, {} contradict Linux\n", title, comparison.pairs(), comparison.contradictions());
  for (std::size_t i = 0; i < kDifferences; ++i) {
    auto const difference = static_cast<Difference>(i);
    if (comparison.count(difference) > 0)
      fmt::print("  {:>8} {}\n", comparison.count(difference), reason_of(difference));
  }
  for (auto const& message : comparison.first_contradictions()) fmt::print("  {}\n", message);
}

int compare_all(linux_map_type_function decide) {
  auto catalogue = test::bundled();
  P2pdmaComparison bundled(decide);
  auto const names = catalogue.machine_names();
  for (auto const& name : names) compare_bundled(bundled, catalogue.machine(name), name);
  print(fmt::format("{} bundled machines, 22 ACS settings, 3 IOMMU modes", names.size()), bundled);

  std::vector<Part const*> cpus;
  std::string missing;
  for (auto const& name : catalogue.part_names()) {
    auto const* part = catalogue.part(name);
    if (part->kind != PartKind::Cpu) continue;
    if (linux_cpu(name) != nullptr)
      cpus.push_back(part);
    else
      missing += " " + name;
  }
  P2pdmaComparison random(decide);
  std::mt19937 generator(kSeed);
  for (int i = 0; i < kRandomTrees; ++i) random.compare(random_tree(generator, cpus), fmt::format("random tree {}", i));
  print(fmt::format("{} random trees, {} processors", kRandomTrees, cpus.size()), random);
  if (!missing.empty()) fmt::print("processors that tests/oracle/linux_pci.cpp does not know:{}\n", missing);

  bool const compared = bundled.pairs() > 0 && random.pairs() > 0;
  if (!compared) fmt::print("nothing was compared\n");
  return compared && bundled.contradictions() + random.contradictions() == 0 ? 0 : 1;
}

}  // namespace
}  // namespace lanewise::oracle

int main(int argc, char** argv) {
  auto* const library = argc == 2 ? dlopen(argv[1], RTLD_NOW) : nullptr;
  auto* const symbol = library != nullptr ? dlsym(library, "linux_map_type") : nullptr;
  if (symbol == nullptr) {
    fmt::print(stderr, "p2pdma_oracle: {}; p2pdma.sh makes the library\n", argc == 2 ? dlerror() : "name one library");
    return 2;
  }
  try {
    return lanewise::oracle::compare_all(reinterpret_cast<linux_map_type_function>(symbol));
  } catch (std::exception const& error) {
    fmt::print(stderr, "p2pdma_oracle: {}\n", error.what());
    return 1;
  }
}
