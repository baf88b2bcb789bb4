#include "index/http/redaction.h"

#include <string>
#include <utility>

#include <doctest/doctest.h>

using namespace axle::index;

TEST_CASE("no secret of a URL is shown, also where it is mistyped or in the middle of a text") {
  const std::pair<const char*, const char*> rows[] = {
      {"https://user:pw@host/simple/?a=pw@c", "https://host/simple/?a=***"},
      {"https://user:p@w@host:81/x", "https://host:81/x"},
      {"https://pw@host/x", "https://host/x"},
      {"htp://user:pw@host/x", "htp://host/x"},
      {"https:/user:pw@host/x", "https:/host/x"},
      {"https:user:pw@host/x", "***@host/x"},
      {"https//user:pw@host/x", "***@host/x"},
      {"user:pw@host/simple", "***@host/simple"},
      {"//user:pw@host/simple", "***@host/simple"},
      {"https://user:p/w@host/x", "https://host/x"},
      {"https://user:p#w?w@host/x", "https://host/x"},
      {"https://user:p'w@host/x", "https://host/x"},
      {"https://host/x?token=pw&b=&pw#sha256=00", "https://host/x?token=***&b=&***#sha256=00"},
      {"host/x?sig=pw", "host/x?sig=***"},
      {"a https://user:p w @host/x b", "a https://host/x b"},
      {"a 'https://user:pw@host/x?t=pw' b", "a 'https://host/x?t=***' b"},
      {"corp @ https://user:pw@host/x ; y", "corp @ https://host/x ; y"},
      {"corp@https://user:pw@host/x", "corp@https://host/x"},
      {"https://a/b,https://user:pw@host/x", "https://a/b,https://host/x"},
      {"(from git+ssh://pw@host/x@v1)", "(from git+ssh://host/x@v1)"},
  };
  for (const auto& [text, expected] : rows) {
    CAPTURE(text);
    CHECK(redact_url(text) == expected);
    CHECK(redact_url(text).find("pw") == std::string::npos);
  }
  for (const char* plain :
       {"https://host/a@b", "http://[::1]:8080/a@b", "http://host:81/a@b", "http://[::1]/a@b",
        "file:///a:b/c@d", "what? nothing", "demo @ file:///x/demo.whl", "name@1.0", "a: b@c",
        "https://host/x#sha256=1", "torch>=2.0; sys_platform == 'linux'"}) {
    CAPTURE(plain);
    CHECK(redact_url(plain) == plain);
  }
}
