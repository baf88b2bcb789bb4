#include "runtime/files/safetensors_writer.h"

#include <csignal>
#include <random>

#include <doctest/doctest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/runtime/files/made_file.h"

namespace {

using namespace axle::runtime;
using namespace axle::runtime::testing;

/// Puts `bytes` in pieces.
TensorToWrite in_pieces(const std::string& name, TensorType type, std::vector<std::size_t> shape,
                        const std::string& bytes, std::size_t piece = 5) {
  return {name, type, std::move(shape), [bytes, piece](const PutBytes& put) -> Result<void> {
            for (std::size_t i = 0; i < bytes.size(); i += piece) {
              const Result<void> done =
                  put(bytes_of(bytes).subspan(i, std::min(piece, bytes.size() - i)));
              if (!done) return done;
            }
            return {};
          }};
}

/// Tensors of every type, with names and shapes of every kind.
struct Made {
  std::vector<std::string> bytes;
  std::vector<TensorToWrite> tensors;

  Made() {
    std::mt19937 random(3);
    const std::string names[] = {
        "model.a.weight", "quote\" back\\ line\n", "\xc3\xa4\xe2\x82\xac", "", "a/b", "\x7f"};
    const std::vector<std::size_t> shapes[] = {{3, 5}, {}, {7}, {2, 0, 3}, {1, 1, 1, 11}};
    for (std::uint8_t i = 0; i <= static_cast<std::uint8_t>(TensorType::boolean); ++i) {
      const TensorType type = static_cast<TensorType>(i);
      for (const std::vector<std::size_t>& shape : shapes) {
        std::string data(tensor_bytes(type, shape).value(), '\0');
        for (char& byte : data) byte = static_cast<char>(random() & 0xffU);
        const std::string name =
            names[tensors.size() % 6] + (tensors.size() < 6 ? "" : std::to_string(tensors.size()));
        tensors.push_back(in_pieces(name, type, shape, data));
        bytes.push_back(data);
      }
    }
  }

  void check(const TensorSource& source) const {
    REQUIRE(source.tensors().size() == tensors.size());
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const Tensor* const tensor = source.find(tensors[i].name);
      REQUIRE(tensor != nullptr);
      CHECK(tensor->type == tensors[i].type);
      CHECK(tensor->shape == tensors[i].shape);
      CHECK(text_of(*tensor) == bytes[i]);
    }
  }
};

const SafetensorsMetadata metadata{{"format", "pt"}, {"\"", "\xe2\x82\xac\n"}};

TEST_CASE("a file that is written is read as it was, each tensor aligned") {
  const Folder folder;
  const Made made;
  const std::string path = folder.write("m.safetensors", "an older one");
  REQUIRE(write_safetensors(path, made.tensors, metadata).has_value());
  CHECK(folder.names() == std::vector<std::string>{"m.safetensors"});
  const Result<SafetensorsFile> file = SafetensorsFile::open(path);
  REQUIRE(file.has_value());
  CHECK(file->metadata() == metadata);
  made.check(file->tensors());
  for (const Tensor& tensor : file->tensors().tensors())
    CHECK(tensor.at % row(tensor.type).block_bytes == 0);
}

TEST_CASE("a file of nothing can be written and read") {
  const Folder folder;
  REQUIRE(write_safetensors(folder.at("m"), {}, {}).has_value());
  CHECK(folder.read("m") == raw(std::uint64_t{8}) + "{}      ");
  CHECK(SafetensorsFile::open(folder.at("m")).has_value());
}

