#include "runtime/result.h"

#include <string>
#include <string_view>

#include <doctest/doctest.h>

namespace {

using namespace axle::runtime;

std::string message_of(std::string_view text) {
  return failure(AXLE_IO, "%s", std::string(text).c_str()).error().message;
}

TEST_CASE("a message is printable UTF-8, whatever a file's names hold") {
  for (const char* text : {"plain ~", "\xc2\xa0", "\xdf\xbf", "\xe0\xa0\x80", "\xed\x9f\xbf",
                           "\xef\xbf\xbf", "\xf0\x90\x80\x80", "\xf4\x8f\xbf\xbf"}) {
    CHECK(message_of(text) == text);
  }
  const std::pair<const char*, const char*> shown[] = {{"a\nb\x1b\x7f", "a?b??"},
                                                       {"\xc2\x9b", "??"},
                                                       {"\x80", "?"},
                                                       {"\xc1\xbf", "??"},
                                                       {"\xe0\x9f\xbf", "???"},
                                                       {"\xed\xa0\x80", "???"},
                                                       {"\xf0\x8f\xbf\xbf", "????"},
                                                       {"\xf4\x90\x80\x80", "????"},
                                                       {"\xf5\x80\x80\x80", "????"},
                                                       {"\xe2\x82", "??"},
                                                       {"\xf0\x9f\x98", "???"},
                                                       {"\xe2(\xa1", "?(?"},
                                                       {"\xc3", "?"}};
  for (const auto& [text, wanted] : shown) CHECK(message_of(text) == wanted);
}

TEST_CASE("of a long message the beginning and the end are kept, by whole characters") {
  CHECK(message_of(std::string(1000, 'a')).size() == 1000);
  std::string text;
  for (int i = 0; i < 1000; ++i) text += "\xe2\x82\xac";
  const std::string message = message_of("a" + text + "z");
  CHECK(message.size() <= 1005);
  CHECK(message.starts_with("a\xe2\x82\xac"));
  CHECK(message.ends_with("\xe2\x82\xacz"));
  CHECK(message.find("\xe2\x82\xac[...]\xe2\x82\xac") != std::string::npos);
}

}  // namespace
