"""Where a model answers: the settings of an OpenAI-compatible endpoint, and which cases it may be sent.

A key is never a setting: the settings name the environment variable that holds it.
"""

from __future__ import annotations

import ipaddress
import os
import re
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, SecretStr, ValidationError, field_validator

from ontology.documents import problems
from ontology.errors import BedsideError

BASE_URL = re.compile(
    r"(?P<scheme>https?)://(?P<host>\[[0-9A-Fa-f:.]+\]|[A-Za-z0-9](?:[A-Za-z0-9._-]*[A-Za-z0-9])?)"
    r"(?P<port>:[0-9]{1,5})?(?P<path>/[^\s?#\\@]*)?",
    re.ASCII,
)
"""Narrower than the URL standard: no user name, query, backslash or escape on which two parsers could disagree about the host."""

KEY_VARIABLE = re.compile(r"[A-Z_][A-Z0-9_]{0,63}", re.ASCII)
"""Upper case only, so that a key pasted by mistake is caught, and not repeated in the message."""

LOOPBACK_V4 = ipaddress.IPv4Network("127.0.0.0/8")
LOOPBACK_V6 = ipaddress.IPv6Address("::1")
LARGEST_PORT = 65535
FOUR_NUMBERS = re.compile(r"[0-9]+(?:\.[0-9]+){3}", re.ASCII)
LONGEST_HOST = 253
LONGEST_LABEL = 63


class Endpoint(BaseModel):
    """An OpenAI-compatible endpoint and how it is sampled; `None` leaves a setting to the endpoint.

    What the endpoint turns out not to support is learned by the client (`simulator.chat_request.Capabilities`), not written here, so that
    equal settings stay equal. Build it from a user's options with `Endpoint.of`.
    """

    model_config = ConfigDict(extra="forbid", frozen=True, hide_input_in_errors=True)

    name: str = Field(min_length=1, description="how traces and messages call it")
    base_url: str = Field(description="up to and including /v1, e.g. http://localhost:8000/v1")
    model: str = Field(min_length=1)
    api_key_env: str | None = Field(default=None, description="NAME of the environment variable with the key, never the key")
    timeout_s: float = Field(default=120.0, gt=0, le=3600, description="for one request, from connecting to the last byte")
    max_retries: int = Field(default=5, ge=0, le=20, description="further tries after a fault of the endpoint")
    max_tokens: int | None = Field(default=2048, ge=1)
    temperature: float | None = Field(default=None, ge=0, le=2)
    top_p: float | None = Field(default=None, gt=0, le=1)
    seed: int | None = Field(default=None, ge=0, description="a fixed seed; by default each encounter sends its own")
    trusted: bool = Field(default=False, description="may be sent cases that must not be passed on (--trusted-endpoint)")

    @classmethod
    def of(cls, **settings: Any) -> Self:
        """An endpoint from a user's settings.

        Raises:
            BedsideError: a setting is missing, unknown or out of range.
        """
        try:
            return cls(**settings)
        except ValidationError as error:
            raise BedsideError(f"not a valid endpoint: {problems(error)}", f"endpoint {settings.get('name', '')}".strip()) from None

    @field_validator("base_url")
    @classmethod
    def _unambiguous(cls, value: str) -> str:
        text = value.strip()
        if "@" in text.split("://", 1)[-1].split("/", 1)[0]:
            # Nothing of the address is repeated: what stands before the @ may be a password.
            raise BedsideError(
                "an address must not hold a user name or a password", "base_url", "give the key in an environment variable (api_key_env)"
            )
        found = BASE_URL.fullmatch(text)
        if found is None or int((found["port"] or ":0")[1:]) > LARGEST_PORT:
            raise BedsideError(
                "not an address of the form http(s)://host[:port][/path]", "base_url", "for example http://localhost:8000/v1"
            )
        path = (found["path"] or "").rstrip("/")
        if path.endswith("/completions"):
            raise BedsideError("the address must end before /chat/completions", "base_url", "end it with /v1")
        if not _is_host(found["host"]):
            raise BedsideError("not a host's name or address", "base_url", "for example localhost, 192.168.1.5 or [::1]")
        return f"{found['scheme']}://{found['host'].lower()}{found['port'] or ''}{path}"

    @field_validator("api_key_env")
    @classmethod
    def _a_name(cls, value: str | None) -> str | None:
        if value is not None and not KEY_VARIABLE.fullmatch(value):
            raise BedsideError(
                "not the name of an environment variable (capitals, digits, _)",
                "api_key_env",
                "put the key into an environment variable and give that variable's name",
            )
        return value

    @property
    def host(self) -> str:
        """The host alone: lower case, no port, no brackets."""
        found = BASE_URL.fullmatch(self.base_url)
        if found is None:
            raise BedsideError("not an address of the form http(s)://host[:port][/path]", "base_url")
        return found["host"].strip("[]").lower()

    @property
    def is_loopback(self) -> bool:
        """Whether the host is this machine: `localhost`, 127.0.0.0/8 or ::1, and no other spelling.

        `0.0.0.0`, `127.1`, `localhost.` or a name that happens to resolve to 127.0.0.1 are not: resolving is in others' hands.
        """
        if self.host == "localhost":
            return True
        try:
            address = ipaddress.ip_address(self.host)
        except ValueError:
            return False
        return address in LOOPBACK_V4 if isinstance(address, ipaddress.IPv4Address) else address == LOOPBACK_V6

    def check_may_receive(self, *, redistributable: bool) -> None:
        """Refuse a case that must not leave this machine's or a trusted party's hands.

        Raises:
            BedsideError: the case is not redistributable, and the endpoint is neither loopback nor trusted.
        """
        if not (redistributable or self.trusted or self.is_loopback):
            raise BedsideError(
                f"this case may not be passed on, and {self.host} is neither this machine nor marked as trusted",
                f"endpoint {self.name}",
                "use a local endpoint, or --trusted-endpoint if its operator is covered by your data use agreement",
            )

    def read_key(self) -> SecretStr | None:
        """The key from the environment; None when no variable is named.

        Raises:
            BedsideError: the variable is not set, empty, or holds what no key holds (a line break, a curly quote).
        """
        if self.api_key_env is None:
            return None
        key = os.environ.get(self.api_key_env, "").strip()
        if not key:
            raise BedsideError(
                f"the environment variable {self.api_key_env} is not set or empty",
                f"endpoint {self.name}",
                "set it to the key of the endpoint",
            )
        if not key.isascii() or not key.isprintable() or " " in key:
            raise BedsideError(
                f"the environment variable {self.api_key_env} holds characters that no key has",
                f"endpoint {self.name}",
                "copy the key again, without quotes, blanks or line breaks",
            )
        return SecretStr(key)


def _is_host(host: str) -> bool:
    try:
        if host.startswith("["):
            ipaddress.IPv6Address(host.strip("[]"))
        elif FOUR_NUMBERS.fullmatch(host):
            # `0177.0.0.1` is read in base 8 by some resolvers and in base 10 by others.
            ipaddress.IPv4Address(host)
    except ValueError:
        return False
    return host.startswith("[") or (len(host) <= LONGEST_HOST and all(0 < len(label) <= LONGEST_LABEL for label in host.split(".")))
