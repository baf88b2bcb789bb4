// What compiled code depends on, and where libraries come from.
#include "doctor/audit/release_needs.h"

#include <doctest/doctest.h>

#include "doctor/audit/library_owners.h"

namespace {

using namespace axle;
using namespace axle::doctor;

std::vector<wheel::Requirement> requirements(std::initializer_list<std::string_view> texts) {
  std::vector<wheel::Requirement> all;
  for (const std::string_view text : texts) {
    auto one = wheel::parse_requirement(text);
    REQUIRE(one.has_value());
    all.push_back(std::move(*one));
  }
  return all;
}

AuditedLibrary module_named(const std::string& path) {
  AuditedLibrary library;
  library.path = path;
  library.facts.architecture = "x86_64";
  library.linkage.loadable = true;
  library.linkage.modules = {"demo"};
  return library;
}

Audited wheel_with(std::vector<AuditedLibrary> libraries, std::string_view tags) {
  Audited audited;
  audited.declaration.emplace();
  audited.declaration->name = "demo";
  audited.declaration->tags = wheel::parse_tags(tags).value();
  audited.libraries = std::move(libraries);
  return audited;
}

}  // namespace

TEST_CASE("owners: who brings a library") {
  CHECK(is_declared("libcublas.so.12", requirements({"nvidia-cublas-cu12==12.8.4.1"})));
  CHECK_FALSE(is_declared("libcublas.so.12", requirements({"nvidia-cublas-cu11"})));
  CHECK(is_declared("libcublasLt.so.13", requirements({"nvidia-cublas"})));
  CHECK(is_declared("libcublas.so.13", requirements({"cuda-toolkit[cublas,cudart]==13.2"})));
  CHECK_FALSE(is_declared("libcufft.so.12", requirements({"cuda-toolkit[cublas]"})));
  CHECK(is_declared("libcudnn_ops.so.9", requirements({"nvidia-cudnn-cu13"})));
  CHECK(is_declared("libc10.so", requirements({"torch>=2.9"})));
  CHECK(is_declared("libcudart.so.12", requirements({"torch"})));
  CHECK(is_declared("libamdhip64.so.7", requirements({"rocm-sdk-core"})));
  CHECK_FALSE(is_declared("libssl.so.3", requirements({"torch", "openssl"})));
  CHECK(owner_of("libcublas.so.12") == "nvidia-cublas-cu12");
  CHECK(owner_of("libcusolver.so.11") == "nvidia-cusolver-cu12");
  CHECK(owner_of("libcublas.so.13") == "nvidia-cublas");
  CHECK(owner_of("libssl.so.3").empty());
}

TEST_CASE("owners: the majors of toolkits") {
  CHECK(cuda_major_of("libcudart.so.12") == 12);
  CHECK(cuda_major_of("libcudart-9335f6a2.so.12.4.127") == 12);
  CHECK(cuda_major_of("libcufft.so.11") == 12);
  CHECK(cuda_major_of("libcusolver.so.12") == 13);
  CHECK(cuda_major_of("libcudnn.so.9") == 0);
  CHECK(cuda_major_of("libcudart.so") == 0);
  CHECK(rocm_major_of("libamdhip64.so.6") == 6);
  CHECK(toolkit_of("libnccl.so.2") == "CUDA");
  CHECK(toolkit_of("librocblas.so.4") == "ROCm");
  CHECK(toolkit_of("libz.so.1").empty());
}

TEST_CASE("release: one wheel for each Python, or for all") {
  CHECK(release_needs(wheel_with({}, "py3-none-any")).render().contains("nothing in it"));
  const auto each = release_needs(wheel_with({module_named("demo.cpython-311-x86_64-linux-gnu.so")},
                                             "cp311-cp311-manylinux_2_28_x86_64"));
  CHECK(each.python == AbiReach::each);
  CHECK(each.pythons == std::set<std::string>{"cp311"});
  const auto stable =
      release_needs(wheel_with({module_named("demo.abi3.so")}, "cp39-abi3-manylinux_2_28_x86_64"));
  CHECK(stable.python == AbiReach::stable);
  CHECK(stable.oldest_python == "3.9");
}

TEST_CASE("release: one wheel for each torch and each CUDA") {
  AuditedLibrary library = module_named("demo.abi3.so");
  library.facts.needed = {"libcudart.so.12", "libc10.so"};
  library.linkage.torch_stable.add("aoti_torch_new");
  auto needs = release_needs(wheel_with({library}, "cp39-abi3-manylinux_2_28_x86_64"));
  CHECK(needs.torch == AbiReach::stable);
  CHECK(needs.cuda == std::set<unsigned>{12});
  library.linkage.torch_cxx.add("_ZN3c105ErrorE");
  needs = release_needs(wheel_with({library}, "cp39-abi3-manylinux_2_28_x86_64"));
  CHECK(needs.torch == AbiReach::each);
  CHECK(needs.render() ==
        "one wheel for all Pythons from 3.9 on (stable ABI), each torch release, each CUDA major "
        "(this one: 12), each architecture (this one: x86_64)");
}

TEST_CASE("release: names of modules, and symbols of the stable ABI") {
  CHECK(python_of_name("a.cpython-313t-x86_64-linux-gnu.so") == "cp313t");
  CHECK(python_of_name("a.abi3.so") == "abi3");
  CHECK(python_of_name("a.pypy310-pp73-x86_64-linux-gnu.so") == "pp310");
  CHECK(python_of_name("a.so").empty());
  CHECK(stable_since("PyErr_Clear") == 2);
  CHECK(stable_since("PyObject_Vectorcall") == 12);
  CHECK_FALSE(stable_since("_PyUnicode_Ready").has_value());
  CHECK_FALSE(stable_since("").has_value());
}
