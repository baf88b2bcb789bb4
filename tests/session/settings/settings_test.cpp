#include <cstdlib>
#include <filesystem>
#include <fstream>

#include <doctest/doctest.h>

#include "session/settings/layer.h"

namespace {

namespace fs = std::filesystem;
using axle::session::Arguments;
using axle::session::ConfiguredIndex;
using axle::session::Opt;
using axle::session::Settings;
using axle::session::Stated;

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

axle::session::Outcome<axle::session::Settings> try_read(const axle::session::Arguments& arguments,
                                                         const std::string& prefix = {}) {
  return axle::session::read_settings(arguments, prefix);
}

axle::session::Settings read(const axle::session::Arguments& arguments,
                             const std::string& prefix = {}) {
  auto settings = try_read(arguments, prefix);
  REQUIRE_MESSAGE(settings, settings.error().error.message);
  return std::move(*settings);
}

/// The default index; "" when nothing says one.
std::string index_url(const axle::session::Settings& settings) {
  for (const axle::session::ConfiguredIndex& index : settings.indexes) {
    if (index.is_default) return index.url;
  }
  return {};
}

std::vector<std::string> extra_index_urls(const axle::session::Settings& settings) {
  std::vector<std::string> urls;
  for (const axle::session::ConfiguredIndex& index : settings.indexes) {
    if (!index.is_default) urls.push_back(index.url);
  }
  return urls;
}

std::vector<std::string> texts(const std::vector<axle::session::Stated>& stated) {
  std::vector<std::string> values;
  for (const axle::session::Stated& one : stated) values.push_back(one.value);
  return values;
}

}  // namespace

TEST_CASE("pip's files are read as Python's configparser reads them") {
  const auto sections = axle::session::parse_pip_config(
      "# a comment\n[DEFAULT]\ntrusted-host = h\n[global] and more\nindex-url = "
      "https://one/simple\n"
      "extra_index_url =\n    https://a/simple\n  # not a value\n\n    https://b/simple\n; "
      "another\r\n"
      "--TIMEOUT=60\r[install]\nindex-url: https://two/simple # kept\n[list]\nformat = json\n",
      "pip.conf");
  REQUIRE(sections);
  const auto& global = sections->at("global");
  CHECK(global.at("index-url").value == "https://one/simple");
  CHECK(global.at("index-url").origin == "pip.conf:5");
  CHECK(axle::session::split_words(global.at("extra-index-url").value) ==
        std::vector<std::string>{"https://a/simple", "https://b/simple"});
  CHECK(global.at("timeout").value == "60");
  CHECK(global.at("trusted-host").value == "h");
  CHECK(sections->at("install").at("index-url").value == "https://two/simple # kept");
  CHECK(sections->at("list").at("format").value == "json");
}

TEST_CASE("what configparser refuses is refused, with file and line") {
  const std::pair<std::string, const char*> broken[] = {
      {"[global]\nindex-url\n", "pip.conf:2:"},
      {"[global\n", "pip.conf:1:"},
      {"[global]\nindex-url = x\nstray\n", "pip.conf:3:"},
      {"index-url = x\n", "pip.conf:1:"},
      {"\xEF\xBB\xBF[global]\n", "pip.conf:1:"},
      {"[global]\n[install]\n[global]\n", "pip.conf:3:"},
      {"[global]\nindex-url = x\nINDEX_URL = y\n", "pip.conf:3:"},
      {"[global]\n= x\n", "pip.conf:2:"},
      {"[]\n", "pip.conf:1:"},
      {"[global]\n# \xE9\n", "pip.conf:2:"},
      {"[global]\n# \xE2\x82", "pip.conf:2:"}};
  for (const auto& [text, where] : broken) {
    INFO(text);
    const auto sections = axle::session::parse_pip_config(text, "pip.conf");
    REQUIRE_FALSE(sections);
    CHECK_MESSAGE(sections.error().message.starts_with(where), sections.error().message);
  }
}

