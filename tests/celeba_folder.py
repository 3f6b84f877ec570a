"""A small folder in exactly the published format of CelebA, with drawings in place of photographs."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from PIL import Image

NAMES = (
    "5_o_Clock_Shadow", "Arched_Eyebrows", "Attractive", "Bags_Under_Eyes", "Bald", "Bangs", "Big_Lips",
    "Big_Nose", "Black_Hair", "Blond_Hair", "Blurry", "Brown_Hair", "Bushy_Eyebrows", "Chubby", "Double_Chin",
    "Eyeglasses", "Goatee", "Gray_Hair", "Heavy_Makeup", "High_Cheekbones", "Male", "Mouth_Slightly_Open",
    "Mustache", "Narrow_Eyes", "No_Beard", "Oval_Face", "Pale_Skin", "Pointy_Nose", "Receding_Hairline",
    "Rosy_Cheeks", "Sideburns", "Smiling", "Straight_Hair", "Wavy_Hair", "Wearing_Earrings", "Wearing_Hat",
    "Wearing_Lipstick", "Wearing_Necklace", "Wearing_Necktie", "Young",
)  # fmt: skip
"""The attributes in the published order."""
HAIR = {"Black_Hair": (20, 20, 20), "Blond_Hair": (230, 200, 90)}


def write_folder(root: Path, per_class: int = 10, *, mixed: int = 4) -> Path:
    """`per_class` images of each of eight classes, shuffled, then `mixed` images with both hair colours."""
    (root / "img_align_celeba").mkdir(parents=True)
    rng = np.random.default_rng(0)
    wanted = [
        (male, smiling, hair)
        for male in (-1, 1)
        for smiling in (-1, 1)
        for hair in HAIR
        for _ in range(per_class)
    ]
    wanted = [wanted[i] for i in rng.permutation(len(wanted))]
    lines = []
    for number in range(1, len(wanted) + mixed + 1):
        male, smiling, hair = wanted[number - 1] if number <= len(wanted) else (1, 1, "both")
        entries = dict.fromkeys(NAMES, -1) | {"Male": male, "Smiling": smiling}
        entries |= {name: 1 if hair in (name, "both") else -1 for name in HAIR}
        name = f"{number:06d}.jpg"
        lines.append(f"{name} " + " ".join(f"{entries[a]:2d}" for a in NAMES))
        _face(rng, male, smiling, hair).save(root / "img_align_celeba" / name, quality=90)
    header = f"{len(lines)}\n{' '.join(NAMES)} \n"
    (root / "list_attr_celeba.txt").write_text(header + "\n".join(lines) + "\n", encoding="utf-8")
    return root


def _face(rng: np.random.Generator, male: int, smiling: int, hair: str) -> Image.Image:
    """178×218: hair on top, skin whose hue tells the gender, a mouth that is wide or not."""
    pixels = np.full((218, 178, 3), (150, 150, 210) if male > 0 else (210, 150, 150), dtype=np.uint8)
    pixels[:70] = HAIR.get(hair, (120, 120, 120))
    half = 60 if smiling > 0 else 20
    pixels[140:165, 89 - half : 89 + half] = (200, 20, 20)
    noise = rng.integers(-12, 13, pixels.shape)
    return Image.fromarray(np.clip(pixels + noise, 0, 255).astype(np.uint8))
