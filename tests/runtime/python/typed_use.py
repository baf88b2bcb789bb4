"""Uses of the package that a type checker must accept: check_types.sh reads it, nothing runs it."""

from typing import Dict, Iterator, List, Tuple, Union

import axle_runtime


def generate(model: axle_runtime.Model, heard: List[str]) -> None:
    text: str = model.generate("x", max_tokens=5, temperature=0.5, seed=1)
    texts: List[str] = model.generate(["x", "y"], raw=True)
    pieces: Iterator[str] = model.generate("x", stream=True)
    numbered: Iterator[Tuple[int, str]] = model.generate(("x", "y"), stream=True)
    whole: str = model.generate("x", stream=heard.append)
    tokens: List[int] = model.tokens("x")
    info: Dict[str, Union[str, int]] = model.info
    print(text, texts, list(pieces), list(numbered), whole, tokens, info, model.embed(["x"]), model.rerank("x", ["y"]))


def use_layer(weight: memoryview, x: memoryview) -> axle_runtime.Linear:
    with axle_runtime.Model("model.gguf", mode="da8w8", kv_cache="int8") as model:
        generate(model, [])
    packed: axle_runtime.Linear = axle_runtime.quantize(weight, mode="a16w4", group=64)
    print(axle_runtime.linear(x, packed), packed.in_features, packed.kernel(4))
    on_gpu: axle_runtime.Linear = axle_runtime.quantize(weight, device="cuda")
    names: List[str] = [one["name"] for one in axle_runtime.devices()]
    print(on_gpu.device, names)
    return packed
