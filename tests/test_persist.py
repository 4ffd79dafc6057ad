"""Model files: what goes in comes out, whole or not at all, and nothing is ever unpickled."""

from __future__ import annotations

import io
import json
import pickle
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays_of

from conseq import persist
from conseq.errors import DataError, ModelError
from conseq.persist import KIND, VERSION, Archive

NAMES = st.text("abcxyz-_", min_size=1, max_size=6)
DTYPES = st.sampled_from([np.float64, np.float32, np.int64, np.int32, np.bool_, np.uint8])
ARRAYS = DTYPES.flatmap(
    lambda dtype: arrays_of.arrays(dtype, arrays_of.array_shapes(min_dims=1, max_dims=3, min_side=0))
)
STRINGS = st.lists(st.text(st.characters(exclude_categories=["Cs"])))
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: st.lists(inner) | st.dictionaries(st.text("ab"), inner),
    max_leaves=5,
)

ARCHIVE = Archive(
    {"about": "é", "n": 3}, {"words": ["a", "", "日本", "b\u2028c"] * 20}, {"w": np.linspace(0, 1, 500)}
)


@settings(deadline=None, max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    document=st.dictionaries(NAMES.filter(lambda name: name not in ("kind", "version")), VALUES),
    strings=st.dictionaries(NAMES, STRINGS),
    arrays=st.dictionaries(NAMES, ARRAYS),
)
def test_what_goes_in_comes_out(tmp_path, document, strings, arrays):
    path = tmp_path / "a.model"
    persist.save(path, Archive(document, strings, arrays))
    found = persist.load(path)
    assert found.document == {"kind": KIND, "version": VERSION, **document}
    assert found.strings == strings
    assert set(found.arrays) == set(arrays)
    for name, array in arrays.items():
        assert found.arrays[name].dtype == array.dtype
        assert found.arrays[name].shape == array.shape
        assert np.array_equal(found.arrays[name], array, equal_nan=array.dtype.kind == "f")
    first = path.read_bytes()
    persist.save(path, Archive(document, strings, arrays))
    assert path.read_bytes() == first


def test_parts_are_put_together_and_taken_apart():
    one = Archive({"a": 1}, {"s": ["x"]}, {"w": np.ones(2)})
    parts = {"one": one, "onetwo": Archive({}, {"s": ["y"]}, {})}
    whole = persist.combine({"top": True}, parts)
    assert whole.document == {"top": True, "one": {"a": 1}, "onetwo": {}}
    found = whole.within("one")
    assert found.document == {"a": 1}
    assert found.strings == {"s": ["x"]}
    assert found.arrays["w"].tolist() == [1.0, 1.0]
    assert whole.within("onetwo").strings == {"s": ["y"]}


@pytest.fixture
def saved(tmp_path) -> Path:
    path = tmp_path / "whole.model"
    persist.save(path, ARCHIVE)
    return path


def refused(path: Path) -> str:
    with pytest.raises(ModelError) as caught:
        persist.load(path)
    assert str(caught.value).startswith(f"{path}: ")
    return str(caught.value)


@pytest.mark.parametrize("tenth", range(10))
def test_a_file_cut_off_anywhere(saved, tenth):
    whole = saved.read_bytes()
    saved.write_bytes(whole[: len(whole) * tenth // 10])
    assert "damaged or cut off" in refused(saved)


@pytest.mark.parametrize("seed", range(5))
def test_bytes_of_no_meaning(tmp_path, seed):
    path = tmp_path / "noise.model"
    path.write_bytes(np.random.default_rng(seed).bytes(200 * seed))
    assert "not a conseq model" in refused(path)


def test_a_flipped_byte_in_the_content_is_noticed(saved):
    with zipfile.ZipFile(saved) as zipped:
        info = zipped.getinfo("arrays/w.npy")
    content = bytearray(saved.read_bytes())
    content[info.header_offset + 30 + len(info.filename) + info.compress_size // 2] ^= 0xFF
    saved.write_bytes(content)
    refused(saved)


def test_a_damaged_header(saved):
    content = bytearray(saved.read_bytes())
    content[content.index(b"PK\x01\x02") + 10] = 99  # a compression that there is not
    saved.write_bytes(content)
    assert "damaged" in refused(saved)


def zipped(path: Path, **members: bytes | str) -> Path:
    with zipfile.ZipFile(path, "w") as file:
        for name, content in members.items():
            file.writestr(name.replace("__", "/").replace("_json", ".json").replace("_npy", ".npy"), content)
    return path


def test_foreign_zip_files(tmp_path):
    assert "not a conseq model" in refused(zipped(tmp_path / "a.zip", readme="hello"))
    assert "not a conseq model" in refused(zipped(tmp_path / "b.zip", model_json='{"kind": "other"}'))
    assert "not a conseq model" in refused(zipped(tmp_path / "c.zip", model_json="{no json"))
    assert "not a conseq model" in refused(zipped(tmp_path / "d.zip", model_json=b"\xff\xfe"))


@pytest.mark.parametrize("document", ["[]", "3", '{"kind": "conseq model", "version": "x"}', "[" * 100_000])
def test_a_document_of_another_kind(tmp_path, document):
    assert "not a conseq model" in refused(zipped(tmp_path / "a.zip", model_json=document))


def test_a_newer_version(tmp_path):
    document = json.dumps({"kind": KIND, "version": 99})
    says = refused(zipped(tmp_path / "new.model", model_json=document))
    assert "written by a newer conseq (format 99" in says
    assert "update conseq" in says


def test_an_older_version(tmp_path):
    document = json.dumps({"kind": KIND, "version": VERSION - 1})
    says = refused(zipped(tmp_path / "old.model", model_json=document))
    assert f"written by an older conseq (format {VERSION - 1}" in says
    assert "train it anew" in says


class Bomb:
    """Something that would make itself heard if it were unpickled."""

    def __reduce__(self):
        return (pytest.fail, ("a pickle was loaded",))


def test_nothing_is_unpickled(tmp_path):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.array([Bomb()], dtype=object), allow_pickle=True)
    document = json.dumps({"kind": KIND, "version": VERSION})
    path = zipped(tmp_path / "bomb.model", model_json=document, arrays__w_npy=buffer.getvalue())
    refused(path)
    path.write_bytes(pickle.dumps(Bomb()))
    refused(path)


def test_objects_are_not_written(tmp_path):
    path = tmp_path / "a.model"
    path.write_bytes(b"old")
    with pytest.raises(ValueError, match=r"[Oo]bject arrays"):
        persist.save(path, Archive({}, {}, {"w": np.array([{}], dtype=object)}))
    assert path.read_bytes() == b"old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_failure_while_writing_keeps_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def fail(*_args, **_kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np.lib.format, "write_array", fail)
    with pytest.raises((OSError, DataError)):
        persist.save(saved, ARCHIVE)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_an_interrupt_while_writing_keeps_the_old_file(saved, monkeypatch):
    before = saved.read_bytes()

    def interrupt(*_args, **_kwargs):
        raise KeyboardInterrupt

    monkeypatch.setattr(persist, "_add", interrupt)
    with pytest.raises(KeyboardInterrupt):
        persist.save(saved, ARCHIVE)
    assert saved.read_bytes() == before
    assert list(saved.parent.iterdir()) == [saved]


def test_places_that_cannot_be_read_or_written(tmp_path):
    assert "no such model file" in refused(tmp_path / "absent.model")
    assert "directory" in refused(tmp_path)
    with pytest.raises(DataError, match="there is no directory"):
        persist.save(tmp_path / "no" / "where.model", ARCHIVE)
