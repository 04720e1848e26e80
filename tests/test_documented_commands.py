"""Every `resispec` command that the README and the documentation show can be typed: the parser takes it."""

import re
import shlex
from pathlib import Path

import pytest

from resispec_ref.cli import _parser

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *(page for page in sorted((ROOT / "docs").rglob("*.md")) if "_build" not in page.parts)]
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
