"""Prompts: one Jinja2 file each in the `prompts` package, named in a trace by the hash of their text."""

from __future__ import annotations

import hashlib
import re
from functools import cache
from typing import TYPE_CHECKING

from ontology.documents import content_hash
from ontology.resources import bundled_text

if TYPE_CHECKING:
    from jinja2 import Environment

SUFFIX = ".j2"
EMPTY_LINES = re.compile(r"\n{3,}")


def render(name: str, **values: object) -> str:
    """A prompt with its variables filled in; values are put in as they are, never read as templates.

    Args:
        name: the file's name without `.j2`.
        values: every variable that the prompt uses.

    Returns:
        the text, without blanks or line breaks at its ends.

    Raises:
        BedsideError: no such prompt.
        jinja2.UndefinedError: a variable is missing.
    """
    text = _environment().get_template(name + SUFFIX).render(**values)
    return EMPTY_LINES.sub("\n\n", text).strip()


def prompt_sha256(*names: str) -> str:
    """The hash of a prompt's text, or of several prompts' names and texts together, as lower-case hex."""
    texts = {name: bundled_text(name + SUFFIX, "prompts") for name in names}
    if len(names) == 1:
        return hashlib.sha256(texts[names[0]].encode()).hexdigest()
    return content_hash(texts)


@cache
def _environment() -> Environment:
    # Jinja2 costs a tenth of a second, and most commands render nothing.
    from jinja2 import Environment, FunctionLoader, StrictUndefined

    def load(file: str) -> str:
        return bundled_text(file, "prompts")

    return Environment(  # noqa: S701
        loader=FunctionLoader(load), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False
    )
