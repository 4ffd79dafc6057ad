"""No change of a model file crashes: what loads is used, all else is refused with one sentence."""

from __future__ import annotations

import io
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import numpy as np
import pytest

import conseq
from conseq.errors import ModelError
from tests.small_models import save_all

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def models(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("models")
    save_all(folder)
    return folder


@pytest.mark.parametrize(("random", "step"), [(0, 5), (60, 1)])
def test_mutated_models_are_used_or_refused(models, random, step):
    path = os.pathsep.join([str(ROOT / "src"), str(ROOT)])
    command = [sys.executable, "-m", "tests.mutated_models", str(models), str(random), "1", str(step)]
    environment = {**os.environ, "PYTHONPATH": path}
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, cwd=ROOT, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr[-2000:]


def test_the_same_training_gives_the_same_bytes(models, tmp_path):
    save_all(tmp_path)
    for model in models.glob("*.model"):
        assert model.read_bytes() == (tmp_path / model.name).read_bytes(), model.name


def test_a_small_file_that_would_become_large_is_refused(models, tmp_path):
    buffer, bomb = io.BytesIO(), tmp_path / "bomb.model"
    np.lib.format.write_array(buffer, np.zeros(1 << 24))
    bomb.write_bytes((models / "crf.model").read_bytes())
    with zipfile.ZipFile(bomb, "a", zipfile.ZIP_DEFLATED) as zipped:
        zipped.writestr("arrays/more.npy", buffer.getvalue())
    with pytest.raises(ModelError, match="would become"):
        conseq.load(bomb)