TEST_CASE("uv's files: a key that uv has not, or a value of the wrong type, is refused") {
  const std::pair<std::string, const char*> broken[] = {
      {"zork = 1\n", "uv.toml:1: `zork`"},
      {"# x\nindex-url = 3\n", "uv.toml:2: `index-url`"},
      {"no-index = \"true\"\n", "uv.toml:1: `no-index`"},
      {"find-links = \"x\"\n", "uv.toml:1: `find-links`"},
      {"find-links = [3]\n", "uv.toml:1: `find-links`"},
      {"no-binary = [\"demo\"]\n", "uv.toml:1: `no-binary`"},
      {"[pip]\nno-binary = true\n", "uv.toml:2: `pip.no-binary`"},
      {"pip = 3\n", "uv.toml:1: `pip`"},
      {"index = 3\n", "uv.toml:1: `index`"},
      {"[[index]]\nname = \"a b\"\nurl = \"https://a\"\n", "uv.toml:2: `a b`"},
      {"[[index]]\nname = \"a\"\n", "uv.toml:1: an index has no `url`"},
      {"[[index]]\nurl = \"https://a\"\nexplicit = true\n", "uv.toml:1: an index with"},
      {"[[index]]\nurl = \"https://a\"\nformat = \"flat\"\n", "uv.toml:3: `format`"},
      {"[sources]\nx = {index = \"a\"}\n", "uv.toml:1: `sources`"},
      {"no-index = true\nno-index = true\n", "uv.toml:2"},
      {"exclude-newer = 2020-01-01\n", "uv.toml:1: `exclude-newer`"}};
  for (const auto& [text, where] : broken) {
    INFO(text);
    const auto layer = axle::session::parse_uv_config(text, "uv.toml");
    REQUIRE_FALSE(layer);
    CHECK_MESSAGE(layer.error().message.starts_with(where), layer.error().message);
  }
}

TEST_CASE("[tool.uv] of a project: [pip] wins, lists add up, paths count from its folder") {
  const auto layer = axle::session::parse_pyproject_config(
      "[project]\nname = 3\n[tool.uv]\nindex-url = \"https://top\"\nno-binary = true\n"
      "constraint-dependencies = [\"demo<1\"]\nfind-links = [\"wheels\"]\ncache-dir = 3\n"
      "[tool.uv.exclude-newer-package]\ndemo = \"2020-01-01\"\nother = false\n"
      "[tool.uv.pip]\nindex-url = \"https://pip\"\nno-binary = [\"demo\"]\n"
      "[tool.uv.sources]\nCorp = [{index = \"corp\", marker = \"sys_platform == 'linux'\"}, "
      "{git = \"https://x/y\", rev = \"v1\", subdirectory = \"a b\", extra = \"e\"}]\nlocal = "
      "{path = "
      "\"dist/local-1-py3-none-any.whl\"}\n",
      "/project/pyproject.toml");
  REQUIRE_MESSAGE(layer, layer.error().message);
  CHECK(texts(layer->values.at("index-url")).front() == "https://pip");
  CHECK(texts(layer->values.at("no-binary")) == std::vector<std::string>{"demo", ":all:"});
  CHECK(layer->values.at("constraint-dependencies")[0].origin == "/project/pyproject.toml:6");
  CHECK(texts(layer->values.at("find-links")) == std::vector<std::string>{"/project/wheels"});
  CHECK(texts(layer->values.at("exclude-newer-package")) ==
        std::vector<std::string>{"demo=2020-01-01", "other=false"});
  REQUIRE(layer->sources.size() == 3);
  CHECK(layer->sources[0].package == "corp");
  CHECK(layer->sources[0].index == "corp");
  CHECK(layer->sources[0].marker == "sys_platform == 'linux'");
  CHECK(layer->sources[1].url == "git+https://x/y@v1#subdirectory=a%20b");
  CHECK(layer->sources[1].extra == "e");
  CHECK(layer->sources[2].url == "file:///project/dist/local-1-py3-none-any.whl");
  CHECK(axle::session::parse_pyproject_config("[project]\nname = 3\n", "p").value().values.empty());
  CHECK_FALSE(axle::session::parse_pyproject_config("[tool]\nuv = 3\n", "p"));
}

