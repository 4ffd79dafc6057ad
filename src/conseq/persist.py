"""One file per model: a zip with `model.json`, string lists and arrays, nothing pickled.

    Archive(document, strings, arrays) ─save─→ file ─load─→ Archive

The file is written aside and renamed; the same content gives the same bytes. A file that is cut off, foreign
or of another version gives one sentence.
"""

from __future__ import annotations

import io
import json
import os
import zipfile
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from conseq.errors import ModelError
from conseq.io.atomic import atomic_write

KIND = "conseq model"
VERSION = 2

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
)
"""What reading raises if a file is not what it should be; RuntimeError stands for odd or endless content."""

_EPOCH = (1980, 1, 1, 0, 0, 0)
"""Every member carries this date, so that equal models are equal files."""


@dataclass(frozen=True, eq=False)
class Archive:
    """What a model file holds: a JSON document, named lists of strings, named arrays."""

    document: Mapping[str, Any]
    strings: Mapping[str, Sequence[str]] = field(default_factory=dict)
    arrays: Mapping[str, NDArray] = field(default_factory=dict)

    def within(self, prefix: str) -> Archive:
        """The strings and arrays whose names begin with `prefix/`, without it."""
        cut = len(prefix) + 1
        return Archive(
            self.document[prefix],
            {n[cut:]: v for n, v in self.strings.items() if n.startswith(prefix + "/")},
            {n[cut:]: v for n, v in self.arrays.items() if n.startswith(prefix + "/")},
        )


def combine(document: Mapping[str, Any], parts: Mapping[str, Archive]) -> Archive:
    """One archive from several, each under its own name; the reverse is `Archive.within`."""
    return Archive(
        {**document, **{name: part.document for name, part in parts.items()}},
        {f"{name}/{key}": value for name, part in parts.items() for key, value in part.strings.items()},
        {f"{name}/{key}": value for name, part in parts.items() for key, value in part.arrays.items()},
    )


def save(path: str | os.PathLike[str], archive: Archive) -> None:
    """Write a model file, whole or not at all."""
    document = {"kind": KIND, "version": VERSION, **archive.document}
    with (
        atomic_write(path, "wb") as file,
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
            document = _document(zipped, path)
            return _contents(zipped, document)
    except FileNotFoundError:
        raise ModelError(
            f"{path}: there is no such model file; train one with `conseq train … --model`"
        ) from None
    except IsADirectoryError:
        raise ModelError(f"{path}: this is a directory; name the model file") from None
    except PermissionError:
        raise ModelError(f"{path}: the model file may not be read; check its permissions") from None
    except _DAMAGED:
        raise ModelError(
            f"{path}: not a conseq model, or one that is damaged or cut off; copy it again or train it anew"
        ) from None


def _document(zipped: zipfile.ZipFile, path: str | os.PathLike[str]) -> dict[str, Any]:
    document = json.loads(zipped.read("model.json"))
    if document.get("kind") != KIND:
        raise ModelError(f"{path}: a zip file, but not a conseq model; name a file written by `conseq train`")
    version = document.get("version", 0)
    if version > VERSION:
        raise ModelError(
            f"{path}: written by a newer conseq (format {version}, this one reads {VERSION}); update conseq"
        )
    if version < VERSION:
        raise ModelError(
            f"{path}: written by an older conseq (format {version}, this one reads {VERSION}); train it anew"
        )
    return document


def _contents(zipped: zipfile.ZipFile, document: dict[str, Any]) -> Archive:
    strings: dict[str, list[str]] = {}
    arrays: dict[str, NDArray] = {}
    for name in zipped.namelist():
        kind, _, rest = name.partition("/")
        if kind == "strings":
            strings[rest.removesuffix(".json")] = json.loads(zipped.read(name))
        elif kind == "arrays":
            buffer = io.BytesIO(zipped.read(name))
            arrays[rest.removesuffix(".npy")] = np.lib.format.read_array(buffer, allow_pickle=False)
    return Archive(document, strings, arrays)
