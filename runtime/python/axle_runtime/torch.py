"""Linear layers of PyTorch models, quantised: needs PyTorch 1.13 or later, and is not built against it.

    axle_runtime.torch.quantize_(model, mode="a16w8")
    with torch.no_grad():
        y = model(x)

The layers are the operator `torch.ops.axle_runtime.linear`, to which tensors go by DLPack;
torch.compile takes it as it is.
"""

from __future__ import annotations

import itertools
import weakref
from typing import Any, Callable, Dict, List, Optional, Tuple

import torch

from . import _dlpack, _layer

__all__ = ["Linear", "quantize_"]

_TYPES = (torch.float32, torch.float16, torch.bfloat16)
_numbers = itertools.count(1)
#: The operator takes integers and tensors only: a layer goes by its number.
_layers: "weakref.WeakValueDictionary[int, _layer.Linear]" = weakref.WeakValueDictionary()


def _output_shape(x: Any, layer: int) -> Tuple[int, ...]:
    packed = _layers[layer]
    if x.dim() == 0 or x.shape[-1] != packed.in_features:
        raise ValueError(
            "x has shape {}; its rows must have {} elements".format(
                tuple(x.shape), packed.in_features
            )
        )
    return (*x.shape[:-1], packed.out_features)


def _run(x: Any, layer: int) -> Any:
    shape = _output_shape(x, layer)
    x = x.detach().contiguous()
    y = torch.empty(shape, dtype=torch.float32, device=x.device)
    _layers[layer].forward(x, out=y)
    return y.to(x.dtype)


def _describe(x: Any, layer: int) -> Any:
    return x.new_empty(_output_shape(x, layer))


def _is_of(device: Optional[str], tensor: Any) -> bool:
    """Whether a tensor lies on the device of a layer."""
    place = _dlpack.place_of(device or "cpu")
    return tensor.device.type == "cuda" and place == (_dlpack.CUDA, tensor.device.index or 0)


_operators = torch.library.Library("axle_runtime", "DEF")
_operators.define("linear(Tensor x, int layer) -> Tensor")
_operators.impl("linear", _run, "CPU")
_operators.impl("linear", _run, "CUDA")
_operators.impl("linear", _describe, "Meta")


class Linear(torch.nn.Module):
    """A quantised torch.nn.Linear, for inference: no parameters, and nothing in state_dict.
    x [...][in_features] is float32, float16 or bfloat16, on the CPU or where the layer is; y has its type and
    place."""

    def __init__(self, packed: _layer.Linear, bias: bool) -> None:
        super().__init__()
        self.packed = packed
        self.in_features = packed.in_features
        self.out_features = packed.out_features
        self.has_bias = bias
        self._number = next(_numbers)
        _layers[self._number] = packed

    @classmethod
    def from_float(cls, linear: Any, **options: Any) -> Linear:
        """The layer of a torch.nn.Linear; `options` are those of axle_runtime.quantize."""
        weight, bias = linear.weight, linear.bias
        if weight.device.type != "cpu" and not _is_of(options.get("device"), weight):
            raise ValueError(
                "its weight lies on device {}; move it to the CPU first".format(weight.device)
            )
        if weight.dtype not in _TYPES:
            raise TypeError(
                "its weight is {}; it must be float32, float16 or bfloat16".format(weight.dtype)
            )

        def floats(tensor: Any) -> Any:
            return tensor.detach().to("cpu", torch.float32).contiguous()

        bias = floats(bias) if bias is not None else None
        return cls(_layer.quantize(floats(weight), bias, **options), bias is not None)

    def forward(self, x: Any) -> Any:
        if x.requires_grad and torch.is_grad_enabled():
            raise RuntimeError(
                "a layer of axle_runtime has no gradient: call the model under torch.no_grad() "
                "or torch.inference_mode()"
            )
        if x.device.type not in ("cpu", "meta") and not _is_of(self.packed.device, x):
            raise ValueError(
                "x lies on device {}; this layer of axle_runtime runs on {}".format(
                    x.device, "the CPU" if self.packed.device == "cpu" else self.packed.device
                )
            )
        if x.dtype not in _TYPES:
            raise TypeError("x is {}; it must be float32, float16 or bfloat16".format(x.dtype))
        return torch.ops.axle_runtime.linear(x, self._number)

    def extra_repr(self) -> str:
        kernel = self.packed.kernel()
        return "in_features={}, out_features={}, bias={}, mode={}, kernel={}".format(
            self.in_features, self.out_features, self.has_bias, self.packed.mode, kernel
        )


def quantize_(
    model: Any,
    mode: str = "a16w8",
    group: int = 0,
    filter_fn: Optional[Callable[[Any, str], bool]] = None,
    scaling: str = "searched",
    kernel: Optional[str] = None,
    threads: int = 0,
    device: Optional[str] = None,
) -> None:
    """Puts quantised layers in place of those torch.nn.Linear of a model for which `filter_fn(module,
    name)` holds, by default all. One that stands in two places is packed once. Subclasses stay as
    they are: who made them reads their weights. When a layer cannot be quantised, others are
    already."""
    if isinstance(model, torch.nn.Linear):
        raise TypeError(
            "the model is itself a torch.nn.Linear, which cannot be replaced in place; "
            "use axle_runtime.torch.Linear.from_float"
        )
    options: Dict[str, Any] = {
        "mode": mode,
        "group": group,
        "scaling": scaling,
        "kernel": kernel,
        "threads": threads,
        "device": device,
    }
    places: Dict[Any, List[Tuple[Any, str, str]]] = {}
    for parent_name, parent in model.named_modules():
        for own_name, child in parent._modules.items():
            name = parent_name + "." + own_name if parent_name else own_name
            if type(child) is torch.nn.Linear and (filter_fn is None or filter_fn(child, name)):
                places.setdefault(child, []).append((parent, own_name, name))
    while places:
        child, own_places = places.popitem()  # and so its weights are freed before the next
        layer = _replacement(child, own_places[0][2], options)
        for parent, own_name, _ in own_places:
            setattr(parent, own_name, layer)
    for module in model.modules():
        _leave_fast_path(module)


def _leave_fast_path(module: Any) -> None:
    """PyTorch's own transformers have a fast path that reads their linear layers' weights; these are
    what they ask before they take it (torch/nn/modules/transformer.py)."""
    if isinstance(module, torch.nn.TransformerEncoderLayer):
        module.activation_relu_or_gelu = 0
    if isinstance(module, torch.nn.TransformerEncoder):
        module.enable_nested_tensor = module.use_nested_tensor = False


def _replacement(child: Any, name: str, options: Dict[str, Any]) -> Linear:
    try:
        layer = Linear.from_float(child, **options)
    except (TypeError, ValueError) as problem:
        raise type(problem)("{}: {}".format(name, problem)) from problem
    layer.train(child.training)
    layer._forward_hooks = child._forward_hooks
    layer._forward_pre_hooks = child._forward_pre_hooks
    return layer