TEST_CASE("a folder is written in shards of any size, and sharded again") {
  const Made made;
  std::uint64_t total = 0;
  for (const std::string& bytes : made.bytes) total += bytes.size();
  const Folder first;
  REQUIRE(write_safetensors_folder(first.path(), made.tensors, metadata, total).has_value());
  CHECK(first.names() == std::vector<std::string>{"model.safetensors"});
  std::size_t shards = 1;
  for (const std::uint64_t limit : {total - 1, total / 3, std::uint64_t{100}, std::uint64_t{0}}) {
    CAPTURE(limit);
    const Folder folder;
    const Result<SafetensorsFolder> from = SafetensorsFolder::open(first.path());
    REQUIRE(from.has_value());
    std::vector<TensorToWrite> tensors;
    for (const Tensor& tensor : from->tensors().tensors()) tensors.push_back(copy_of(tensor));
    REQUIRE(write_safetensors_folder(folder.path(), tensors, from->metadata(), limit).has_value());
    const Result<SafetensorsFolder> opened = SafetensorsFolder::open(folder.path());
    REQUIRE(opened.has_value());
    made.check(opened->tensors());
    CHECK(opened->metadata() == metadata);
    const std::vector<std::string> names = folder.names();
    CHECK(names.size() - 1 > shards);
    shards = names.size() - 1;
    CHECK(names.back() == "model.safetensors.index.json");
    char name[80];
    std::snprintf(name, sizeof name, "model-00002-of-%05zu.safetensors", shards);
    CHECK(names[1] == name);
    CHECK(folder.read(names.back()).find("\"total_size\": " + std::to_string(total) + "}") !=
          std::string::npos);
  }
}

TEST_CASE("shards are as full as their limit lets them be") {
  const std::string ten(10, 'x');
  std::vector<TensorToWrite> tensors;
  for (const char* name : {"a", "b", "c"})
    tensors.push_back(in_pieces(name, TensorType::int8, {10}, ten));
  tensors.push_back(in_pieces("large", TensorType::int8, {10, 10}, std::string(100, 'y')));
  tensors.push_back(in_pieces("d", TensorType::int8, {10}, ten));
  const Folder folder;
  REQUIRE(write_safetensors_folder(folder.path(), tensors, {}, 20).has_value());
  CHECK(folder.read("model.safetensors.index.json") ==
        "{\n  \"metadata\": {\"total_size\": 140},\n  \"weight_map\": {\n"
        "    \"a\": \"model-00001-of-00004.safetensors\",\n"
        "    \"b\": \"model-00001-of-00004.safetensors\",\n"
        "    \"c\": \"model-00002-of-00004.safetensors\",\n"
        "    \"large\": \"model-00003-of-00004.safetensors\",\n"
        "    \"d\": \"model-00004-of-00004.safetensors\"\n  }\n}\n");
}

TEST_CASE("a folder that holds a model is not written to") {
  const Folder folder;
  for (const char* name : {"model.safetensors.index.json", "model.safetensors"}) {
    folder.write(name, "old");
    const Result<void> written = write_safetensors_folder(folder.path(), Made().tensors, {}, 100);
    REQUIRE_FALSE(written.has_value());
    CHECK(written.error().status == AXLE_BAD_ARGUMENT);
    CHECK(written.error().message ==
          folder.at(name) + ": there is a model already; name another folder");
    CHECK(folder.read(name) == "old");
  }
}

TEST_CASE("what cannot be written is refused, and leaves nothing") {
  const std::string four = "four";
  const TensorToWrite sound = in_pieces("x", TensorType::float32, {1}, four);
  const auto fails = [](const PutBytes& put) -> Result<void> {
    const Result<void> done = put(bytes_of("ab"));
    if (!done) return done;
    return failure(AXLE_MALFORMED, "source: damaged");
  };
  constexpr std::size_t half = std::size_t{1} << 31U;
  struct Case {
    std::vector<TensorToWrite> tensors;
    SafetensorsMetadata metadata;
    axle_status status;
    const char* message;
  };
  const Case cases[] = {
      {{sound, sound}, {}, AXLE_BAD_ARGUMENT, "two tensors cannot have the name \"x\""},
      {{in_pieces("__metadata__", TensorType::int8, {4}, four)},
       {},
       AXLE_BAD_ARGUMENT,
       "two tensors cannot have the name \"__metadata__\""},
      {{in_pieces("\xff", TensorType::int8, {4}, four)},
       {},
       AXLE_BAD_ARGUMENT,
       "\"?\" is no UTF-8"},
      {{sound}, {{"k", "\xff"}}, AXLE_BAD_ARGUMENT, "\"?\" is no UTF-8"},
      {{sound}, {{"\xff", "v"}}, AXLE_BAD_ARGUMENT, "\"?\" is no UTF-8"},
      {{in_pieces("x", TensorType::q8_0, {32}, four)},
       {},
       AXLE_UNSUPPORTED,
       "tensor \"x\" is of type q8_0, which safetensors files do not have"},
      {{sound, in_pieces("y", TensorType::float32, {half, half, half}, four)},
       {},
       AXLE_BAD_ARGUMENT,
       "tensor \"y\" is too large"},
      {{in_pieces("x", TensorType::int8, {half, half}, four),
        in_pieces("y", TensorType::int8, {half, half}, four)},
       {},
       AXLE_BAD_ARGUMENT,
       "the tensors are too large for a file"},
      {{sound, in_pieces("y", TensorType::int8, {3}, four)},
       {},
       AXLE_BAD_ARGUMENT,
       "tensor \"y\": more bytes than the 3"},
      {{sound, in_pieces("y", TensorType::int8, {5}, four)},
       {},
       AXLE_BAD_ARGUMENT,
       "tensor \"y\": 4 bytes, not the 5"},
      {{sound, {"y", TensorType::int8, {4}, fails}}, {}, AXLE_MALFORMED, "source: damaged"}};
  for (const Case& one : cases) {
    CAPTURE(one.message);
    const Folder folder;
    const std::string path = folder.write("m", "old");
    const Result<void> written = write_safetensors(path, one.tensors, one.metadata);
    REQUIRE_FALSE(written.has_value());
    CHECK(written.error().status == one.status);
    CHECK(written.error().message.find(one.message) != std::string::npos);
    CHECK(folder.names() == std::vector<std::string>{"m"});
    CHECK(folder.read("m") == "old");
    CHECK_FALSE(write_safetensors_folder(folder.path(), one.tensors, one.metadata, 1).has_value());
    CHECK(folder.names() == std::vector<std::string>{"m"});
  }
}

