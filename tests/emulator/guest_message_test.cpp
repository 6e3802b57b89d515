#include "emulator/guest_message.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lanewise::emulator {
namespace {

using Kind = GuestMessage::Kind;

TEST(GuestMessage, SaysWhatTheGuestReports) {
  EXPECT_EQ(guest_message("ready").kind, Kind::Ready);
  EXPECT_EQ(guest_message("note no ssh here").text, "no ssh here");
  EXPECT_EQ(guest_message("failed mount root /root: no such device").kind, Kind::Failed);
  EXPECT_EQ(guest_message("failed mount root /root: no such device").text, "mount root /root: no such device");
  auto const exit = guest_message("exit 143");
  EXPECT_EQ(exit.kind, Kind::Exit);
  EXPECT_EQ(exit.exit_code, 143);
}

TEST(GuestMessage, AnyOtherTextIsOdd) {
  for (auto const* text : {"", "exit", "exit ", "exit abc", "exit 1x", "exit -1", "exit 256",
                           "exit 99999999999999999999", "exit  3", "ready ", "READY", "Exit 3"})
    EXPECT_EQ(guest_message(text).kind, Kind::Odd) << "'" << text << "'";
}

TEST(GuestMessage, WhatIsShownOfOddTextIsShortAndPrintable) {
  EXPECT_EQ(guest_message("exit abc").text, "'exit abc'");
  EXPECT_EQ(guest_message("exit \x1b[31m\n").text, "'exit ?[31m?'");
  EXPECT_LT(guest_message(std::string(100'000, 'x')).text.size(), 100U);
}

}  // namespace
}  // namespace lanewise::emulator
