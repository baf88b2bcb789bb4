"""Models: texts in; texts, vectors or scores out."""

from __future__ import annotations

import ctypes
import os
import sys
import threading
import weakref
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Literal,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
    overload,
)

from . import _library, _structs
from ._archive import unpacked
from ._array import Array
from ._library import UnsupportedModel, call, library
from ._machine import read_facts
from ._structs import new

# Of prompts: a str would be a Sequence[str], too.
_Several = Union[List[str], Tuple[str, ...]]
_TEXTS_AT_ONCE = 16  # of `embed` and `rerank`: between the calls KeyboardInterrupt is heard


def _whole(name: str, value: int, bits: int) -> int:
    """ctypes would cut it."""
    if not 0 <= value < 1 << bits:
        raise ValueError("{} is {}; it must be from 0 to 2^{} - 1".format(name, value, bits))
    return int(value)


def _bytes_of(text: str) -> bytes:
    if not isinstance(text, str):
        raise TypeError("a text must be str, not {}".format(type(text).__name__))
    if "\0" in text:
        raise ValueError("the text has a NUL at {}, where it would end".format(text.index("\0")))
    return text.encode()


class Model:
    """A model on the disk: a GGUF file, a folder of Hugging Face, or a package's folder or zip archive
    that holds one of them.

    mode: how linear layers compute: "a16w8", "da8w8", "a16w4", "da8w4", "fp8" or "float".
    threads: 0: all CPUs. kv_cache: "float16", "int8" or "float32"; None: float16, float32 in mode
    "float". `with` frees it at the end; several threads may use it, one after the other.
    """

    def __init__(
        self,
        path: Union[str, "os.PathLike[str]"],
        mode: str = "a16w8",
        threads: int = 0,
        kv_cache: Optional[str] = None,
        kernel: Optional[str] = None,
    ) -> None:
        options = new(
            _structs.ModelOptions,
            mode=mode.encode(),
            kv_cache=kv_cache.encode() if kv_cache is not None else None,
        )
        handle = ctypes.c_void_p()
        self.path = os.fspath(path)
        with unpacked(self.path) as place:
            call(
                library.axle_model_open,
                _library.runtime(kernel, threads),
                os.fsencode(place),
                ctypes.byref(options),
                ctypes.byref(handle),
                unsupported=UnsupportedModel,
            )
        # A thread that holds it may have to collect an iterator of `generate`, which takes it too.
        self._lock = threading.RLock()
        self._handle = handle
        self._generations: Set[weakref.finalize] = set()
        self._finalizer = weakref.finalize(self, library.axle_model_destroy, handle)
        self._finalizer.atexit = False
        #: Facts, as axle_model_info has them: type, architecture, vocabulary, context, hidden, …
        self.info: Dict[str, Union[str, int]] = {
            key: int(value) if value.isdigit() else value
            for key, value in read_facts(library.axle_model_info, handle).items()
        }

    def close(self) -> None:
        """Frees the model and the answers that still come."""
        with self._lock:
            for generation in self._generations:
                generation()
            self._generations.clear()
            self._finalizer()

    def __enter__(self) -> Model:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __repr__(self) -> str:
        state = "" if self._finalizer.alive else ", closed"
        return "axle_runtime.Model({!r}, {}{})".format(self.path, self.info["mode"], state)

    def tokens(self, text: str, raw: bool = True) -> List[int]:
        """The tokens of a text as it is; not `raw`: of a user's message by the chat template."""
        encoded = _bytes_of(text)
        # No text has more tokens than bytes, apart from what stands around it.
        size = ctypes.c_size_t(len(encoded) + 64)
        while True:
            room = size.value
            found = (ctypes.c_int32 * room)()
            try:
                self._call(library.axle_model_tokens, encoded, raw, found, ctypes.byref(size))
            except ValueError:
                if size.value <= room:
                    raise
                continue
            return found[: size.value]

    def text(self, tokens: Sequence[int]) -> str:
        """The text of tokens, without control tokens."""
        given = _token_array(tokens)
        size = ctypes.c_size_t(16 * len(tokens) + 64)
        while True:
            room = size.value
            found = ctypes.create_string_buffer(room)
            try:
                self._call(library.axle_model_text, given, len(given), found, ctypes.byref(size))
            except ValueError:
                if size.value <= room:
                    raise
                continue
            return found.raw[: size.value].decode()

    @overload
    def generate(
        self,
        prompt: str,
        max_tokens: int = ...,
        temperature: float = ...,
        top_k: int = ...,
        top_p: float = ...,
        min_p: float = ...,
        seed: int = ...,
        raw: bool = ...,
        stream: Union[Literal[False], Callable[[str], object]] = ...,
    ) -> str: ...

    @overload
    def generate(
        self,
        prompt: str,
        max_tokens: int = ...,
        temperature: float = ...,
        top_k: int = ...,
        top_p: float = ...,
        min_p: float = ...,
        seed: int = ...,
        raw: bool = ...,
        *,
        stream: Literal[True],
    ) -> Iterator[str]: ...

    @overload
    def generate(
        self,
        prompt: _Several,
        max_tokens: int = ...,
        temperature: float = ...,
        top_k: int = ...,
        top_p: float = ...,
        min_p: float = ...,
        seed: int = ...,
        raw: bool = ...,
        stream: Union[Literal[False], Callable[[int, str], object]] = ...,
    ) -> List[str]: ...

    @overload
    def generate(
        self,
        prompt: _Several,
        max_tokens: int = ...,
        temperature: float = ...,
        top_k: int = ...,
        top_p: float = ...,
        min_p: float = ...,
        seed: int = ...,
        raw: bool = ...,
        *,
        stream: Literal[True],
    ) -> Iterator[Tuple[int, str]]: ...

    def generate(
        self,
        prompt: Union[str, _Several],
        max_tokens: int = 256,
        temperature: float = 0.0,
        top_k: int = 0,
        top_p: float = 1.0,
        min_p: float = 0.0,
        seed: int = 0,
        raw: bool = False,
        stream: Any = False,
    ) -> Any:
        """The answer to a prompt, or those to several, together and each as it would be alone.

        A prompt is a user's message, written by the model's chat template, or with `raw` the text
        to continue. temperature 0 takes the likeliest token; else top_k (0: all), top_p (1: all),
        min_p (0: all) and seed choose. stream=True gives an iterator of pieces as they come, of
        several prompts as (number, piece); leaving it ends the answers. A function is called with
        each piece instead, and the whole is given at the end.
        """
        alone = isinstance(prompt, str)
        prompts = [prompt] if isinstance(prompt, str) else list(prompt)
        options = {
            "most_tokens": _whole("max_tokens", max_tokens, 31),
            "temperature": temperature,
            "top_k": _whole("top_k", top_k, 31),
            # To the library 0 is all, as 1 is; here and in `variant` it keeps the likeliest token.
            "top_p": top_p or sys.float_info.min,
            "min_p": min_p,
            "seed": _whole("seed", seed, 64),
        }
        generation = _Generation(self, [self.tokens(one, raw) for one in prompts], options)
        if stream is True:
            pieces = generation.pieces()
            return (piece for _, piece in pieces) if alone else pieces
        texts = [""] * len(prompts)
        for index, piece in generation.pieces():
            texts[index] += piece
            if callable(stream):
                stream(piece) if alone else stream(index, piece)
        return texts[0] if alone else texts

    def embed(self, texts: Union[str, Iterable[str]]) -> Any:
        """The vectors [count][hidden] of texts, or [hidden] of one, in float32: a NumPy array where
        there is NumPy, else an Array."""
        alone = isinstance(texts, str)
        encoded = [_bytes_of(one) for one in ([texts] if isinstance(texts, str) else texts)]
        hidden = int(self.info["hidden"])
        vectors = Array((hidden,) if alone else (len(encoded), hidden))
        for start in range(0, max(len(encoded), 1), _TEXTS_AT_ONCE):
            some = encoded[start : start + _TEXTS_AT_ONCE]
            at = ctypes.addressof(vectors.elements) + 4 * hidden * start
            self._call(library.axle_model_embed, (ctypes.c_char_p * len(some))(*some), len(some), at)
        try:
            import numpy
        except ImportError:
            return vectors
        return numpy.asarray(vectors)

    def rerank(self, query: str, texts: Iterable[str]) -> List[float]:
        """How well each text answers the query, by a reranker: the model's own numbers, of any
        sign, higher is better."""
        if isinstance(texts, str):
            raise TypeError("texts must be a list of texts, not one text")
        asked = _bytes_of(query)
        encoded = [_bytes_of(one) for one in texts]
        found: List[float] = []
        for start in range(0, max(len(encoded), 1), _TEXTS_AT_ONCE):
            some = encoded[start : start + _TEXTS_AT_ONCE]
            scores = (ctypes.c_float * len(some))()
            array = (ctypes.c_char_p * len(some))(*some)
            self._call(library.axle_model_rerank, asked, array, len(some), scores)
            found.extend(scores)
        return found

    def _call(self, function: Any, *arguments: Any) -> None:
        with self._lock:
            if not self._finalizer.alive:
                raise ValueError("the model is closed")
            call(function, self._handle, *arguments, unsupported=UnsupportedModel)


