#include "lanewise/explain/places.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lanewise/io/error.hpp"
#include "lanewise/machine/catalogue.hpp"

namespace lanewise {
namespace {

using testing::Contains;
using testing::Each;
using testing::ElementsAre;
using testing::StartsWith;

Machine bundled(std::string const& name) { return Catalogue({LANEWISE_SOURCE_DIR "/topologies"}).machine(name); }

TEST(Places, RangesAreWrittenOut) {
  EXPECT_THAT(places_named(bundled("dgx-a100"), {"gpu1..gpu3", "numa0"}), ElementsAre("gpu1", "gpu2", "gpu3", "numa0"));
}

TEST(Places, AnUnknownPlaceIsRefused) {
  EXPECT_THROW(static_cast<void>(places_named(bundled("dgx-a100"), {"gpu0", "gpu99"})), InputError);
}

TEST(Places, AllGpusAreThoseOfTheMachine) {
  auto const gpus = all_gpus(bundled("v100-pcie-x2"));
  EXPECT_THAT(gpus, ElementsAre("gpu0", "gpu1"));
}

TEST(Places, EndpointsOfAClusterAreThoseOfItsFirstTwoNodes) {
  auto const endpoints = all_endpoints(bundled("hgx-h100-32"));
  EXPECT_THAT(endpoints, Contains("node0/gpu0"));
  EXPECT_THAT(endpoints, Contains("node1/numa0"));
  EXPECT_THAT(endpoints, Each(testing::AnyOf(StartsWith("node0/"), StartsWith("node1/"))));
}

}  // namespace
}  // namespace lanewise
