#include "installer/environment/scripts.h"

#include <doctest/doctest.h>

using namespace axle::installer;

TEST_CASE("a short interpreter path is named directly and a long or spaced one through sh") {
  CHECK(render_shebang("/env/bin/python") == "#!/env/bin/python\n");
  const auto spaced = render_shebang("/my env/bin/python");
  CHECK(spaced == "#!/bin/sh\n'''exec' \"/my env/bin/python\" \"$0\" \"$@\"\n' '''\n");
  const std::string longest = "/" + std::string(123, 'p');
  CHECK(render_shebang(longest) == "#!" + longest + "\n");
  CHECK(render_shebang(longest + "p")->starts_with("#!/bin/sh\n"));
  CHECK(render_shebang("/a \"$`\\/p")->find("\"/a \\\"\\$\\`\\\\/p\"") != std::string::npos);
  CHECK_FALSE(render_shebang("/a\nb/python").has_value());
  CHECK_FALSE(render_shebang("/a '''b/python").has_value());
}

TEST_CASE("only a first line that says python is rewritten") {
  CHECK(rewrite_script("#!python\nx\n", "#!/p\n") == "#!/p\nx\n");
  CHECK(rewrite_script("#!pythonw\r\nx", "#!/p\n") == "#!/p\nx");
  CHECK(rewrite_script("#!python", "#!/p\n") == "#!/p\n");
  CHECK_FALSE(rewrite_script("#!python3\nx", "#!/p\n").has_value());
  CHECK_FALSE(rewrite_script("#!/bin/sh\nx", "#!/p\n").has_value());
  CHECK_FALSE(rewrite_script("", "#!/p\n").has_value());
}
