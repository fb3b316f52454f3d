"""What all stored documents share: strict fields, a schema version, canonical JSON and its hash."""

from __future__ import annotations

import hashlib
import json
from typing import Any, ClassVar, Self

from pydantic import BaseModel, ConfigDict, ValidationError

from ontology.errors import BedsideError

MAX_PROBLEMS_SHOWN = 3


class Strict(BaseModel):
    """A part of a stored document: unknown fields are refused."""

    model_config = ConfigDict(extra="forbid")


class Document(Strict):
    """A stored document with a `schema_version`; an unknown version is refused by name.

    Subclasses declare `schema_version: Literal["1.0"] = "1.0"` and the versions they read in `versions`.
    """

    versions: ClassVar[tuple[str, ...]] = ("1.0",)

    @classmethod
    def from_json(cls, text: str | bytes, where: str | None = None) -> Self:
        """Parse one stored document.

        Args:
            text: the JSON text.
            where: file and line, for the message.

        Raises:
            BedsideError: not JSON, an unknown schema version, or fields that do not fit.
        """
        try:
            raw = json.loads(text)
        except (ValueError, RecursionError) as error:
            raise BedsideError(f"not valid JSON ({error})", where) from None
        return cls.from_raw(raw, where)

    @classmethod
    def from_raw(cls, raw: Any, where: str | None = None) -> Self:
        """Validate an already parsed document; see `from_json`."""
        name = cls.__name__
        if not isinstance(raw, dict):
            raise BedsideError(f"a {name} must be a JSON object, not {type(raw).__name__}", where)
        version = raw.get("schema_version")
        if version not in cls.versions:
            known = ", ".join(cls.versions)
            raise BedsideError(
                f"schema_version {version!r} of this {name} is not known here (known: {known})",
                where,
                "use the Bedside release that wrote it, or write it again",
            )
        try:
            return cls.model_validate(raw)
        except ValidationError as error:
            raise BedsideError(f"not a valid {name}: {problems(error)}", where) from None

    def to_json(self) -> str:
        """Canonical JSON on one line: declared field order, no blanks, non-ASCII kept."""
        return self.model_dump_json()

    def sha256(self) -> str:
        """Hash of the canonical JSON with sorted keys, as lower-case hex."""
        return content_hash(self.model_dump(mode="json"))


def content_hash(value: Any) -> str:
    """SHA-256 of a JSON value, independent of key order."""
    text = json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def problems(error: ValidationError) -> str:
    """The first few problems of a validation error on one line."""
    found = [f"{'.'.join(str(part) for part in item['loc']) or 'document'}: {item['msg']}" for item in error.errors()]
    more = len(found) - MAX_PROBLEMS_SHOWN
    return "; ".join(found[:MAX_PROBLEMS_SHOWN]) + (f"; and {more} more" if more > 0 else "")
