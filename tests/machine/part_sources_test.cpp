#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "core/calibration/adjustable.hpp"
#include "core/machine/part_fields.hpp"
#include "lanewise/machine/machine_file.hpp"
#include "lanewise/model/model.hpp"
#include "tests/support/bundled.hpp"
#include "tests/support/marked_errors.hpp"

namespace lanewise {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

Part part_with(std::string const& sources) {
  auto const source =
      SourceText::from_memory("part.yaml", "kind: gpu\nmemory: 80 GiB\nmax_peers: unknown\nsources:\n" + sources);
  Diagnostics diagnostics;
  auto part = read_part("p", parse_yaml(source), source, diagnostics);
  diagnostics.throw_if_any();
  return part;
}

std::string sources_error(std::string const& sources) {
  return test::input_error([&] { part_with(sources); });
}

TEST(PartSources, EveryFigureOfEveryBundledPartSaysWhatItRestsOn) {
  auto catalogue = test::bundled();
  int figures = 0;
  for (auto const& name : catalogue.part_names()) {
    auto const& part = *catalogue.part(name);
    for (auto const& field : part_fields(part.kind)) {
      if (is_name(field.spec.name) || field.write(part).empty()) continue;
      ++figures;
      auto const* source = part.source_of(field.spec.name);
      ASSERT_NE(source, nullptr) << name << " says no source of " << field.spec.name;
      EXPECT_GE(source->text.size(), 5U) << name << ' ' << field.spec.name;
      EXPECT_EQ(source->text.find("TODO"), std::string::npos) << name << ' ' << field.spec.name;
    }
  }
  EXPECT_GT(figures, 1000);
}

TEST(PartSources, AreReadAndWrittenBack) {
  auto const part = part_with("  memory: {measured: \"nvidia-smi of mine\"}\n");
  ASSERT_EQ(part.sources.size(), 1U);
  EXPECT_EQ(part.sources.front(), (FigureSource{"memory", SourceKind::Measured, "nvidia-smi of mine"}));
  auto catalogue = test::bundled();
  auto machine = catalogue.machine("hgx-b200");
  auto const gpu = std::find_if(machine.parts.begin(), machine.parts.end(),
                                [](auto const& one) { return one.kind == PartKind::Gpu; });
  gpu->inlined = true;
  auto const again = catalogue.machine_from(SourceText::from_memory("again.yaml", write_machine(machine)));
  auto const same =
      std::find_if(again.parts.begin(), again.parts.end(), [&](auto const& one) { return one.name == gpu->name; });
  ASSERT_NE(same, again.parts.end());
  EXPECT_EQ(same->sources, gpu->sources);
  EXPECT_GT(same->sources.size(), 10U);
}

TEST(PartSources, WhatIsWrongIsSaidAtItsPlace) {
  EXPECT_THAT(sources_error("  memry: {datasheet: \"x\"}\n"),
              HasSubstr("part.yaml:5:3: error: 'sources': a gpu has no key 'memry'; did you mean 'memory'?"));
  EXPECT_THAT(sources_error("  bar1: {datasheet: \"x\"}\n"), HasSubstr("gives no 'bar1'"));
  EXPECT_THAT(sources_error("  max_peers: {datasheet: \"x\"}\n"), HasSubstr("gives no 'max_peers'"));
  EXPECT_THAT(sources_error("  memory: NVIDIA\n"),
              HasSubstr("write {KIND: \"TEXT\"} with one of datasheet, measured, estimated"));
  EXPECT_THAT(sources_error("  memory: {}\n"), HasSubstr("the kind is missing"));
  EXPECT_THAT(sources_error("  memory: {datasheet: a, measured: b}\n"), HasSubstr("rests on one kind of source"));
  EXPECT_THAT(sources_error("  memory: {measurd: a}\n"), HasSubstr("did you mean 'measured'?"));
  EXPECT_THAT(sources_error("  - memory\n"), HasSubstr("keys with what they rest on"));
}

// The ends of the range of a GPU's memory.
std::pair<double, double> memory_ends(SourceKind kind) {
  auto machine = test::bundled().machine("h100x2-vm");
  for (auto& part : machine.parts)
    for (auto& source : part.sources)
      if (source.figure == "memory_bandwidth") source.kind = kind;
  Model const model(std::move(machine));
  auto const& memory = model.resources().at(model.resources().device_memory(model.machine().all(PciKind::Gpu).front()));
  return {memory.generic_low, memory.generic_high};
}

TEST(PartSources, AnEstimatedRateHasAWiderRange) {
  EXPECT_EQ(memory_ends(SourceKind::Datasheet), std::pair(1.0, 1.0));
  EXPECT_EQ(memory_ends(SourceKind::Measured), std::pair(1.0, 1.0));
  EXPECT_EQ(memory_ends(SourceKind::Estimated), std::pair(1 / 1.25, 1.25));
}

TEST(PartSources, ACalibratedFigureRestsOnItsOldSourceNoMore) {
  auto machine = test::bundled().machine("hgx-h200");
  auto const targets = targets_of(machine, false);
  auto const target = std::find_if(targets.begin(), targets.end(), [](auto const& one) {
    return one.part == "h200-sxm5-141g" && one.figure->key == "latency";
  });
  ASSERT_NE(target, targets.end());
  auto const source_of = [&] {
    for (auto const& part : machine.parts)
      if (part.name == "h200-sxm5-141g") return part.source_of("latency") != nullptr;
    return false;
  };
  EXPECT_TRUE(source_of());
  target->set(machine, 150e-9);
  EXPECT_FALSE(source_of());
}

}  // namespace
}  // namespace lanewise
