#include "runtime/error_message.h"

#include <cstring>
#include <string>

#include <doctest/doctest.h>

#include "runtime/printable.h"

namespace axle::runtime {
namespace {

std::string message_of(const std::string& text) {
  axle_error error{};
  REQUIRE(report_failure(&error, AXLE_IO, "%s", text.c_str()) == AXLE_IO);
  CHECK(error.status == AXLE_IO);
  return error.message;
}

bool is_printable(const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t bytes = printable_bytes(std::string_view(text).substr(at));
    if (bytes == 0) return false;
    at += bytes;
  }
  return true;
}

}  // namespace

TEST_CASE("a message that fits is left as it is") {
  CHECK(message_of("").empty());
  CHECK(message_of("a/b: it is not there") == "a/b: it is not there");
  const std::string full(251, 'a');
  CHECK(message_of(full) == full);
  CHECK(report_failure(nullptr, AXLE_IO, "nobody") == AXLE_IO);
}

TEST_CASE("of a long path the middle is left out, and the reason stays") {
  const std::string reason = "model.safetensors: tensor 'x' has another shape; fetch it again";
  const std::string message = message_of("/start/" + std::string(1000, 'd') + "/end/" + reason);
  CHECK(message.size() == 251);
  CHECK(message.starts_with("/start/d"));
  CHECK(message.ends_with("d/end/" + reason));
  CHECK(message.find("d[...]d") != std::string::npos);
  // As long as a path can be.
  const std::string longest = message_of(std::string(4085, 'd') + "/m: " + "out of memory");
  CHECK(longest.ends_with("d/m: out of memory"));
  // As failure() leaves it.
  const std::string twice =
      message_of("/" + std::string(499, 'd') + "[...]" + std::string(400, 'e') + "/" + reason);
  CHECK(twice.ends_with("e/" + reason));
}

TEST_CASE("of a reason that is too long by itself both ends are kept") {
  const std::string reason = "begins " + std::string(400, 'r') + " ends";
  const std::string message = message_of("/" + std::string(300, 'd') + "/file: " + reason);
  CHECK(message.size() == 251);
  CHECK(message.find("d/file: begins") != std::string::npos);
  CHECK(message.ends_with("r ends"));
  // A path that looks as if the reason began in it.
  const std::string odd = message_of("/a: " + std::string(900, 'd') + ": no such file");
  CHECK(odd.starts_with("/a: d"));
  CHECK(odd.ends_with("d: no such file"));
}

TEST_CASE("messages are cut between characters, wherever these lie") {
  for (const char* character : {"\xc3\xa9", "\xe2\x82\xac", "\xf0\x9f\x98\x80"}) {
    std::string many;
    while (many.size() < 3000) many += character;
    for (std::size_t shift = 0; shift < 5; ++shift) {
      const std::string begin(shift, 'a');
      for (const std::string& text : {begin + many, begin + many + ": reason", begin + ": " + many,
                                      begin + many + ": " + many}) {
        const std::string message = message_of(text);
        CHECK(message.size() > 240);
        CHECK(message.size() <= 251);
        CHECK(is_printable(message));
        CHECK(message.find('?') == std::string::npos);
      }
    }
  }
}

TEST_CASE("what is no printable UTF-8 is shown as such") {
  CHECK(message_of("a\nb\x80 \xe2\x82") == "a?b? ??");
  axle_error error{};
  const std::string name = std::string(63, 'k') + "\xc3\xa9";
  report_failure(&error, AXLE_BAD_ARGUMENT, "there is no '%.64s'", name.c_str());
  CHECK(std::string(error.message) == "there is no '" + std::string(63, 'k') + "?'");
}

TEST_CASE("no length of text is written beyond the message") {
  struct {
    axle_error error;
    char behind[8];
  } place;
  for (std::size_t length = 0; length < 2000; length += 7) {
    for (std::size_t colon = 0; colon < length; colon += 91) {
      std::string text(length, 'a');
      text.replace(colon, 2, ": ");
      std::memset(&place, 'x', sizeof place);
      report_failure(&place.error, AXLE_IO, "%s", text.c_str());
      REQUIRE(std::strlen(place.error.message) <= 251);
      REQUIRE(std::string(place.behind, 8) == "xxxxxxxx");
    }
  }
}

TEST_CASE("nothing is left of an earlier failure") {
  axle_error error{};
  report_failure(&error, AXLE_IO, "gone");
  clear_failure(&error);
  CHECK(error.status == AXLE_OK);
  CHECK(std::string(error.message).empty());
  clear_failure(nullptr);
}

}  // namespace axle::runtime
