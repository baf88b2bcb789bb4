"""The machines that the published releases are tried on, each told twice: to the product and to the transcription."""


class Machine:
    """`said`: as --for takes it; the rest: the same facts again, for the transcription. `cuda`: what the driver runs."""

    def __init__(self, said, cuda=None, sm=None, gfx=(), rocm=None, ip=(), arch="x86_64"):
        self.said, self.cuda, self.sm, self.gfx, self.rocm, self.ip, self.arch = said, cuda, sm, gfx, rocm, ip, arch


# CUDA versions of drivers: NVIDIA's release notes (570.26: 12.8, 575.51: 12.9, 580.65: 13.0, 550.54: 12.4, 525.60: 12.0).
MACHINES = [
    Machine("h100;nvidia:driver=570.26", (12, 8), (9, 0)),
    Machine("h100;nvidia:driver=575.51.03", (12, 9), (9, 0)),
    Machine("h100;nvidia:driver=580.65.06", (13, 0), (9, 0)),
    Machine("h100;nvidia:driver=550.54.14", (12, 4), (9, 0)),
    Machine("h100;nvidia:driver=525.60.13", (12, 0), (9, 0)),
    Machine("h200;nvidia:cuda=13.0", (13, 0), (9, 0)),
    Machine("v100;nvidia:cuda=13.0", (13, 0), (7, 0)),
    Machine("v100;nvidia:cuda=12.8", (12, 8), (7, 0)),
    Machine("p100;nvidia:cuda=12.9", (12, 9), (6, 0)),
    Machine("gtx1080ti;nvidia:cuda=12.8", (12, 8), (6, 1)),
    Machine("gtx1080ti;nvidia:cuda=13.0", (13, 0), (6, 1)),
    Machine("rtx4090;nvidia:cuda=12.4", (12, 4), (8, 9)),
    Machine("nvidia:sm=121,cuda=13.0", (13, 0), (12, 1), arch="aarch64"),  # GB10
    Machine("nvidia:sm=110,cuda=13.0", (13, 0), (11, 0), arch="aarch64"),  # Thor
    Machine("nvidia:sm=52,cuda=11.8", (11, 8), (5, 2)),
    Machine("nvidia:sm=30,cuda=11.4", (11, 4), (3, 0)),
    Machine("b200;nvidia:cuda=12.8", (12, 8), (10, 0)),
    Machine("b200;nvidia:cuda=13.0", (13, 0), (10, 0)),
    Machine("rtx5090;nvidia:cuda=12.9", (12, 9), (12, 0)),
    *[Machine(f"mi300x;amd:rocm={rocm}", gfx=["gfx942"], rocm=rocm) for rocm in ("7.1", "7.0", "6.4", "6.3", "6.2")],
    Machine("amd:gfx=gfx1101,rocm=6.3", gfx=["gfx1101"], rocm="6.3"),
    Machine("intel:ip=20.2.0", ip=["20.2.0"]),  # BMG-G31
    Machine("bmg", ip=["20.1.0"]),
    Machine("ptl", ip=["30.0.4"]),
    Machine("intel:ip=12.71.4", ip=["12.71.4"]),
    Machine("intel:ip=12.0.0", ip=["12.0.0"]),
    Machine("h200;nvidia:cuda=13.0;intel:gpu=bmg", (13, 0), (9, 0), ip=["20.1.0"]),
    Machine("mi300x;amd:rocm=6.4;intel:ip=20.2.0", gfx=["gfx942"], rocm="6.4", ip=["20.2.0"]),
    Machine("none"),
    Machine("x86_64:v3"),
    Machine("aarch64", arch="aarch64"),
    Machine("aarch64;nvidia:sm=90,cuda=12.8", (12, 8), (9, 0), arch="aarch64"),  # GH200
    Machine("aarch64;nvidia:sm=90,cuda=12.9", (12, 9), (9, 0), arch="aarch64"),
]

# What variantlib 0.0.3 (c3f54f3) answered for the document of 2.10.0, a run of its own resolver.
MEASURED_2_10 = {
    "h200;nvidia:cuda=13.0": "cuda13.0",
    "v100;nvidia:cuda=13.0": "cuda12.8",
    "gtx1080ti;nvidia:cuda=12.8": "cuda12.6",
    "nvidia:sm=110,cuda=13.0": "null",
    "nvidia:sm=121,cuda=13.0": "cuda13.0",
    "rtx4090;nvidia:cuda=12.4": "cuda12.8",
    "mi300x;amd:rocm=7.1": "rocm7.1",
    "mi300x;amd:rocm=6.4": "null",
    "intel:ip=20.2.0": "xpu",
    "none": "null",
    "h200;nvidia:cuda=13.0;intel:gpu=bmg": "cuda13.0",
}
