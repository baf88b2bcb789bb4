#include "session/requests/requirements_file.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>

#include <doctest/doctest.h>

#include "index/http/redaction.h"

namespace {

namespace fs = std::filesystem;
using axle::session::Opt;
using axle::session::RequirementsFile;

class Folder {
 public:
  Folder() {
    char pattern[] = "/tmp/axle-requirements-XXXXXX";
    path_ = mkdtemp(pattern);
  }
  ~Folder() { fs::remove_all(path_); }
  std::string write(const std::string& name, const std::string& text) const {
    fs::create_directories((path_ / name).parent_path());
    std::ofstream(path_ / name) << text;
    return (path_ / name).string();
  }
  [[nodiscard]] std::string path(const std::string& name) const { return (path_ / name).string(); }

 private:
  fs::path path_;
};

std::vector<std::string> texts(const std::vector<axle::session::FileRequirement>& lines) {
  std::vector<std::string> result;
  for (const auto& line : lines) result.push_back(line.text);
  return result;
}

/// What servers have: URL -> text.
using Served = std::map<std::string, std::string>;

axle::Result<axle::session::RequirementsFile> read(const std::string& path,
                                                   const Served& served = {}) {
  const axle::session::RemoteText asked = [&](const std::string& url) -> axle::Result<std::string> {
    const auto found = served.find(url);
    if (found != served.end()) return found->second;
    return axle::fail(axle::ErrorKind::io,
                      axle::index::redact_url(url) + ": the server answers 404");
  };
  axle::session::RequirementsFile file;
  const axle::Result<void> done = axle::session::read_requirements_file(path, false, asked, file);
  if (!done) return std::unexpected(done.error());
  return file;
}

}  // namespace

TEST_CASE("comments, continued lines, variables, options and nested files") {
  const Folder folder;
  setenv("AXLE_TEST_HOST", "example.invalid", 1);
  folder.write("sub/more.txt", "third\n-c limits.txt\nlocal.whl\n");
  folder.write("sub/limits.txt", "first<2\n");
  const auto file = read(
      folder.write("all.txt",
                   "# comment\nfirst >= 1 # why\n\nsecond[extra] \\\n  ==2 ; python_version > '3'\n"
                   "-i https://${AXLE_TEST_HOST}/simple\n--extra-index-url=https://b/simple\n"
                   "-r sub/more.txt\n--pre\nurl @ https://x/y.whl#frag\n"));
  REQUIRE(file);
  CHECK(texts(file->requirements) ==
        std::vector<std::string>{"first >= 1", "second[extra]   ==2 ; python_version > '3'",
                                 "third", "local.whl", "url @ https://x/y.whl#frag"});
  CHECK(file->requirements[3].folder == folder.path("sub"));
  CHECK(texts(file->constraints) == std::vector<std::string>{"first<2"});
  CHECK(file->read.options.value(axle::session::Opt::index_url) ==
        "https://example.invalid/simple");
  CHECK(file->read.options.values(axle::session::Opt::extra_index_url) ==
        std::vector<std::string>{"https://b/simple"});
  CHECK(file->read.options.has(axle::session::Opt::pre));
}

TEST_CASE("files that include each other are read once") {
  const Folder folder;
  folder.write("a.txt", "-r b.txt\na\n");
  folder.write("b.txt", "-r a.txt\nb\n");
  const auto file = read(folder.path("a.txt"));
  REQUIRE(file);
  CHECK(texts(file->requirements) == std::vector<std::string>{"b", "a"});
}

TEST_CASE("a NUL is refused: it would cut the name of the file that is opened") {
  const Folder folder;
  const auto file = read(folder.write("r.txt", std::string("ok\n-r r.txt\0/x\n", 15)));
  REQUIRE_FALSE(file);
  CHECK(file.error().message.find("r.txt:2: the line contains a NUL") != std::string::npos);
}

