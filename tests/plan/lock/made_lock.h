#pragma once
// A lock of a project with torch for a laptop, a GPU and a Mac, with a package of each kind.

#include "plan/lock/lock.h"

namespace axle::plan {

[[nodiscard]] inline std::string digits(char one) { return std::string(64, one); }

[[nodiscard]] inline LockedPackage plain(std::string name, const std::string& version, char hash) {
  LockedPackage package;
  package.version = *wheel::parse_version(version);
  package.source = "https://index.example/simple/";
  package.filename = name + "-" + version + "-py3-none-any.whl";
  package.url = "https://files.example/" + package.filename;
  package.sha256 = digits(hash);
  package.size = 1000;
  package.name = std::move(name);
  package.classes = {"laptop", "train", "mac"};
  return package;
}

[[nodiscard]] inline Lock made_lock() {
  Lock lock;
  lock.made_by = "axle 0.9.0";
  lock.requires_python = ">=3.11";
  lock.inputs = digits('e');
  lock.requests.project = {"torch>=2.9", "demo[plot]", "tool; sys_platform == \"darwin\""};
  lock.requests.extras = {{"serve", {"kernel"}}};
  lock.requests.groups = {{"dev", {"checker>=1"}}};
  lock.classes = {
      {"laptop", "none", "3.12", "system = linux and arch = x86_64 and glibc >= 2.28"},
      {"train", "h100", "3.12",
       "system = linux and arch = x86_64 and glibc >= 2.28 and driver >= 570.26 and sm in {90}"},
      {"mac", "apple-m4", "3.12", "system = macos and arch = arm64"}};
  LockedPackage checker = plain("checker", "1.2", 'a');
  checker.source.clear();
  checker.filename.clear();
  checker.url.clear();
  checker.sha256.clear();
  checker.size.reset();
  checker.built_from = BuiltFrom{"checker", "tools/checker", "", "", BuiltFrom::Kind::folder};
  checker.built_from->editable = true;
  LockedPackage demo = plain("demo", "1.0", 'b');
  demo.needs.always = {"torch", "tool; sys_platform == \"darwin\""};
  demo.needs.extras = {{"plot", {"figures>=2"}}};
  demo.provenance = "https://index.example/integrity/demo";
  demo.publishers = {"GitHub, repository example/demo, workflow release.yml"};
  LockedPackage figures = plain("figures", "2.1", 'c');
  LockedPackage kernel = plain("kernel", "0.3", 'd');
  kernel.variant = "sm90";
  kernel.properties = {{"nvidia", "sm_arch", "90_real"}, {"x86_64", "level", "v3"}};
  kernel.supported = kernel.properties;
  kernel.filename = "kernel-0.3-py3-none-any-sm90.whl";
  kernel.url = "wheels/kernel-0.3-py3-none-any-sm90.whl";
  kernel.because = "nvidia :: sm_arch :: 90_real is supported and ranks first";
  kernel.source = "wheels";
  kernel.classes = {"train"};
  LockedPackage plain_kernel = plain("kernel", "0.3", 'e');
  plain_kernel.classes = {"laptop", "mac"};
  LockedPackage tool = plain("tool", "5.0", 'f');
  tool.classes = {"mac"};
  LockedPackage cpu = plain("torch", "2.9.0+cpu", '1');
  cpu.family = "torch";
  cpu.variant = "cpu";
  cpu.classes = {"laptop", "mac"};
  cpu.source = "https://wheels.example/whl/cpu";
  cpu.because = "it runs on any machine";
  LockedPackage cuda = plain("torch", "2.9.0+cu130", '2');
  cuda.family = "torch";
  cuda.variant = "cu130";
  cuda.properties = {{"nvidia", "cuda_version_lower_bound", "13.0"}};
  cuda.supported = cuda.properties;
  cuda.classes = {"train"};
  cuda.source = "https://wheels.example/whl/cu130";
  cuda.because = "driver 570.26 runs CUDA 13.0";
  cuda.needs.always = {"toolkit<14"};
  LockedPackage toolkit = plain("toolkit", "13.0", '3');
  toolkit.classes = {"train"};
  lock.packages = {checker, demo, figures, plain_kernel, kernel, tool, toolkit, cpu, cuda};
  return lock;
}

}  // namespace axle::plan
