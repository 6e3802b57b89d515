#include "cli/failure.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <vector>

#include "lanewise/io/error.hpp"

namespace lanewise::cli {
namespace {

using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

template <class Thrown>
Failure failure_by(Thrown const& thrown) {
  return failure_of(std::make_exception_ptr(thrown), "lanewise check 's s.yaml'");
}

TEST(Failure, OfTheInputIsTwo) {
  EXPECT_EQ(failure_by(InputError("no such file")).code, ExitCode::BadInput);
  EXPECT_EQ(failure_by(InputError("no such file")).message, "no such file");
  EXPECT_EQ(failure_by(PlanError("no way")).code, ExitCode::BadInput);
}

TEST(Failure, OfJsonAndFilesIsTwoToo) {
  try {
    static_cast<void>(nlohmann::json::parse("{").at("x"));
  } catch (...) {
    EXPECT_EQ(failure_of(std::current_exception(), "").code, ExitCode::BadInput);
  }
  std::filesystem::filesystem_error const error("cannot list", "/nowhere",
                                                std::make_error_code(std::errc::permission_denied));
  EXPECT_EQ(failure_by(error).code, ExitCode::BadInput);
}

TEST(Failure, OfWhatIsMissingOrBrokenIsThree) {
  EXPECT_EQ(failure_by(MissingError("no GPU")).code, ExitCode::Missing);
  EXPECT_EQ(failure_by(DeviceError("cudaMalloc", 2, "out of memory")).code, ExitCode::Missing);
}

TEST(Failure, OfMemoryIsThreeAndSaysWhatNeedsLess) {
  for (auto const& failure :
       {failure_by(std::bad_alloc()), failure_by(std::length_error("vector::_M_default_append"))}) {
    EXPECT_EQ(failure.code, ExitCode::Missing);
    EXPECT_THAT(failure.message,
                AllOf(HasSubstr("out of memory"), HasSubstr("--effort quick"), Not(HasSubstr("vector"))));
  }
}

TEST(Failure, OfAnythingElseIsADefectThatAsksForAReport) {
  for (auto const& failure : {failure_by(std::out_of_range("vector::at")), failure_by(std::logic_error("never")),
                              failure_by(std::runtime_error("odd")), failure_by(7)}) {
    EXPECT_EQ(failure.code, ExitCode::Defect);
    EXPECT_THAT(failure.message, AllOf(HasSubstr("a defect of lanewise"), HasSubstr("report"),
                                       HasSubstr("lanewise check 's s.yaml'"), HasSubstr(LANEWISE_VERSION)));
  }
  EXPECT_THAT(failure_by(std::out_of_range("vector::at")).message, HasSubstr("vector::at"));
}

TEST(Failure, OfAnInterruptionIs130) { EXPECT_EQ(failure_by(Interrupted("stopped")).code, ExitCode::Interrupted); }

TEST(CommandLine, QuotesWhatAShellWouldTakeApart) {
  std::vector<char const*> const words{"/usr/bin/lanewise", "show", "dgx-a100", "--set",
                                       "link@gpu3=gen3 x8", "it's", ""};
  EXPECT_EQ(command_line(static_cast<int>(words.size()), words.data()),
            "lanewise show dgx-a100 --set 'link@gpu3=gen3 x8' 'it'\\''s' ''");
}

}  // namespace
}  // namespace lanewise::cli
