#pragma once
// One figure for every pair of places of a machine.
#include <functional>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "lanewise/model/model.hpp"
#include "lanewise/plan/executor.hpp"

namespace lanewise {

enum class Metric : std::uint8_t { Bandwidth, Latency, Mechanism, Class };
std::string_view to_string(Metric metric);
Parsed<Metric> parse_metric(std::string_view text);

struct MatrixQuery {
  std::vector<Place> places;
  Bytes bytes{0};
  Op op = Op::Copy;
  Metric metric = Metric::Bandwidth;
  bool bidirectional = false;  // both directions of a pair at once; the figure is their sum
};

struct Matrix {
  struct Cell {
    std::string mechanism;        // empty: no legal way
    std::string path;             // PIX ... SYS
    std::optional<Seconds> time;  // absent: no legal way, or a figure is unknown
    std::optional<BytesPerSecond> rate;
    std::optional<TimeRange> range;  // 90 % range of the time, if the model computed it
    bool inferred = false;           // generic parts set the figure: their range is wide
    std::string missing;             // which figure is unknown, where the time is absent but the way legal
  };
  MatrixQuery question;
  std::string mode;  // "model", "sim" or "estimate"
  std::vector<std::string> names;
  std::vector<std::vector<Cell>> cells;  // [from][to]; fewer rows than names where the user stopped the program
  [[nodiscard]] bool whole() const { return cells.size() == names.size(); }
};

// Evaluates every pair by itself: by running its plan if there is an executor, otherwise with the model for an idle
// machine. Throws PlanError for a bidirectional query without an executor, because only a run shows how the directions
// share links. `done` is called after each pair. Where the user stops the program the rows so far are returned.
Matrix make_matrix(Model const& model, MatrixQuery const& question, Executor* executor,
                   std::function<void()> const& done = {});
// Of more places the matrix is asked for by class of pairs: 1,024 GPUs have a million pairs and eight classes, and a
// page of all of them takes 200 MB.
inline constexpr std::size_t kMaxPlacesOfMatrix = 192;
// What is drawn for people is by class from fewer places on: 128 x 128 cells take longer to draw than to compute.
inline constexpr std::size_t kMaxPlacesDrawn = 72;

// Pairs that have the same figures, path and mechanism.
struct PairsAlike {
  std::string from, to;   // one of them
  std::size_t pairs = 0;  // how many there are; (a, b) and (b, a) are two
  Matrix::Cell cell;
};
struct MatrixByClass {
  MatrixQuery question;
  std::string mode;
  std::size_t places = 0;
  std::vector<PairsAlike> classes;  // the most pairs first
};
// As make_matrix(), where the user does not stop the program.
MatrixByClass make_matrix_by_class(Model const& model, MatrixQuery const& question, Executor* executor);

// `lanewise: matrix/1`; by class it has `classes` in the place of `cells` and `places`.
nlohmann::ordered_json matrix_json(Matrix const& matrix, std::string const& machine);
nlohmann::ordered_json matrix_json(MatrixByClass const& matrix, std::string const& machine);

}  // namespace lanewise
