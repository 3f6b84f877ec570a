"""One thread for the whole suite: numbers do not depend on the machine, and parallel tests do not fight for cores."""

from __future__ import annotations

import torch

torch.set_num_threads(1)