TEST_CASE("requirements files that are nested too deeply are an error") {
  const Folder folder;
  std::filesystem::create_directories(folder.path("d"));
  for (int i = 0; i < 110; ++i) {
    folder.write("d/" + std::to_string(i) + ".txt", "-r " + std::to_string(i + 1) + ".txt\n");
  }
  const auto file = read(folder.path("d/0.txt"));
  REQUIRE_FALSE(file);
  CHECK(file.error().message.find("nested requirements files") != std::string::npos);
}

TEST_CASE("hashes are read, and where they stand") {
  const Folder folder;
  const std::string a(64, 'a');
  const std::string b(128, 'b');
  const auto file = read(folder.write(
      "r.txt", "ok\ndemo==1 ; python_version > '3' \\\n    --hash=sha256:" + a + " \\\n" +
                   "    --hash sha512:" + b + "\n    # via more\nlast @ https://x/y.whl#egg " +
                   "--hash='sha256:" + a + "'\n-c c.txt\n"));
  REQUIRE_FALSE(file);  // c.txt is missing
  folder.write("c.txt", "demo --hash=sha256:" + a + "\n");
  const auto whole = read(folder.path("r.txt"));
  REQUIRE_MESSAGE(whole.has_value(), whole.error().message);
  REQUIRE(texts(whole->requirements) == std::vector<std::string>{"ok",
                                                                 "demo==1 ; python_version > '3'",
                                                                 "last @ https://x/y.whl#egg"});
  CHECK(whole->requirements[0].hashes.empty());
  using Hashes = std::vector<axle::wheel::ListedHash>;
  CHECK(whole->requirements[1].hashes == Hashes{{"sha256", a}, {"sha512", b}});
  CHECK(whole->requirements[1].origin == folder.path("r.txt") + ":2");
  CHECK(whole->requirements[2].hashes == Hashes{{"sha256", a}});
  CHECK(whole->constraints[0].hashes == Hashes{{"sha256", a}});
  CHECK(whole->constraints[0].origin == folder.path("c.txt") + ":1");
}

TEST_CASE("a comment ends a continued line, whatever it ends with") {
  const Folder folder;
  const auto file = read(folder.write("r.txt", "a \\\n# comment \\\nb \\\n==1\n"));
  REQUIRE(file);
  CHECK(texts(file->requirements) == std::vector<std::string>{"a", "b ==1"});
}

TEST_CASE("options of the command in a file, and those that change nothing") {
  const Folder folder;
  fs::create_directories(folder.path("links"));
  const auto file = read(folder.write("r.txt",
                                      "--require-hashes\n--no-binary :all:\n--only-binary=a,b\n"
                                      "--trusted-host h\n--prefer-binary\n--use-feature fast-deps\n"
                                      "-f links\n-f https://l/\n--pypi-url https://i/\n"));
  REQUIRE_MESSAGE(file.has_value(), file.error().message);
  CHECK(file->read.options.has(axle::session::Opt::require_hashes));
  CHECK(file->read.options.value(axle::session::Opt::no_binary) == ":all:");
  CHECK(file->read.options.value(axle::session::Opt::only_binary) == "a,b");
  CHECK(file->read.options.value(axle::session::Opt::trusted_host) == "h");
  CHECK(file->read.options.value(axle::session::Opt::index_url) == "https://i/");
  CHECK(file->read.options.values(axle::session::Opt::find_links) ==
        std::vector<std::string>{folder.path("links"), "https://l/"});
}

TEST_CASE("what cannot be honoured is refused with file, line and what to do") {
  const Folder folder;
  const auto error = [&](const std::string& line) {
    const auto file = read(folder.write("r.txt", "ok\n" + line + "\n"));
    REQUIRE_FALSE_MESSAGE(file.has_value(), line);
    CHECK_MESSAGE(file.error().message.find("r.txt:2") != std::string::npos, file.error().message);
    return file.error();
  };
  for (const char* line :
       {"demo==1 --hash=sha256:00", "demo==1 --hash=00", "demo==1 --hash=md4:00", "demo==1 --hash",
        "--no-binary", "--no-deps", "--foo", "demo --config-setting"}) {
    error(line);
  }
  CHECK(error("demo==1 --no-deps").hint.find("separate lines") != std::string::npos);
  CHECK(error("demo==1 --global-option=x").message.find("is for building") != std::string::npos);
  CHECK(error("--config-settings a=b").hint.find("name its file here") != std::string::npos);
}