def _token_array(tokens: Sequence[int]) -> Any:
    for token in tokens:
        _whole("a token", token, 31)
    return (ctypes.c_int32 * len(tokens))(*tokens)


class _Generation:
    """Prompts on their way to their answers."""

    def __init__(self, model: Model, prompts: List[List[int]], options: Dict[str, Any]) -> None:
        self._model = model
        self._count = len(prompts)
        given = [
            new(_structs.Prompt, tokens=_token_array(one), count=len(one), **options)
            for one in prompts
        ]
        places = (ctypes.POINTER(_structs.Prompt) * len(given))(*(ctypes.pointer(p) for p in given))
        handle = ctypes.c_void_p()
        model._call(library.axle_generation_create, places, len(given), ctypes.byref(handle))
        self._handle = handle
        self._finalizer = weakref.finalize(self, library.axle_generation_destroy, handle)
        self._finalizer.atexit = False
        with model._lock:
            model._generations = {one for one in model._generations if one.alive}
            model._generations.add(self._finalizer)

    def pieces(self) -> Iterator[Tuple[int, str]]:
        """New text of the answers, by the number of the prompt."""
        shown = [0] * self._count
        running = True
        try:
            while running:
                running = self._step()
                for index in range(self._count):
                    piece = self._text_from(index, shown[index])
                    shown[index] += len(piece)
                    if piece:
                        yield index, piece.decode()
        finally:
            with self._model._lock:
                self._finalizer()
                self._model._generations.discard(self._finalizer)

    def _step(self) -> bool:
        running = ctypes.c_int32()
        self._call(library.axle_generation_step, ctypes.byref(running))
        return running.value != 0

    def _text_from(self, index: int, start: int) -> bytes:
        answer = new(_structs.Answer)
        with self._model._lock:
            self._check_open()
            call(library.axle_generation_answer, self._handle, index, ctypes.byref(answer))
            return ctypes.string_at(answer.text + start, answer.text_size - start)

    def _call(self, function: Any, *arguments: Any) -> None:
        with self._model._lock:
            self._check_open()
            call(function, self._handle, *arguments, unsupported=UnsupportedModel)

    def _check_open(self) -> None:
        if not self._finalizer.alive:
            raise ValueError("the model is closed")
