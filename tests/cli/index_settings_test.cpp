#include "cli/index_settings.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

namespace {

namespace fs = std::filesystem;
using axle::cli::Arguments;
using axle::cli::IndexSettings;
using axle::cli::Opt;

/// A configuration of the test's own: an empty home, none of the caller's variables.
class Surroundings {
 public:
  Surroundings() {
    char pattern[] = "/tmp/axle-settings-XXXXXX";
    folder_ = mkdtemp(pattern);
    for (const char* name : {"PIP_INDEX_URL",
                             "PIP_EXTRA_INDEX_URL",
                             "PIP_FIND_LINKS",
                             "PIP_NO_INDEX",
                             "PIP_CERT",
                             "PIP_PROXY",
                             "PIP_TRUSTED_HOST",
                             "PIP_TIMEOUT",
                             "PIP_DEFAULT_TIMEOUT",
                             "UV_INDEX_URL",
                             "UV_DEFAULT_INDEX",
                             "UV_EXTRA_INDEX_URL",
                             "UV_INDEX",
                             "UV_FIND_LINKS",
                             "UV_NO_INDEX",
                             "UV_HTTP_TIMEOUT",
                             "UV_CONFIG_FILE",
                             "SSL_CERT_FILE",
                             "https_proxy",
                             "HTTPS_PROXY",
                             "http_proxy",
                             "HTTP_PROXY",
                             "all_proxy",
                             "ALL_PROXY"}) {
      unsetenv(name);
    }
    setenv("HOME", folder_.c_str(), 1);
    setenv("XDG_CONFIG_HOME", (folder_ + "/config").c_str(), 1);
    // Keeps the machine's own /etc/pip.conf out of the answers.
    setenv("PIP_CONFIG_FILE", "/dev/null", 1);
  }
  ~Surroundings() { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) const {
    const fs::path path = fs::path(folder_) / name;
    fs::create_directories(path.parent_path());
    std::ofstream(path) << text;
  }
  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

 private:
  std::string folder_;
};

IndexSettings read(const Arguments& arguments, const std::string& prefix = {}) {
  axle::CollectedReport report;
  return axle::cli::read_index_settings(arguments, prefix, report);
}

}  // namespace

TEST_CASE("pip's files: sections, continued values, comments, the install section wins") {
  const auto layer = axle::cli::parse_pip_config(
      "# a comment\n[global]\nindex-url = https://one/simple\nextra_index_url =\n    "
      "https://a/simple\n    "
      "https://b/simple\n; another\ntimeout=60\n[install]\nindex-url: "
      "https://two/simple\n[list]\nformat = json\n",
      "pip.conf");
  REQUIRE(layer);
  CHECK(layer->values.at("index-url") == std::vector<std::string>{"https://two/simple"});
  CHECK(layer->values.at("extra-index-url") ==
        std::vector<std::string>{"https://a/simple", "https://b/simple"});
  CHECK(layer->values.at("timeout") == std::vector<std::string>{"60"});
  CHECK_FALSE(layer->values.contains("format"));
}

TEST_CASE("a broken pip file names the line") {
  const auto layer = axle::cli::parse_pip_config("[global]\nindex-url\n", "pip.conf");
  REQUIRE_FALSE(layer);
  CHECK(layer.error().message.starts_with("pip.conf:2:"));
  const auto section = axle::cli::parse_pip_config("[global\n", "pip.conf");
  REQUIRE_FALSE(section);
  CHECK(section.error().message.starts_with("pip.conf:1:"));
}

TEST_CASE("uv's files: the default index, the others, find-links") {
  const auto layer = axle::cli::parse_uv_config(
      "find-links = [\"/wheels\"]\n[[index]]\nurl = \"https://main/simple\"\ndefault = true\n"
      "[[index]]\nname = \"x\"\nurl = \"https://x/simple\"\n[[index]]\nurl = "
      "\"https://hidden\"\nexplicit = true\n",
      "uv.toml");
  REQUIRE(layer);
  CHECK(layer->values.at("index-url") == std::vector<std::string>{"https://main/simple"});
  CHECK(layer->values.at("extra-index-url") == std::vector<std::string>{"https://x/simple"});
  CHECK(layer->values.at("find-links") == std::vector<std::string>{"/wheels"});
  const auto broken = axle::cli::parse_uv_config("a = = 1\n", "uv.toml");
  REQUIRE_FALSE(broken);
  CHECK(broken.error().message.starts_with("uv.toml:1:"));
}