TEST_CASE("errors name file and line") {
  const Folder folder;
  const auto missing = read(folder.path("none.txt"));
  REQUIRE_FALSE(missing);
  CHECK(missing.error().kind == axle::ErrorKind::not_found);
  const auto unknown = read(folder.write("u.txt", "--frobnicate\n"));
  REQUIRE_FALSE(unknown);
  CHECK(unknown.error().message.find("u.txt:1") != std::string::npos);
  const auto editable =
      read(folder.write("e.txt", "-e .\n--editable=./my project ; os_name=='nt'\n"));
  REQUIRE_MESSAGE(editable, editable.error().message);
  REQUIRE(editable->requirements.size() == 2);
  CHECK(editable->requirements[0].editable);
  CHECK(editable->requirements[0].text == ".");
  CHECK(editable->requirements[0].origin.ends_with("e.txt:1"));
  CHECK(editable->requirements[1].text == "./my project ; os_name=='nt'");
  const auto nested = read(folder.write("n.txt", "a\n-r gone.txt\n"));
  REQUIRE_FALSE(nested);
  CHECK(nested.error().message.find("n.txt:2") != std::string::npos);
  CHECK(nested.error().message.find("gone.txt") != std::string::npos);
}

TEST_CASE("a requirements file comes from disk, by path or file URL") {
  const Folder folder;
  const std::string path = folder.write("a b.txt", "demo\n");
  const auto by_url = read("file://" + folder.path("a%20b.txt"));
  REQUIRE(by_url);
  CHECK(texts(by_url->requirements) == std::vector<std::string>{"demo"});
  const auto refused = read("ftp://me:secret@h/x");
  REQUIRE_FALSE(refused);
  CHECK(refused.error().message.contains("ftp://h/x: requirements files are read from disk"));
  CHECK(refused.error().hint.contains("download it"));
}

TEST_CASE("a requirements file of a server names others beside it, and nothing of this machine") {
  const Folder folder;
  const std::string local = folder.write("local.txt", "mine\n");
  const auto read_from = [&](const std::string& text, const Served& more = {}) {
    Served served = more;
    served["https://me:secret@h/a/needs.txt"] = text;
    return read("https://me:secret@h/a/needs.txt", served);
  };
  const auto whole = read_from(
      "first # why\n-r more.txt\n-c ../limits.txt\n--extra-index-url https://b/simple\n",
      {{"https://me:secret@h/a/more.txt", "second\n-r https://other/third.txt\n-r needs.txt\n"},
       {"https://other/third.txt", "third\n"},
       {"https://me:secret@h/limits.txt", "first<2\n"}});
  REQUIRE(whole);
  CHECK(texts(whole->requirements) == std::vector<std::string>{"first", "second", "third"});
  CHECK(texts(whole->constraints) == std::vector<std::string>{"first<2"});
  CHECK(whole->requirements[0].origin == "https://h/a/needs.txt:1");
  CHECK(whole->read.options.values(Opt::extra_index_url) ==
        std::vector<std::string>{"https://b/simple"});

  setenv("AXLE_TEST_HOST", "word", 1);
  for (const std::string& text :
       {"-r file://" + local, "-c file://" + local, std::string("-i https://h/${AXLE_TEST_HOST}/"),
        std::string("-r http://h/a/more.txt"), std::string("-r gone.txt")}) {
    const auto refused = read_from("first\n" + text + "\n");
    REQUIRE_FALSE(refused);
    CHECK(refused.error().message.starts_with("https://h/a/needs.txt:2: "));
    CHECK_FALSE(refused.error().message.contains("secret"));
    CHECK_FALSE(refused.error().message.contains("word"));
  }
  CHECK(read_from("first # ${AXLE_TEST_HOST}\n"));
  const auto nested = read(folder.write("n.txt", "a\n-c https://h/limits.txt\n"));
  REQUIRE_FALSE(nested);
  CHECK(nested.error().message.contains("n.txt:2: the requirements file https://h/limits.txt"));
}

