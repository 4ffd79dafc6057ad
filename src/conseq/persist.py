"""One file per model: a zip with `model.json`, string lists and arrays, nothing pickled.

    Archive(document, strings, arrays) ─save─→ file ─load─→ Archive

The file is written aside and renamed; the same content gives the same bytes. A file that is cut off, foreign
or of another version gives one sentence. What a file says of the names and sizes of its members is looked at
before anything is unpacked, so that no file takes more memory than its size allows.
"""

from __future__ import annotations

import io
import json
import math
import os
import re
import zipfile
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.archive import REMEDY, Archive, combine
from conseq.checks import fits
from conseq.errors import ModelError
from conseq.io.atomic import atomic_write

__all__ = ["KIND", "VERSION", "Archive", "combine", "load", "save"]

KIND = "conseq model"
VERSION = 3

MEMBERS = 10_000
"""A model file has no more members."""

SPARE, RATIO = 1 << 26, 64
"""Unpacked, all members take at most SPARE bytes and RATIO times what the file takes."""

TEXT_SPARE, TEXT_RATIO = 1 << 20, 16
"""The same for a member of JSON, which takes many times its size once it is read."""

DTYPES = frozenset(["|b1", "|i1", "|u1", "<i2", "<i4", "<i8", "<f4", "<f8"])
"""What arrays are made of."""

_DOCUMENT = "model.json"
_MEMBER = re.compile(r"strings/.+\.json|arrays/.+\.npy|model\.json", re.DOTALL)

_DAMAGED = (
    zipfile.BadZipFile,
    zlib.error,
    EOFError,
    OSError,
    LookupError,
    ValueError,
    TypeError,
    AttributeError,
    RuntimeError,
    MemoryError,
)
"""What reading raises if a file is not what it should be; RuntimeError stands for odd or endless content."""

_SAYS: dict[type, str] = {
    FileNotFoundError: "there is no such model file; train one with `conseq train … --model`",
    IsADirectoryError: "this is a directory; name the model file",
    PermissionError: "the model file may not be read; check its permissions",
}
_SAYS_DAMAGED = "not a conseq model, or one that is damaged or cut off; copy it again or train it anew"

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Every member carries this date, so that equal models are equal files."""


def save(path: str | os.PathLike[str], archive: Archive) -> None:
    """Write a model file, whole or not at all."""
    document = {"kind": KIND, "version": VERSION, **archive.document}
    with (
        atomic_write(path) as file,
        zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, compresslevel=1) as zipped,
    ):
        _add(zipped, "model.json", json.dumps(document, ensure_ascii=False, indent=1).encode())
        for name, strings in archive.strings.items():
            _add(zipped, f"strings/{name}.json", json.dumps(list(strings), ensure_ascii=False).encode())
        for name, array in archive.arrays.items():
            buffer = io.BytesIO()
            np.lib.format.write_array(buffer, np.asarray(array, order="C"), allow_pickle=False)
            _add(zipped, f"arrays/{name}.npy", buffer.getvalue())


def _add(zipped: zipfile.ZipFile, name: str, data: bytes) -> None:
    zipped.writestr(zipfile.ZipInfo(name, _EPOCH), data, zipfile.ZIP_DEFLATED, compresslevel=1)


def load(path: str | os.PathLike[str]) -> Archive:
    """Read a model file back."""
    try:
        with zipfile.ZipFile(path) as zipped:
            _check_members(zipped, path)
            document = _document(zipped, path)
            return _contents(zipped, document, os.fspath(path))
    except _DAMAGED as error:
        raise ModelError(f"{path}: {_SAYS.get(type(error), _SAYS_DAMAGED)}") from None


def _check_members(zipped: zipfile.ZipFile, path: str | os.PathLike[str]) -> None:
    """Raise if the names, number or sizes of the members are not those of a model."""
    infos = zipped.infolist()
    size = os.stat(path).st_size
    if _DOCUMENT not in zipped.NameToInfo:
        raise zipfile.BadZipFile
    if len(infos) > MEMBERS:
        raise ModelError(f"{path}: there are {len(infos)} members in it, more than a model has; {REMEDY}")
    if len(zipped.NameToInfo) < len(infos):
        raise ModelError(f"{path}: two members have the same name; {REMEDY}")
    for info in infos:
        if not _MEMBER.fullmatch(info.filename):
            raise ModelError(f"{path}: there is something unknown in it, {info.filename!r}; {REMEDY}")
        if info.compress_type not in (zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED):
            raise zipfile.BadZipFile
    total = sum(info.file_size for info in infos)
    texts = [info for info in infos if info.filename.endswith(".json")]
    swollen = any(info.file_size > TEXT_SPARE + TEXT_RATIO * info.compress_size for info in texts)
    if total > SPARE + RATIO * size or swollen:
        raise ModelError(
            f"{path}: its {size:,} bytes would become {total:,}, more than those of a model do; {REMEDY}"
        )


def _document(zipped: zipfile.ZipFile, path: str | os.PathLike[str]) -> dict[str, Any]:
    document = _json(zipped, _DOCUMENT)
    if document.get("kind") != KIND:
        raise ModelError(f"{path}: a zip file, but not a conseq model; name a file written by `conseq train`")
    version = document.get("version", 0)
    if not fits(version, int):
        raise ValueError
    if version != VERSION:
        age, remedy = ("a newer", "update conseq") if version > VERSION else ("an older", "train it anew")
        this = f"format {version}, this one reads {VERSION}"
        raise ModelError(f"{path}: written by {age} conseq ({this}); {remedy}")
    return document


def _contents(zipped: zipfile.ZipFile, document: dict[str, Any], path: str) -> Archive:
    strings: dict[str, list[str]] = {}
    arrays: dict[str, NDArray] = {}
    for name in zipped.namelist():
        kind, _, rest = name.partition("/")
        if kind == "strings":
            strings[rest.removesuffix(".json")] = found = _json(zipped, name)
            if not isinstance(found, list) or not all(isinstance(item, str) for item in found):
                raise ModelError(f"{path}: {name} is not a list of strings; {REMEDY}")
        elif kind == "arrays":
            arrays[rest.removesuffix(".npy")] = _array(zipped, name)
    return Archive(document, strings, arrays, path, taken={"field kind", "field version"})


def _json(zipped: zipfile.ZipFile, name: str) -> Any:
    """The value of a member; UnicodeEncodeError if it has half a character, which nobody could write."""
    data = zipped.read(name)
    value = json.loads(data)
    if b"\\u" in data:
        json.dumps(value, ensure_ascii=False).encode()
    return value


def _array(zipped: zipfile.ZipFile, name: str) -> NDArray:
    """An array, for which there is room only if its header says the size that it has."""
    with zipped.open(name) as file:
        if np.lib.format.read_magic(file) != (1, 0):
            raise ValueError
        shape, by_column, dtype = np.lib.format.read_array_header_1_0(file)
        size = math.prod(shape) * dtype.itemsize
        if dtype.str not in DTYPES or by_column or file.tell() + size != zipped.getinfo(name).file_size:
            raise ValueError
        array = np.empty(math.prod(shape), dtype)
        if file.readinto(array.view(np.uint8).data) != size or file.read(1):  # type: ignore[attr-defined]
            raise ValueError
    return array.reshape(shape)