TEST_CASE("a folder that is not there is named") {
  const Folder folder;
  const Result<void> written = write_safetensors(folder.at("none/m"), Made().tensors, {});
  REQUIRE_FALSE(written.has_value());
  CHECK(written.error().status == AXLE_IO);
  CHECK(written.error().message ==
        folder.at("none/m") + ": cannot be written: No such file or directory");
}

/// Runs `work` in another process; its wait status.
template <class Work>
int in_child(const Work& work) {
  const pid_t child = fork();
  if (child == 0) _exit(work() ? 0 : 1);
  int status = -1;
  REQUIRE(waitpid(child, &status, 0) == child);
  return status;
}

TEST_CASE("a killed writer leaves no model, and does not harm the one that is there") {
  const Folder folder;
  const std::string path = folder.write("m.safetensors", "old");
  std::vector<TensorToWrite> tensors = Made().tensors;
  tensors.push_back({"last", TensorType::int8, {4}, [](const PutBytes& put) {
                       const Result<void> done = put(bytes_of("ab"));
                       static_cast<void>(std::raise(SIGKILL));
                       return done;
                     }});
  for (const bool shards : {false, true}) {
    const int status = in_child([&] {
      return (shards ? write_safetensors_folder(folder.path(), tensors, {}, 100)
                     : write_safetensors(path, tensors, {}))
          .has_value();
    });
    CHECK_UNARY(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  }
  CHECK(folder.read("m.safetensors") == "old");
  std::size_t partial = 0;
  for (const std::string& name : folder.names()) {
    if (name.find(".safetensors.partial-") != std::string::npos) ++partial;
  }
  CHECK(partial > 2);
  CHECK(folder.names().size() == partial + 1);

  tensors.pop_back();
  CHECK(write_safetensors_folder(folder.path(), tensors, {}, 100).has_value());
  CHECK(SafetensorsFolder::open(folder.path()).has_value());
}

TEST_CASE("a file system without room for the file is seen before the work is done") {
  const Folder folder;
  bool asked = false;
  const std::vector<TensorToWrite> tensors{
      {"x", TensorType::int8, {1U << 20U}, [&](const PutBytes&) -> Result<void> {
         asked = true;
         return {};
       }}};
  const int status = in_child([&] {
    const rlimit limit{1U << 16U, 1U << 16U};
    if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return false;
    std::signal(SIGXFSZ, SIG_IGN);
    const Result<void> written = write_safetensors(folder.at("m"), tensors, {});
    return !written && written.error().status == AXLE_IO &&
           written.error().message.find("there is no room for 10486") != std::string::npos &&
           !asked;
  });
  CHECK(status == 0);
  CHECK(folder.names().empty());
}

}  // namespace