TEST_CASE("uv's files: indexes with their names, find-links") {
  const auto layer = axle::session::parse_uv_config(
      "find-links = [\"/wheels\"]\n[[index]]\nurl = \"https://main/simple\"\ndefault = true\n"
      "[[index]]\nname = \"x\"\nurl = \"https://x/simple\"\n[[index]]\nname = \"y\"\nurl = "
      "\"https://hidden\"\nexplicit = true\n",
      "uv.toml");
  REQUIRE(layer);
  REQUIRE(layer->indexes.size() == 3);
  CHECK(layer->indexes[0].is_default);
  CHECK(layer->indexes[1].name == "x");
  CHECK(layer->indexes[1].origin == "uv.toml:5");
  CHECK(layer->indexes[2].explicit_only);
  CHECK(texts(layer->values.at("find-links")) == std::vector<std::string>{"/wheels"});
  const auto broken = axle::session::parse_uv_config("a = = 1\n", "uv.toml");
  REQUIRE_FALSE(broken);
  CHECK(broken.error().message.starts_with("uv.toml:1:"));
}

TEST_CASE(
    "of each setting the first that says it wins: options, PIP_*, UV_*, pip's files, uv's files") {
  const Surroundings surroundings;
  surroundings.write("config/uv/uv.toml",
                     "index-url = \"https://uvfile/simple\"\nno-index = false\n");
  CHECK(index_url(read({})) == "https://uvfile/simple");

  unsetenv("PIP_CONFIG_FILE");
  surroundings.write("config/pip/pip.conf",
                     "[global]\nindex-url = https://pipfile/simple\ncert = /certs.pem\n");
  CHECK(index_url(read({})) == "https://pipfile/simple");
  CHECK(read({}).ca_file == "/certs.pem");

  surroundings.write("venv/pip.conf", "[global]\nindex-url = https://venvfile/simple\n");
  CHECK(index_url(read({}, surroundings.path("venv"))) == "https://venvfile/simple");

  setenv("UV_DEFAULT_INDEX", "main=https://uvvariable/simple", 1);
  CHECK(index_url(read({})) == "https://uvvariable/simple");

  setenv("PIP_INDEX_URL", "https://pipvariable/simple", 1);
  setenv("PIP_EXTRA_INDEX_URL", "https://a https://b", 1);
  CHECK(index_url(read({})) == "https://pipvariable/simple");
  CHECK(extra_index_urls(read({})) == std::vector<std::string>{"https://a", "https://b"});
  CHECK(read({}).indexes.back().origin == "PIP_INDEX_URL");

  axle::session::Arguments arguments;
  arguments.add(axle::session::Opt::index_url, "https://option/simple");
  CHECK(index_url(read(arguments)) == "https://option/simple");
  // The list of the environment still counts: the option did not speak of it.
  CHECK(extra_index_urls(read(arguments)).size() == 2);
}

TEST_CASE("a configured no-index silences the index of the command line too") {
  const Surroundings surroundings;
  setenv("PIP_NO_INDEX", "1", 1);
  CHECK(read({}).no_index);
  axle::session::Arguments arguments;
  arguments.add(axle::session::Opt::index_url, "https://option/simple");
  CHECK(read(arguments).no_index);
  CHECK(read(arguments).no_index_origin == "PIP_NO_INDEX");
}

TEST_CASE("what is not valid ends the command with exit 2, and says where it stands") {
  const Surroundings surroundings;
  const auto fails = [](const std::string& where, const axle::session::Arguments& arguments = {}) {
    INFO(where);
    const auto settings = try_read(arguments);
    REQUIRE_FALSE(settings);
    CHECK(settings.error().exit_code == axle::session::exit_usage);
    CHECK_MESSAGE(settings.error().error.message.contains(where), settings.error().error.message);
  };
  surroundings.write("config/uv/uv.toml", "index-url = \"https://one\"\n= nonsense\n");
  fails(surroundings.path("config/uv/uv.toml") + ":2:");
  fs::remove(surroundings.path("config/uv/uv.toml"));
  fs::create_directory(surroundings.path("config/uv/uv.toml"));
  fails(surroundings.path("config/uv/uv.toml"));
  fs::remove(surroundings.path("config/uv/uv.toml"));
  setenv("PIP_TIMEOUT", "soon", 1);
  fails("PIP_TIMEOUT: timeout `soon`");
  unsetenv("PIP_TIMEOUT");
  setenv("PIP_NO_INDEX", "perhaps", 1);
  fails("PIP_NO_INDEX: no-index `perhaps`");
  unsetenv("PIP_NO_INDEX");
  axle::session::Arguments arguments;
  arguments.add(axle::session::Opt::index_strategy, "best");
  fails("--index-strategy", arguments);
}

