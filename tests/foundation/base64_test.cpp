#include "foundation/text/base64.h"

#include <string>

#include <doctest/doctest.h>

using namespace axle;

TEST_CASE("the test vectors of RFC 4648") {
  for (const auto& [bytes, text] : {std::pair{"", ""},
                                    {"f", "Zg=="},
                                    {"fo", "Zm8="},
                                    {"foo", "Zm9v"},
                                    {"foob", "Zm9vYg=="},
                                    {"fooba", "Zm9vYmE="},
                                    {"foobar", "Zm9vYmFy"}}) {
    CHECK(text::encode_base64(bytes) == text);
    CHECK(text::decode_base64(text) == bytes);
  }
}

TEST_CASE("every byte comes back") {
  std::string bytes;
  for (int i = 0; i < 256; ++i) bytes += static_cast<char>(i);
  for (int i = 0; i < 3; ++i) {
    CHECK(text::decode_base64(text::encode_base64(bytes)) == bytes);
    bytes += '\0';
  }
}

TEST_CASE("there is one spelling") {
  for (const char* text : {"Zg", "Zg=", "Zg===", "Zh==", "Zm9=", "Z===", "====", "Zm9v\n", " Zm9v",
                           "Zm-v", "Zm_v", "Zg==Zg==", "=Zm9", "Zm9v="}) {
    CHECK_FALSE_MESSAGE(text::decode_base64(text).has_value(), text);
  }
}