TEST_CASE("a line has several options, and values with blanks, in quotes or without") {
  const Folder folder;
  const auto file = read(folder.write(
      "r.txt",
      "--no-index --find-links=\"my wheels\"\n-i https://a/simple --trusted-host a --pre\n"
      "-f my other wheels --extra-index-url 'https://b/simple' -fthird\\ folder\n"));
  REQUIRE_MESSAGE(file.has_value(), file.error().message);
  CHECK(file->requirements.empty());
  CHECK(file->read.options.has(Opt::no_index));
  CHECK(file->read.options.has(Opt::pre));
  CHECK(file->read.options.value(Opt::index_url) == "https://a/simple");
  CHECK(file->read.options.values(Opt::trusted_host) == std::vector<std::string>{"a"});
  CHECK(file->read.options.values(Opt::extra_index_url) ==
        std::vector<std::string>{"https://b/simple"});
  CHECK(file->read.options.values(Opt::find_links) ==
        std::vector<std::string>{"my wheels", "my other wheels", "third folder"});
}

TEST_CASE("nothing that follows an option is dropped in silence, and no login is shown") {
  const Folder folder;
  const std::map<std::string, std::string> problems{
      {"--pre demo", "`--pre demo` takes no value"},
      {"--no-index=yes", "`--no-index=yes` takes no value"},
      {"--pre --nope", "`--nope` is not an option of requirements files"},
      {"-f \"my wheels", "`-f \"my wheels` has a quote that is not closed"},
      {"-i --pre", "`-i` needs a value"},
      {"--index-ur https://me:secret@h/", "`--index-ur https://h/` is not an option"}};
  for (const auto& [line, problem] : problems) {
    const auto file = read(folder.write("r.txt", "ok\n" + line + "\n"));
    REQUIRE_FALSE(file);
    CHECK_MESSAGE(file.error().message.find("r.txt:2: " + problem) != std::string::npos,
                  file.error().message);
  }
}

TEST_CASE("lines of every system, and UTF-16 with its mark") {
  const Folder folder;
  const auto utf16 = [](std::u16string_view text, bool big) {
    std::string bytes;
    for (const char16_t unit : text) {
      const char low = static_cast<char>(unit & 0xFF);
      const char high = static_cast<char>(unit >> 8);
      bytes += big ? high : low;
      bytes += big ? low : high;
    }
    return bytes;
  };
  const std::u16string_view text = u"\uFEFFfirst # caf\u00E9 \U0001F40D\r\n./\u00E9.whl\r\nthird";
  for (const std::string& bytes : {utf16(text, false), utf16(text, true),
                                   std::string("\xEF\xBB\xBF"
                                               "first\r./\xC3\xA9.whl\rthird\r"),
                                   std::string("first\n./\xC3\xA9.whl\n\rthird")}) {
    const auto file = read(folder.write("r.txt", bytes));
    REQUIRE_MESSAGE(file.has_value(), file.error().message);
    CHECK(texts(file->requirements) ==
          std::vector<std::string>{"first", "./\xC3\xA9.whl", "third"});
  }
  for (const std::string& bytes :
       {utf16(u"\uFEFFdemo", false) + "x", utf16(std::u16string{0xFEFF, u'd', 0xD800}, false),
        utf16(std::u16string{0xFEFF, 0xDC00, u'd'}, true), std::string("\xFF\xFE\0\0d\0\0\0", 8)}) {
    const auto file = read(folder.write("r.txt", bytes));
    REQUIRE_FALSE(file);
    CHECK(file.error().message.find("r.txt: the ") != std::string::npos);
    CHECK(file.error().hint == "save the file as UTF-8");
  }
}