TEST_CASE("limits on what is chosen are read with the place that states them") {
  const Surroundings surroundings;
  setenv("PIP_CONSTRAINT", "a.txt b.txt", 1);
  setenv("UV_REQUIRE_HASHES", "1", 1);
  setenv("UV_EXCLUDE_NEWER", "2024-01-01T00:00:00Z", 1);
  setenv("PIP_NO_BINARY", "Foo_Bar,:none:,baz", 1);
  axle::session::Arguments arguments;
  arguments.add(axle::session::Opt::exclude_newer_package, "Foo=false");
  arguments.add(axle::session::Opt::exclude_newer_package, "bar=2025-01-01T00:00:00Z");
  arguments.add(axle::session::Opt::overrides, "o.txt");
  const axle::session::Settings settings = read(arguments);
  for (const char* name :
       {"PIP_CONSTRAINT", "UV_REQUIRE_HASHES", "UV_EXCLUDE_NEWER", "PIP_NO_BINARY"}) {
    unsetenv(name);
  }
  CHECK(texts(settings.constraint_files) == std::vector<std::string>{"a.txt", "b.txt"});
  CHECK(settings.constraint_files[0].origin == "PIP_CONSTRAINT");
  CHECK(settings.require_hashes == true);
  CHECK(settings.require_hashes_origin == "UV_REQUIRE_HASHES");
  REQUIRE(settings.exclude_newer);
  CHECK(settings.exclude_newer->time == "2024-01-01T00:00:00.000000Z");
  CHECK(settings.exclude_newer_package.at("foo") == std::nullopt);
  CHECK(settings.exclude_newer_package.at("bar")->time == "2025-01-01T00:00:00.000000Z");
  REQUIRE(settings.formats.size() == 3);
  CHECK(settings.formats[0].name == "foo-bar");
  CHECK(settings.formats[1].name == ":none:");
  CHECK(settings.formats[2].name == "baz");
  CHECK(settings.formats[2].forbids);
  CHECK(texts(settings.override_files) == std::vector<std::string>{"o.txt"});
}

TEST_CASE("indexes are asked in uv's order: --index, --extra-index-url, then the default") {
  const Surroundings surroundings;
  axle::session::Arguments arguments;
  arguments.add(axle::session::Opt::index_url, "https://main/simple");
  arguments.add(axle::session::Opt::extra_index_url, "https://extra/simple");
  arguments.add(axle::session::Opt::index, "corp=https://corp/simple?a=b");
  arguments.add(axle::session::Opt::index, "https://second/simple?a=b");
  const axle::session::Settings settings = read(arguments);
  REQUIRE(settings.indexes.size() == 4);
  CHECK(settings.indexes[0].name == "corp");
  CHECK(settings.indexes[0].url == "https://corp/simple?a=b");
  CHECK(settings.indexes[1].url == "https://second/simple?a=b");
  CHECK(settings.indexes[2].url == "https://extra/simple");
  CHECK(settings.indexes[3].is_default);
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

TEST_CASE("pip's spellings of true and false") {
  const Surroundings surroundings;
  for (const char* yes : {"TRUE", "y", "t", "On", "1"}) {
    setenv("PIP_NO_INDEX", yes, 1);
    CHECK(read({}).no_index);
  }
  for (const char* no : {"False", "n", "off", "0"}) {
    setenv("PIP_NO_INDEX", no, 1);
    CHECK_FALSE(read({}).no_index);
  }
}
