"""Prompts: one Jinja2 file each in the `prompts` package, named in a trace by the hash of their text."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING

from ontology.documents import content_hash
from ontology.errors import BedsideError
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


def render_own(text: str, where: str, **values: object) -> str:
    """A user's own prompt with its variables filled in, in a sandbox, since run definitions are passed around.

    Args:
        text: the template.
        where: what to name in an error.
        values: the variables it may use.

    Raises:
        BedsideError: it is no valid template, uses another variable, or does what the sandbox forbids.
    """
    from jinja2 import StrictUndefined, TemplateError
    from jinja2.sandbox import ImmutableSandboxedEnvironment

    environment = ImmutableSandboxedEnvironment(undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, autoescape=False)  # noqa: S701
    try:
        filled = environment.from_string(text).render(**values)
    except (TemplateError, TypeError, ValueError, ArithmeticError) as error:
        line = getattr(error, "lineno", None)
        at = f" (line {line})" if line else ""
        raise BedsideError(f"the prompt cannot be filled in{at}: {error}", where, f"variables: {', '.join(values)}") from None
    return EMPTY_LINES.sub("\n\n", filled).strip()


def prompt_sha256(*names: str, own: Mapping[str, str] | None = None) -> str:
    """The hash of a prompt's text, or of several prompts' names and texts together, as lower-case hex.

    Args:
        names: of the bundled prompts.
        own: texts used in place of bundled ones, by name.
    """
    texts = {name: bundled_text(name + SUFFIX, "prompts") for name in names} | dict(own or {})
    if len(texts) == 1:
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
