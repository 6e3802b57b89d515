#include "lanewise/machine/part.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <regex>

#include "core/io/yaml_writer.hpp"
#include "core/machine/part_fields.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "nlohmann/json.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/field_samples.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

constexpr std::array kAllKinds{PartKind::Cpu,    PartKind::Gpu,      PartKind::Nic,
                               PartKind::Switch, PartKind::Nvme,     PartKind::Device,
                               PartKind::Link,   PartKind::NvSwitch, PartKind::NetworkSwitch};

Part part_from(std::string const& text, std::string const& name = "p") {
  auto const source = SourceText::from_memory("part.yaml", text);
  auto const root = parse_yaml(source);
  Diagnostics diagnostics;
  auto part = read_part(name, root, source, diagnostics);
  diagnostics.throw_if_any();
  return part;
}

std::string written(Part const& part) { return yaml_text(part_tree(part)); }

std::vector<std::string> samples(FieldSpec const& spec) {
  std::vector<std::string> texts;
  for (auto const& value : test::field_samples(spec))
    texts.push_back(value.is_string() ? value.get<std::string>() : value.dump());
  return texts;
}

TEST(PartFields, EveryFieldReadsBackEqual) {
  for (auto const kind : kAllKinds) {
    for (auto const& field : part_fields(kind)) {
      SCOPED_TRACE(std::string(to_string(kind)) + "." + field.spec.name);
      auto const head = "kind: " + std::string(to_string(kind)) + "\n";
      auto const of = [&](std::string const& value) { return part_from(head + field.spec.name + ": " + value + "\n"); };
      int differ = 0;
      for (auto const& value : samples(field.spec)) {
        auto const part = of(value);
        EXPECT_TRUE(part_from(written(part)) == part) << written(part);
        differ += part == part_from(head) ? 0 : 1;
      }
      EXPECT_GE(differ, 1) << "the key fills nothing";
    }
  }
}

TEST(PartFields, EveryKeyHasItsOwnMember) {  // two keys that fill one member would overwrite each other
  for (auto const kind : kAllKinds) {
    auto const head = "kind: " + std::string(to_string(kind)) + "\n";
    for (auto const& field : part_fields(kind)) {
      for (auto const& value : samples(field.spec)) {
        auto const part = part_from(head + field.spec.name + ": " + value + "\n");
        for (auto const& other : part_fields(kind))
          if (other.spec.name != field.spec.name) {
            EXPECT_TRUE(other.write(part).empty())
                << to_string(kind) << ": " << field.spec.name << " fills " << other.spec.name;
          }
      }
    }
  }
}

TEST(PartFields, UnknownLeavesAFigureAbsent) {
  for (auto const kind : kAllKinds)
    for (auto const& field : part_fields(kind))
      if (field.spec.unknown_allowed) {
        EXPECT_EQ(part_from("kind: " + std::string(to_string(kind)) + "\n" + field.spec.name + ": unknown\n"),
                  part_from("kind: " + std::string(to_string(kind)) + "\n"));
      }
}

// Nothing works without any tags, payload or efficiency; no ports or no delay is a fact.
TEST(PartFields, NothingIsRefusedWhereNothingWorks) {
  for (auto const* text :
       {"{kind: gpu, tags: 0}", "{kind: gpu, max_payload: 0 B}", "{kind: gpu, copy_engines: 0}",
        "{kind: link, copy_efficiency: 0}", "{kind: cpu, iotlb_entries: 0}", "{kind: nic, mtu: 0 B}"})
    EXPECT_THROW(part_from(text), InputError) << text;
  EXPECT_NO_THROW(part_from("{kind: gpu, nvlink_ports: 0, latency: 0 ns, nvlink_generation: 0}"));
}

TEST(PartFields, EveryKeyIsExplained) {
  for (auto const kind : kAllKinds)
    for (auto const& field : part_fields(kind)) EXPECT_FALSE(field.spec.doc.empty()) << field.spec.name;
}

// --------------------------------------------------------------------------------------------------------------
// bundled

TEST(BundledParts, AllLoadAndReadBackEqual) {
  auto catalogue = test::bundled();
  ASSERT_FALSE(catalogue.part_names().empty());
  for (auto const& name : catalogue.part_names()) {
    SCOPED_TRACE(name);
    auto const* part = catalogue.part(name);
    ASSERT_NE(part, nullptr);
    EXPECT_EQ(part->name, name);
    EXPECT_FALSE(part->title.empty());
    EXPECT_TRUE(part_from(written(*part), name) == *part) << written(*part);
  }
}

template <class Ids>
void expect_unique(Ids ids_of, std::string const& pattern) {
  auto catalogue = test::bundled();
  std::map<std::string, std::string> owner;
  std::regex const form(pattern);
  for (auto const& name : catalogue.part_names())
    for (auto const& id : ids_of(*catalogue.part(name))) {
      auto const [it, fresh] = owner.emplace(id, name);
      EXPECT_TRUE(fresh) << id << " is of " << it->second << " and of " << name;
      EXPECT_TRUE(std::regex_match(id, form)) << name << ": " << id;
    }
  EXPECT_FALSE(owner.empty());
}

TEST(BundledParts, APciIdIsOfOnePart) {
  expect_unique([](Part const& part) { return part.pci_ids; }, "[0-9a-f]{4}:[0-9a-f]{4}");
}
TEST(BundledParts, ACpuidIsOfOnePart) {
  expect_unique([](Part const& part) { return part.cpu.cpuid; }, "[A-Za-z]+/[0-9]+/[0-9]+");
}

TEST(BundledParts, FiguresAreOfThisWorld) {
  auto catalogue = test::bundled();
  for (auto const& name : catalogue.part_names()) {
    SCOPED_TRACE(name);
    auto const& part = *catalogue.part(name);
    for (auto const& share : {part.link.copy_efficiency, part.link.load_store_efficiency, part.link.duplex}) {
      EXPECT_GT(share.value_or(1), 0.5);
      EXPECT_LE(share.value_or(1), 1);
    }
    EXPECT_LE(part.pcie.latency.value_or(Seconds(0)), Seconds(1e-6));
    EXPECT_LE(part.cpu.read_forwarding, part.cpu.forwarding)
        << "no root complex forwards reads where it refuses writes";
  }
}

}  // namespace
}  // namespace lanewise
