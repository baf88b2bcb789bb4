#include "doctor/audit/audit_codes.h"

#include <array>

namespace axle::doctor {
namespace {

constexpr FindingLevel fault = FindingLevel::error;
constexpr FindingLevel doubt = FindingLevel::warning;
constexpr FindingLevel remark = FindingLevel::info;

constexpr std::array audit_rows = {
    // The file.
    FindingCode{"wheel-broken", fault,
                "The wheel cannot be opened, its metadata contradicts its name, or RECORD does not "
                "match its files",
                "build it again; installers refuse it"},
    FindingCode{
        "library-damaged", fault,
        "A file begins like a library and is not a valid one, or is truncated, or its GPU code is "
        "damaged",
        "build the wheel again from a complete file"},
    // The platform.
    FindingCode{"architecture-differs", fault,
                "The libraries are for another CPU architecture than the platform tag; a warning "
                "if only some are",
                "build for the architecture of the tag, or change the tag"},
    FindingCode{"platform-tag-any", fault,
                "The wheel is tagged for any platform and contains libraries",
                "tag it for the platform that the finding names"},
    FindingCode{"platform-tag-old", fault,
                "The libraries need a newer glibc, libstdc++ or another system library than every "
                "machine of the platform tag has",
                "tag it as the finding says, or build in the container of the tag"},
    FindingCode{"symbol-version-unknown", fault,
                "A library needs a symbol version that no platform tag promises: a private one, or "
                "one newer than the known distributions",
                "build with an older toolchain, or link that library statically"},
    FindingCode{"libc-differs", fault,
                "The libraries need glibc and the tag is musllinux, or the other way round",
                "build in the container of the tag, or change the tag"},
    FindingCode{"platform-tag-local", doubt,
                "The platform tag is linux_…, which promises nothing and indexes refuse",
                "tag it as the finding says"},
    FindingCode{"platform-tag-cautious", remark,
                "The libraries would run on older systems than the platform tag says",
                "nothing, or a second, older tag: more machines can install it"},
    // What it needs.
    FindingCode{"library-undeclared", fault,
                "A library needs another one that is neither in the wheel, nor on every machine of "
                "the tag, nor brought by a declared dependency",
                "put it into the wheel (auditwheel repair), link it statically, or declare what "
                "brings it in Requires-Dist"},
    FindingCode{"links-python", fault,
                "A library is linked with libpython, which many interpreters do not have",
                "do not link extension modules with it: the interpreter has its symbols"},
    FindingCode{"needs-driver", remark,
                "A library is linked with a GPU driver's: without the driver it cannot be loaded",
                "nothing, or load the driver's library at run time (dlopen)"},
    FindingCode{"cuda-majors-differ", fault,
                "The libraries of one wheel need two major versions of CUDA",
                "build all of them with one"},
    // Python and torch.
    FindingCode{"python-tag-differs", fault,
                "An extension module is for another Python than the wheel's tags",
                "build the wheel with that Python, or change the tags"},
    FindingCode{
        "module-name-differs", fault,
        "The name of an extension module says another CPU architecture than its code: Python "
        "does not import it",
        "give it the name that the finding says: a cross build took that of the Python which "
        "ran it"},
    FindingCode{"stable-abi-broken", fault,
                "A module of the stable ABI needs symbols of Python that are not in it, or not yet "
                "in the oldest Python of the tag",
                "define Py_LIMITED_API as the tag says, or build a wheel for each Python"},
    FindingCode{"torch-unpinned", fault,
                "A library uses torch's C++ interface, which changes with each release, and "
                "Requires-Dist allows several",
                "require the one release that it was built with, declare it as abi_dependency of "
                "a variant, or use torch's stable C interface"},
    // Code.
    FindingCode{"cpu-level-undeclared", fault,
                "A library requires, in the loader's terms, a level of x86-64 that the wheel does "
                "not declare",
                "declare it as a property of a variant, or build without -z x86-64-vN"},
    FindingCode{"instructions-undeclared", fault,
                "A library has instructions that the wheel does not declare and never checks the "
                "CPU; a warning if another library of the wheel does",
                "compile it for what is declared, declare what it needs, or guard that code"},
    FindingCode{"gpu-code-missing", fault, "No library has code for a GPU that the wheel declares",
                "compile for it, or do not declare it"},
    FindingCode{"property-architecture", fault,
                "A property is of another CPU architecture than the libraries, the platform tag or "
                "other properties",
                "declare properties of the architecture that the wheel is for"},
    FindingCode{"cuda-version-undeclared", fault,
                "Something needs a newer CUDA than the oldest driver that the wheel declares: "
                "libraries of its toolkit, PTX, compressed code",
                "declare nvidia :: cuda_version_lower_bound as it is needed, or build with the "
                "declared CUDA"},
    FindingCode{"gpu-code-unknown", remark,
                "Some GPU code could not be read, so nothing is known of its targets",
                "nothing; the finding says what could not be read"},
    FindingCode{"gpu-code-packed", remark,
                "GPU code is compressed with zstd, which drivers older than CUDA 12.4 cannot "
                "decompress",
                "nothing, or compile with --compress-mode=speed"},
    // Loading.
    FindingCode{"executable-stack", fault,
                "A library asks for an executable stack, which glibc 2.41 and SELinux refuse",
                "mark its assembly files with .note.GNU-stack, or link with -z noexecstack"},
    FindingCode{"text-relocations", fault,
                "A library's code must be changed when it is loaded, which hardened systems refuse",
                "compile all of it with -fPIC"},
    FindingCode{"writable-code", doubt,
                "A segment of a library may be written and executed, which hardened systems refuse",
                "link it without -N and without a linker script that merges code and data"},
    FindingCode{"rpath-absolute", doubt,
                "A run path is a folder of the machine that built it: another one may have other "
                "libraries there, or somebody else's",
                "use $ORIGIN, or remove it (patchelf --remove-rpath)"},
    FindingCode{"rpath-outside", doubt,
                "A run path leads out of the environment that the wheel is installed into",
                "use a path below $ORIGIN"},
    // Against machines.
    FindingCode{"machine-cpu-only", fault,
                "The machine has a GPU, and nothing here has code for its vendor",
                "use a build for that GPU; nothing, if the work is not for it"},
    FindingCode{"machine-gpu-code", fault, "Nothing here has code that a GPU of the machine runs",
                "use a build that has it, or compile for it"},
    FindingCode{"machine-driver", fault,
                "For a GPU of the machine there is only code that its driver cannot compile or "
                "decompress",
                "update the driver there, or use a build for an older CUDA"},
    FindingCode{"machine-libc", fault,
                "The machine's C library is older than the libraries need, or another one (glibc, "
                "musl)",
                "use a newer system there, or build for an older one, or for its C library"},
    FindingCode{"machine-cpu", fault,
                "The libraries need instructions or an architecture that the machine's CPU lacks",
                "use a build for an older CPU"},
    FindingCode{"machine-gpu-unknown", remark,
                "It is unknown whether the code runs on a GPU of the machine",
                "state the GPU's architecture; the finding says what is unknown"},
    FindingCode{"machine-unstated", remark,
                "Whether it runs depends on something that was not stated of the machine: its C "
                "library, its CPU's architecture, or its driver",
                "state it, as the finding says, or name a recorded profile"},
    // Images.
    FindingCode{"image-broken", fault, "The image or one of its layers cannot be read",
                "save or pull it again"},
    FindingCode{"image-libc", fault, "The image has musl, and libraries in it need glibc",
                "install builds for musl (musllinux), or use a base image with glibc"},
    FindingCode{
        "image-twice", doubt, "The image has the same libraries of CUDA or ROCm twice",
        "install one of them: the wheels bring their own, a base image without it is enough"},
    FindingCode{"image-hidden", doubt,
                "Files of lower layers are removed or replaced by upper ones: they are transferred "
                "and stored, and nobody sees them",
                "remove them in the layer that makes them, or use a build of several stages"},
};

}  // namespace

std::span<const FindingCode> audit_codes() { return audit_rows; }

}  // namespace axle::doctor
