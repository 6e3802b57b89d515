#include "lanewise/explain/matrix.hpp"

#include <gtest/gtest.h>

#include "lanewise/estimate/estimating_executor.hpp"
#include "tests/support/bundled.hpp"

namespace lanewise {
namespace {

using namespace literals;

void expect_equal(Matrix::Cell const& one, Matrix::Cell const& other, std::string const& names) {
  EXPECT_EQ(one.mechanism, other.mechanism) << names;
  EXPECT_EQ(one.path, other.path) << names;
  EXPECT_EQ(one.time, other.time) << names;
  EXPECT_EQ(one.rate, other.rate) << names;
  EXPECT_EQ(one.range, other.range) << names;
  EXPECT_EQ(one.inferred, other.inferred) << names;
  EXPECT_EQ(one.missing, other.missing) << names;
}

// Holds every cell to that of a matrix of its two places alone, in which no other pair is asked for first.
void expect_cells_of_pairs_alone(Model const& model, MatrixQuery question, Executor* executor) {
  auto const whole = make_matrix(model, question, executor);
  auto const places = question.places;
  for (std::size_t i = 0; i < places.size(); ++i)
    for (std::size_t k = i + 1; k < places.size(); ++k) {
      question.places = {places[i], places[k]};
      auto const alone = make_matrix(model, question, executor);
      auto const names = whole.names[i] + " and " + whole.names[k];
      expect_equal(whole.cells[i][k], alone.cells[0][1], names);
      expect_equal(whole.cells[k][i], alone.cells[1][0], names);
    }
}

class MatrixOfClusters : public testing::TestWithParam<char const*> {
 protected:
  MatrixOfClusters() : model_(test::bundled().machine(GetParam())) {
    // Of a large cluster three nodes: two of them are to each other what many are.
    for (auto const gpu : model_.machine().all(PciKind::Gpu))
      if (index(model_.machine().host_of(gpu)) < 3) question_.places.emplace_back(gpu);
    question_.bytes = 1_MiB;
  }
  Model model_;
  MatrixQuery question_;
};

TEST_P(MatrixOfClusters, HasForEachPairWhatItHasAlone) {
  expect_cells_of_pairs_alone(model_, question_, nullptr);
  question_.op = Op::Write;
  question_.metric = Metric::Latency;
  expect_cells_of_pairs_alone(model_, question_, nullptr);
}

TEST_P(MatrixOfClusters, HasForEachPairTheRunItHasAlone) {
  EstimatingExecutor executor(model_);
  question_.bidirectional = true;
  expect_cells_of_pairs_alone(model_, question_, &executor);
}

INSTANTIATE_TEST_SUITE_P(Bundled, MatrixOfClusters,
                         testing::Values("a30-2", "dgx-1-v100-4", "gh200x4-2", "hgx-h100-32", "mi-edr-2"));

// Figures that nobody knows are named after the nodes of their own pair.
// By class every pair is counted once, with the figures that it has in the whole matrix.
TEST(Matrix, ByClassCountsThePairsOfTheWhole) {
  for (auto const* name : {"hgx-h100-16", "hgx-h100-16-three-tiers", "oci-gb300-4", "dgx-a100"}) {
    Model const model(test::bundled().machine(name));
    MatrixQuery question;
    question.bytes = 1_MiB;
    for (auto const gpu : model.machine().all(PciKind::Gpu)) question.places.emplace_back(gpu);
    question.places.pop_back();  // the last node has fewer of them
    auto const whole = make_matrix(model, question, nullptr);
    auto const by_class = make_matrix_by_class(model, question, nullptr);
    std::size_t pairs = 0;
    for (auto const& one : by_class.classes) {
      std::size_t found = 0;
      for (auto const& row : whole.cells)
        for (auto const& cell : row)
          found +=
              cell.path == one.cell.path && cell.mechanism == one.cell.mechanism && cell.time == one.cell.time ? 1 : 0;
      EXPECT_EQ(one.pairs, found) << name << ": " << one.from << " to " << one.to;
      pairs += one.pairs;
    }
    EXPECT_EQ(pairs, question.places.size() * question.places.size()) << name;
    EXPECT_LT(by_class.classes.size(), 20U) << name;
  }
}

TEST(Matrix, NamesTheUnknownFigureOfEachPair) {
  auto machine = test::bundled().machine("hgx-h100-2");
  for (auto& part : machine.parts)
    if (part.kind == PartKind::Gpu) part.gpu.memory_bandwidth.reset();
  for (auto& function : machine.functions)
    if (function.kind == PciKind::Gpu) function.part.reset();
  Model const model(machine);
  MatrixQuery question;
  for (auto const* name : {"node0/gpu0", "node0/gpu1", "node1/gpu0", "node1/gpu1"})
    question.places.push_back(machine.place(name));
  question.bytes = 1_MiB;
  expect_cells_of_pairs_alone(model, question, nullptr);
}

}  // namespace
}  // namespace lanewise