TEST_CASE(
    "of each setting the first that says it wins: options, PIP_*, UV_*, pip's files, uv's files") {
  const Surroundings surroundings;
  surroundings.write("config/uv/uv.toml",
                     "index-url = \"https://uvfile/simple\"\nno-index = false\n");
  CHECK(read({}).index_url == "https://uvfile/simple");

  unsetenv("PIP_CONFIG_FILE");
  surroundings.write("config/pip/pip.conf",
                     "[global]\nindex-url = https://pipfile/simple\ncert = /certs.pem\n");
  CHECK(read({}).index_url == "https://pipfile/simple");
  CHECK(read({}).ca_file == "/certs.pem");

  surroundings.write("venv/pip.conf", "[global]\nindex-url = https://venvfile/simple\n");
  CHECK(read({}, surroundings.path("venv")).index_url == "https://venvfile/simple");

  setenv("UV_DEFAULT_INDEX", "main=https://uvvariable/simple", 1);
  CHECK(read({}).index_url == "https://uvvariable/simple");

  setenv("PIP_INDEX_URL", "https://pipvariable/simple", 1);
  setenv("PIP_EXTRA_INDEX_URL", "https://a https://b", 1);
  CHECK(read({}).index_url == "https://pipvariable/simple");
  CHECK(read({}).extra_index_urls == std::vector<std::string>{"https://a", "https://b"});
  CHECK(read({}).index_origin == "PIP_* in the environment");

  Arguments arguments;
  arguments.add(Opt::index_url, "https://option/simple");
  CHECK(read(arguments).index_url == "https://option/simple");
  // The list of the environment still counts: the option did not speak of it.
  CHECK(read(arguments).extra_index_urls.size() == 2);
}

TEST_CASE("an index on the command line is not silenced by a configured no-index") {
  const Surroundings surroundings;
  setenv("PIP_NO_INDEX", "1", 1);
  CHECK(read({}).no_index);
  Arguments arguments;
  arguments.add(Opt::index_url, "https://option/simple");
  CHECK_FALSE(read(arguments).no_index);
  arguments.add(Opt::no_index, "");
  CHECK(read(arguments).no_index);
}

TEST_CASE("a broken configuration file is ignored with a warning, a broken timeout too") {
  const Surroundings surroundings;
  surroundings.write("config/uv/uv.toml", "= nonsense\n");
  setenv("PIP_TIMEOUT", "soon", 1);
  axle::CollectedReport report;
  const IndexSettings settings = axle::cli::read_index_settings({}, {}, report);
  CHECK(settings.index_url.empty());
  CHECK(settings.timeout_seconds == 15);
  CHECK(report.remarks.size() == 2);
}

TEST_CASE("each scheme has its proxy, pip's setting serves both") {
  const Surroundings surroundings;
  setenv("http_proxy", "http://plain:1", 1);
  CHECK(read({}).http_proxy == "http://plain:1");
  CHECK(read({}).https_proxy.empty());
  setenv("HTTPS_PROXY", "http://secure:2", 1);
  CHECK(read({}).https_proxy == "http://secure:2");
  unsetenv("http_proxy");
  setenv("HTTP_PROXY", "http://capital:3", 1);
  CHECK(read({}).http_proxy == "http://capital:3");
  setenv("PIP_PROXY", "http://both:4", 1);
  CHECK(read({}).http_proxy == "http://both:4");
  CHECK(read({}).https_proxy == "http://both:4");
}

TEST_CASE("pip's spellings of true and false, and a warning for anything else") {
  const Surroundings surroundings;
  for (const char* yes : {"TRUE", "y", "t", "On", "1"}) {
    setenv("PIP_NO_INDEX", yes, 1);
    CHECK(read({}).no_index);
  }
  for (const char* no : {"False", "n", "off", "0"}) {
    setenv("PIP_NO_INDEX", no, 1);
    CHECK_FALSE(read({}).no_index);
  }
  setenv("PIP_NO_INDEX", "perhaps", 1);
  axle::CollectedReport report;
  CHECK_FALSE(axle::cli::read_index_settings({}, {}, report).no_index);
  REQUIRE(report.remarks.size() == 1);
  CHECK(report.remarks[0].message.contains("perhaps"));
}
