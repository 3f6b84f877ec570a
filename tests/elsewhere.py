"""A second device for machines without one: it computes on the CPU, but tensors on it may not meet those that are not.

What goes wrong on a GPU alone is mostly that a tensor was left behind on the CPU. The device is called `meta`, the only
other one that every build of torch knows; here its tensors have numbers.
"""

from __future__ import annotations

import contextlib
import sys
import warnings
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import pytest
import torch
from torch import Tensor
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves, tree_map

ELSEWHERE = torch.device("meta")

_aten = torch.ops.aten
# What takes tensors from one device to another.
_MOVES = {_aten._to_copy.default, _aten.copy_.default}
# Indices may lie on the CPU, too.
_INDEX = {
    _aten.index.Tensor,
    _aten.index_put.default,
    _aten.index_put_.default,
    _aten._index_put_impl_.default,
}
_FROM_NUMBERS = {torch.tensor, torch.as_tensor, torch.asarray}


class Meeting(RuntimeError):
    """Tensors of two devices in one operation, as a GPU refuses them."""


class _Away(Tensor):
    """A tensor elsewhere; `numbers` are its own."""

    numbers: Tensor
    __torch_function__ = torch._C._disabled_torch_function_impl

    @staticmethod
    def __new__(cls, numbers: Tensor) -> _Away:
        made = Tensor._make_wrapper_subclass(
            cls,
            numbers.size(),
            strides=numbers.stride(),
            storage_offset=numbers.storage_offset(),
            dtype=numbers.dtype,
            device=ELSEWHERE,
        )
        made.numbers = numbers
        return made

    @classmethod
    def __torch_dispatch__(cls, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        return _computed(func, args, kwargs or {})


class _Computing(TorchDispatchMode):
    def __torch_dispatch__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        return _computed(func, args, kwargs or {})


class _Making(TorchFunctionMode):
    """From numbers and to numbers: torch would make tensors without any, and read none."""

    def __torch_function__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Any = None) -> Any:
        kwargs = dict(kwargs or {})
        if func in _FROM_NUMBERS and kwargs.get("device") is not None:
            device = kwargs.pop("device")
            return func(*args, **kwargs).to(device)
        return args[0].cpu().tolist() if func is Tensor.tolist else func(*args, **kwargs)


def _computed(func: Any, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
    given = [leaf for leaf in tree_leaves((args, kwargs)) if isinstance(leaf, Tensor)]
    away = any(isinstance(tensor, _Away) for tensor in given)
    if away and func not in _MOVES:
        _check_company(func, args, given)
    asked = kwargs.get("device")
    kwargs = {**kwargs, **({} if asked is None else {"device": torch.device("cpu")})}
    found = func(*tree_map(_numbers, args), **tree_map(_numbers, kwargs))
    if not (away if asked is None else torch.device(asked) == ELSEWHERE):
        return found
    # What was changed in place is still the same tensor.
    known = {id(_numbers(tensor)): tensor for tensor in given}
    return tree_map(lambda x: known.get(id(x), _Away(x)) if isinstance(x, Tensor) else x, found)


def _numbers(leaf: Any) -> Any:
    return leaf.numbers if isinstance(leaf, _Away) else leaf


def _check_company(func: Any, args: Sequence[Any], given: Sequence[Tensor]) -> None:
    """Single numbers on the CPU may meet tensors of any device."""
    if func in _INDEX and isinstance(args[0], _Away):
        given = [leaf for leaf in tree_leaves(args[2:]) if isinstance(leaf, Tensor)]
    if left := [tuple(t.shape) for t in given if not isinstance(t, _Away) and t.ndim]:
        raise Meeting(f"{func} elsewhere with tensors on the CPU, of shapes {left}")


@contextlib.contextmanager
def pretended(monkeypatch: pytest.MonkeyPatch) -> Iterator[torch.device]:
    """The device, as long as this lasts."""
    # The package has a function of this name.
    generate = sys.modules["conceptlab.evaluation.generate"]
    monkeypatch.setitem(generate.BATCH, ELSEWHERE.type, generate.BATCH["cpu"])
    # Another process would know nothing of it.
    monkeypatch.setattr("conceptlab.executors.local.cores", lambda: 1)
    before = torch.__future__.get_overwrite_module_params_on_conversion()
    torch.__future__.set_overwrite_module_params_on_conversion(True)
    try:
        with warnings.catch_warnings(), _Making(), _Computing():
            warnings.filterwarnings("ignore", message=".*copying from a non-meta parameter")
            yield ELSEWHERE
    finally:
        torch.__future__.set_overwrite_module_params_on_conversion(before)
