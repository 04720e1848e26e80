"""What the README and the documentation show can be typed: the parser takes each `resispec` command, and a listing that
names a file is that file."""

import re
import shlex
from pathlib import Path

import pytest

from resispec_ref.commands.cli import _parser

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts)]
ENGINES = ROOT / "docs" / "engines_to_audit"
LISTING = re.compile(r"^```python\n# (\w+\.py)\n(.*?)^```", re.MULTILINE | re.DOTALL)
BLOCK = re.compile(r"^```(?:console|sh)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def commands_of(text):
    """The arguments of each `resispec ...`, with or without a prompt, up to a comment, a redirection or an `&&`."""
    for block in BLOCK.findall(text):
        for line in block.replace("\\\n", " ").splitlines():
            for command in re.split(r"&&|\||>", line.removeprefix("$ ")):
                program, *arguments = shlex.split(command, comments=True) or [""]
                if program == "resispec":
                    yield arguments


COMMANDS = [(page, arguments) for page in PAGES for arguments in commands_of(page.read_text(encoding="utf-8"))]


@pytest.mark.parametrize(
    ("page", "arguments"), COMMANDS, ids=[f"{page.stem}-{' '.join(arguments)[:40]}" for page, arguments in COMMANDS]
)
def test_the_parser_takes_it(page, arguments):
    _parser(arguments).parse_args(arguments)  # ends the process with the parser's message where it does not


def test_the_commands_are_found():
    assert ["audit"] in [arguments for page, arguments in COMMANDS if page.name == "README.md"]
    assert {"record.md", "scale.md", "decode.md"} <= {page.name for page, _ in COMMANDS}
    wrong = "```console\n$ resispec record --target a pairs.npz && resispec law > x\n```\n"
    assert list(commands_of(wrong)) == [["record", "--target", "a", "pairs.npz"], ["law"]]
    with pytest.raises(SystemExit):
        _parser(["record"]).parse_args(["record", "--target", "a", "pairs.npz"])


def test_a_listing_is_the_file_that_is_run():
    shown = [found for page in PAGES for found in LISTING.findall(page.read_text(encoding="utf-8"))]
    assert {name for name, _ in shown} == {file.name for file in ENGINES.glob("*.py")}
    for name, text in shown:
        assert text == (ENGINES / name).read_text(encoding="utf-8"), name
