"""`io/instances.py`: TiMBL's two formats, and what is said of files that are not like them."""

from __future__ import annotations

import pytest

from conseq.errors import DataError
from conseq.io.instances import read_instances


@pytest.mark.parametrize(
    ("text", "rows"),
    [
        ("a x one\nb y two\n", [["a", "x"], ["b", "y"]]),
        ("a\tx\tone\r\nb\ty\ttwo", [["a", "x"], ["b", "y"]]),
        ("  a   x  one \n\nb y two\n\n", [["a", "x"], ["b", "y"]]),
        ("a,x,one\nb,y,two\n", [["a", "x"], ["b", "y"]]),
        ("a,,one\nb,y z,two\n", [["a", ""], ["b", "y z"]]),
        (", x one\n, , two\n", [[",", "x"], [",", ","]]),
    ],
)
def test_the_first_line_says_what_separates(tmp_path, text, rows):
    path = tmp_path / "train"
    path.write_text(text, encoding="utf-8")
    assert read_instances(path) == (rows, ["one", "two"])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "train: the file is empty"),
        ("\n \n", "train: the file has no instances; give at least one line that is not blank"),
        ("one\n", "train:1: there is only one column; give values and then the class"),
        ("a x one\n\nb two\n", "train:3: 2 columns where the lines above have 3"),
        ("a,x,one\nb,y,z,two\n", "train:2: 4 columns where the lines above have 3"),
    ],
)
def test_a_bad_file_gets_one_sentence_with_the_place(tmp_path, text, said):
    path = tmp_path / "train"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(DataError) as caught:
        read_instances(path)
    assert said in str(caught.value)


def test_a_missing_file_gets_one_sentence(tmp_path):
    with pytest.raises(DataError, match="there is no such file"):
        read_instances(tmp_path / "none")
