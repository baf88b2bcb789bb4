"""The goals themselves, two lists for two classes of machine, on two threads: (number, checks). Compared is with whatever the peer does
best on the machine at hand: llama.cpp with its AMX or repacked buffers where it has them."""

from goal_checks import LEAST_EXACT, Coexists, Faster, LoadsWithin, OfFloor, OfPeak, OfReads, ShorterBy, Tested, TwoPlanes, Within

INT8 = ("da8w8", "a16w8")
INT4 = ("da8w4 g128", "a16w4 g128", "da8w4 g64", "da8w4 2l", "a16w4 2l")
Q8, Q4, ONEDNN = ("llama.cpp q8_0",), ("llama.cpp q4_0",), ("oneDNN 2 s8s8", "oneDNN 2 u8s8")
TORCHAO, ORT8, ORT4, OPENVINO4 = ("torchao int8",), ("ONNX Runtime int8",), ("ONNX Runtime int4",), ("OpenVINO u4",)
MODES8, MODES4 = ("da8w8", "a16w8"), ("da8w4", "a16w4")
LLAMA = ("llama.cpp",)


def int8(case, than, bar):
    return Faster("int8", case, INT8, than, bar)


def quantised(case, than, bar):
    """int8 with quantised activations, which a goal names."""
    return Faster("int8", case, ("da8w8",), than, bar)


def int4(case, than, bar):
    return Faster("int4", case, INT4, than, bar, LEAST_EXACT)


def model(kind, bars):
    """Steps of 1, 8 and 32 texts, and a prompt, by llama.cpp's."""
    modes = MODES8 if kind == "llama-q8_0" else MODES4
    return [Faster(kind, case, modes, LLAMA, bar) for case, bar in zip(("step 1", "step 8", "step 32", "prompt 512"), bars)]


def tuned(kind):
    return [Within(kind, ("step 1", "step 8", "step 32", "prompt 512"), "da8w8@tuned", "da8w8", 1.03), LoadsWithin(kind, "da8w8@tuned", 0.005)]


SAME_BITS = Tested("Every kernel set gives the same bits, and none meets an instruction that the machine lacks", "`tests/e2e/model/same_bits_test.py`, and of the runtime those under emulated CPUs")
EMULATED_TILES = Tested("The AMX kernels, run by the model of tiles in plain C++, equal those of VNNI bit for bit", "`tests/runtime/kernels_test.cpp`, in every job")

WITH_AMX = [
    ("1", [OfReads("int8", "1", INT8, 0.92), int8("1", Q8, 1.35)]),
    ("2", [OfReads("int8", "8", INT8, 0.90), int8("8", Q8, 2.1), int8("8", ONEDNN, 1.6)]),
    ("3", [Within("int8", ("1", "4", "8"), "a16w8", "da8w8", 1.03)]),
    ("4", [int8("32", Q8, 3.2), int8("128", Q8, 8.0), int8("128", ONEDNN, 1.8)]),
    ("5", [int4("1", Q4, 1.25), int4("8", Q4, 2.2), int4("32", Q4, 3.0), int4("128", Q4, 5.0)]),
    ("6", model("llama-q8_0", (1.2, 1.9, 3.0, 5.0))),
    ("7", [ShorterBy("llama-q8_0", "step 8", "da8w8", "da8w8@avx512_vnni", 0.20)]),
    ("8", [Faster("int8", "8", ("da8w8 avx2",), ("llama.cpp avx2 q8_0",), 1.5),
           Tested("The set of x86-64-v2 runs on a CPU without AVX", "`runtime: the set of x86-64-v2 runs on a CPU without AVX`")]),
    ("9", [SAME_BITS]),
    ("10", [Coexists("oneDNN 2"), Coexists("oneDNN 3"), Coexists("llama.cpp")]),
    ("12", tuned("llama-q8_0")),
]

WITHOUT_AMX = [
    ("n1", [OfReads("int8", "1", INT8, 0.96), int8("1", Q8, (70, 1.6, 1.2)), int8("1", TORCHAO, 1.2), int8("1", ONEDNN, 1.0), int8("1", ORT8, 1.0)]),
    ("n2", [OfFloor("int8", "8", "da8w8", 0.92), quantised("8", Q8, 4.0), quantised("8", ONEDNN, 1.15), quantised("8", ORT8, 1.5), quantised("8", TORCHAO, 4.0)]),
    ("n3", [TwoPlanes(("1", "4", "8", "16", "32"))]),
    ("n4", [OfFloor("int8", "16", "da8w8", 0.92), OfPeak("int8", "32", "da8w8", 0.93), quantised("32", Q8, 7.2), quantised("32", ONEDNN, 1.25),
            quantised("32", ORT8, 1.7), quantised("32", TORCHAO, 2.5), OfPeak("int8", "128", "da8w8", 0.96), quantised("128", Q8, 7.0), quantised("128", ONEDNN, 1.0)]),
    ("n5", [OfReads("int4", "1", INT4, 0.95, LEAST_EXACT), int4("1", Q4, 1.3), int4("8", Q4, 3.2), int4("32", Q4, 2.8), int4("128", Q4, 3.1), int4("8", ORT4, 2.7),
            int4("128", ORT4, 3.4), int4("1", OPENVINO4, 1.3), int4("8", OPENVINO4, 1.8), int4("32", OPENVINO4, 1.4), int4("128", OPENVINO4, 1.6)]),
    ("n6", [*model("llama-q8_0", (1.15, 3.5, 6.5, 6.0)), *model("llama-q4_0", (1.1, 2.2, 2.3, 2.6))]),
    ("n7", [Faster("int8", "8", ("da8w8 avx_vnni",), Q8, 3.5), Faster("int8", "8", ("da8w8 avx2",), Q8, 2.0)]),
    ("n8", [EMULATED_TILES]),
]
