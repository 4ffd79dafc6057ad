"""Files are written whole or not at all."""

from __future__ import annotations

import io
import os
import stat
from pathlib import Path

import pytest

from conseq.errors import DataError
from conseq.io.atomic import atomic_write, emit


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_the_old_file_stays_until_the_end(tmp_path: Path) -> None:
    path = tmp_path / "model"
    path.write_text("old")
    with atomic_write(path) as file:
        file.write(b"new\n")
        file.flush()
        assert path.read_text() == "old"
    assert path.read_bytes() == b"new\n"
    assert names(tmp_path) == ["model"]


@pytest.mark.parametrize("error", [ValueError, KeyboardInterrupt, SystemExit])
@pytest.mark.parametrize("old", ["old", None])
def test_an_error_leaves_what_was_there(tmp_path: Path, error: type[BaseException], old: str | None) -> None:
    path = tmp_path / "model"
    if old:
        path.write_text(old)

    def fail() -> None:
        with atomic_write(path) as file:
            file.write(b"half")
            raise error

    with pytest.raises(error):
        fail()
    assert names(tmp_path) == (["model"] if old else [])
    assert not old or path.read_text() == old


def test_permissions(tmp_path: Path) -> None:
    before = os.umask(0o027)
    try:
        emit(tmp_path / "new", "x")
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o640
    (tmp_path / "new").chmod(0o604)
    emit(tmp_path / "new", "y")
    assert stat.S_IMODE((tmp_path / "new").stat().st_mode) == 0o604


def test_nobody_else_can_read_a_file_that_is_not_whole(tmp_path: Path) -> None:
    with atomic_write(tmp_path / "new"):
        (temporary,) = tmp_path.iterdir()
        assert stat.S_IMODE(temporary.stat().st_mode) == 0o600


def test_links_are_followed(tmp_path: Path) -> None:
    (tmp_path / "deep").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "deep" / "file")
    for text in ("one", "two"):
        emit(tmp_path / "link", text)
        assert (tmp_path / "link").is_symlink()
        assert (tmp_path / "deep" / "file").read_text() == text
    assert names(tmp_path / "deep") == ["file"]


def test_devices_are_written_to() -> None:
    emit(os.devnull, "x")
    assert stat.S_ISCHR(os.stat(os.devnull).st_mode)


def test_a_pipe_that_has_a_name_but_no_path_is_written_to() -> None:
    """As `/dev/stdout` before a `|`, and `>(gzip)` of a shell."""
    reading, writing = os.pipe()
    emit(f"/dev/fd/{writing}", "é")
    os.close(writing)
    with open(reading, "rb") as pipe:
        assert pipe.read() == "é".encode()


def test_a_full_disk_is_said_with_its_place() -> None:
    with pytest.raises(DataError, match=r"/dev/full: the file cannot be written \(No space left"):
        emit("/dev/full", "x")


def test_errors(tmp_path: Path) -> None:
    with pytest.raises(DataError, match=r"a/b\.tsv: there is no directory .*a; create it first"):
        emit(tmp_path / "a" / "b.tsv", "x")
    with pytest.raises(DataError, match="this is a directory; name a file in it"):
        emit(tmp_path, "x")
    with pytest.raises(DataError, match="new/: this is a directory"):
        emit(f"{tmp_path}/new/", "x")
    with pytest.raises(DataError, match="half of a character"):
        emit(tmp_path / "x", "a\ud800")
    assert names(tmp_path) == []


def test_a_file_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(DataError, match=r"x: the file cannot be written \(No space left on device\)"):
        emit(tmp_path / "x", "a")
    assert names(tmp_path) == []


def test_streams(capsys: pytest.CaptureFixture[str]) -> None:
    emit("-", "é")
    assert capsys.readouterr().out == "é"
    text, data = io.StringIO(), io.BytesIO()
    emit(text, "é")
    emit(data, "é")
    assert (text.getvalue(), data.getvalue()) == ("é", "é".encode())
