"""Parts by name: a value that nothing can be made of is one line."""

from __future__ import annotations

import pytest

from conceptlab.denoisers import build as build_denoiser
from conceptlab.diffusion import build as build_process
from conceptlab.errors import InputError
from conceptlab.registry import Registry


@pytest.mark.parametrize(
    ("settings", "told"),
    [
        ({"gamma_min": "x"}, r"process 'continuous' cannot be made with gamma_min='x': .*str"),
        ({"gamma_min": None}, "gamma_min=None"),
        ({"gamma_max": 1e5}, "gamma_max=100000.0: math range error"),
    ],
)
def test_a_value_of_the_wrong_kind_is_told_with_the_part_it_was_meant_for(settings, told):
    with pytest.raises(InputError, match=told):
        build_process("continuous", **settings)


def test_a_network_says_so_too():
    with pytest.raises(InputError, match="denoiser 'film' cannot be made with channels=5"):
        build_denoiser("film", image_shape=(3, 16, 16), condition_shape=(5,), seed=0, channels=5)


def test_mistakes_of_a_plug_in_are_shown_where_they_are():
    parts: Registry[int] = Registry("part")
    parts.register("mine")(lambda size: len(size))
    with pytest.raises(TypeError):
        parts.make("mine", size=5)
