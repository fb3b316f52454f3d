"""Which cases and which keys the chat client lets out, and to whom."""

from __future__ import annotations

import asyncio
import logging
import traceback
from typing import Any

import pytest
from pydantic import ValidationError

from ontology.errors import BedsideError
from simulator.chat import ChatClient, Endpoint, Message
from simulator.protocols import InfrastructureFailure

KEY = "sk-very-secret-0123456789"
HELLO = [Message("system", "You are a doctor."), Message("user", "My head hurts.")]


# --- who may be sent what -----------------------------------------------------------------------------------------------------------

LOCAL = [
    "http://localhost:8000/v1",
    "https://LOCALHOST/v1",
    "http://127.0.0.1/v1",
    "http://127.255.3.4:80",
    "http://[::1]:8000/v1",
    "http://[0:0:0:0:0:0:0:1]/v1",
]
NOT_LOCAL = [
    "http://localhost.evil.com/v1",
    "http://127.0.0.1.nip.io/v1",
    "http://127.0.0.1.evil.com/v1",
    "http://evil.com/localhost",
    "http://evil.com/127.0.0.1/v1",
    "http://evil-localhost/v1",
    "http://my.localhost/v1",
    "http://127.1/v1",
    "http://0x7f.0.0.1/v1",
    "http://2130706433/v1",
    "http://0.0.0.0:8000/v1",
    "http://10.0.0.3/v1",
    "http://[::]/v1",
    "http://[::2]/v1",
    "http://[::ffff:127.0.0.1]/v1",
    "http://[fe80::1]/v1",
    "https://api.openai.com/v1",
]
NOT_AN_ADDRESS = [
    "http://localhost@evil.com/v1",
    "http://localhost:secret@evil.com/v1",
    "http://evil.com\\@localhost/v1",
    "http://localhost\\.evil.com/v1",
    "http://evil.com#@localhost/v1",
    "http://evil.com?x=@localhost",
    "http://local\nhost/v1",
    "http://localhost%2eevil.com/v1",
    "http://ⅼocalhost/v1",
    "http://[::1%25eth0]/v1",
    "http://[1.2.3]/v1",
    "http://0177.0.0.1/v1",
    "http://127.0.0.256/v1",
    "http://local..host/v1",
    f"http://{'a' * 64}.com/v1",
    "http://localhost:99999/v1",
    "http:///v1",
    "//localhost/v1",
    "localhost:8000/v1",
    "ftp://localhost/v1",
    "http://localhost/v1?key=abc",
    "http://localhost:8000/v1/chat/completions",
    "",
]


def address(url: str, **settings: Any) -> Endpoint:
    return Endpoint.of(name="e", base_url=url, model="m", **settings)


@pytest.mark.parametrize("url", LOCAL)
def test_this_machine_may_receive_every_case(url: str) -> None:
    address(url).check_may_receive(redistributable=False)


@pytest.mark.parametrize("url", NOT_LOCAL)
def test_another_machine_may_not_receive_a_case_that_must_not_be_passed_on(url: str) -> None:
    assert not address(url).is_loopback
    with pytest.raises(BedsideError, match="may not be passed on"):
        asyncio.run(ChatClient(address(url)).complete(HELLO, redistributable=False))
    address(url, trusted=True).check_may_receive(redistributable=False)
    address(url).check_may_receive(redistributable=True)


@pytest.mark.parametrize("url", NOT_AN_ADDRESS)
def test_an_ambiguous_address_is_refused_in_one_line(url: str) -> None:
    with pytest.raises(BedsideError) as raised:
        address(url)
    assert "\n" not in str(raised.value)
    assert "secret" not in str(raised.value)


@pytest.mark.parametrize("url", [*LOCAL, *NOT_LOCAL])
def test_the_host_that_is_checked_is_the_host_that_is_connected_to(url: str) -> None:
    """Two parsers that read an address differently are the usual way round such a rule."""
    client_url = pytest.importorskip("openai").AsyncOpenAI(base_url=address(url).base_url, api_key="x").base_url
    assert client_url.host == address(url).host


def test_nothing_is_sent_when_the_case_may_not_be(openai_server: Any) -> None:
    openai_server.says("Yes.")
    url = f"http://0.0.0.0:{openai_server.port}/v1"  # reaches this machine, but is not one of its names
    with pytest.raises(BedsideError, match="--trusted-endpoint"):
        openai_server.complete(openai_server.client(base_url=url), redistributable=False)
    assert openai_server.requests == []
    assert openai_server.complete(openai_server.client(base_url=url), redistributable=True).text == "Yes."
    assert openai_server.complete(openai_server.client(base_url=url, trusted=True), redistributable=False).text == "Yes."


def test_loopback_receives_a_case_that_must_not_be_passed_on(openai_server: Any) -> None:
    openai_server.says("Yes.")
    assert openai_server.complete(openai_server.client(), redistributable=False).text == "Yes."


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_a_redirect_is_not_followed(openai_server: Any, other_openai_server: Any, status: int) -> None:
    other_openai_server.says("Thank you for the case.")
    openai_server.answers(status, "", {"Location": f"{other_openai_server.base_url}/chat/completions"})
    assert "redirect" in openai_server.failure(openai_server.client(), redistributable=False)
    assert other_openai_server.requests == []
    assert len(openai_server.requests) == 1


def test_a_proxy_of_the_environment_does_not_see_what_stays_on_this_machine(
    openai_server: Any, other_openai_server: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy"):
        monkeypatch.setenv(name, f"http://127.0.0.1:{other_openai_server.port}")
    for name in ("NO_PROXY", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
    openai_server.says("Yes.")
    openai_server.complete(openai_server.client(), redistributable=False)
    assert other_openai_server.requests == []


# --- keys ---------------------------------------------------------------------------------------------------------------------------


def test_the_key_comes_from_the_named_variable(openai_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLINIC_KEY", f" {KEY}\n")
    openai_server.says("Yes.")
    openai_server.complete(openai_server.client(api_key_env="CLINIC_KEY"))
    assert openai_server.requests[0].headers["authorization"] == f"Bearer {KEY}"


def test_variables_meant_for_another_service_are_not_sent(openai_server: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("OPENAI_API_KEY", "OPENAI_ADMIN_KEY", "OPENAI_ORG_ID", "OPENAI_PROJECT_ID"):
        monkeypatch.setenv(name, KEY)
    monkeypatch.setenv("OPENAI_CUSTOM_HEADERS", f"X-Gateway: {KEY}\nAuthorization: Bearer {KEY}")
    monkeypatch.setenv("OPENAI_BASE_URL", "http://127.0.0.1:1/v1")
    openai_server.says("Yes.")
    openai_server.complete(openai_server.client())
    headers = openai_server.requests[0].headers
    assert "authorization" not in headers
    assert KEY not in repr(headers)
    assert set(headers) <= {
        "x-stainless-raw-response",
        "host",
        "accept",
        "accept-encoding",
        "connection",
        "content-type",
        "content-length",
        "user-agent",
    }


@pytest.mark.parametrize("value", [None, "", "  "])
def test_a_missing_key_is_said_before_anything_is_sent(openai_server: Any, monkeypatch: pytest.MonkeyPatch, value: str | None) -> None:
    monkeypatch.delenv("CLINIC_KEY", raising=False)
    if value is not None:
        monkeypatch.setenv("CLINIC_KEY", value)
    with pytest.raises(BedsideError, match="CLINIC_KEY is not set"):
        openai_server.client(api_key_env="CLINIC_KEY")


@pytest.mark.parametrize("value", [f"{KEY}\nX", f"“{KEY}”", f"{KEY} {KEY}"])
def test_a_key_that_cannot_be_one_is_not_repeated(openai_server: Any, monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("CLINIC_KEY", value)
    with pytest.raises(BedsideError, match="characters that no key has") as raised:
        openai_server.client(api_key_env="CLINIC_KEY")
    assert KEY not in str(raised.value)


@pytest.mark.parametrize("settings", [{"api_key_env": KEY}, {"api_key_env": "hf_abcDEF"}, {"api_key": KEY}, {"key": KEY, "temperature": 9}])
def test_a_key_given_as_a_setting_is_refused_and_not_repeated(openai_server: Any, settings: dict[str, Any]) -> None:
    with pytest.raises(BedsideError) as raised:
        openai_server.endpoint(**settings)
    assert KEY not in str(raised.value)
    assert "hf_abc" not in str(raised.value)


def test_settings_that_do_not_fit_are_not_repeated_either(openai_server: Any) -> None:
    with pytest.raises(ValidationError) as raised:
        Endpoint(name="e", base_url=openai_server.base_url, model="m", key=KEY)  # type: ignore[call-arg]
    assert KEY not in str(raised.value)


def test_the_key_shows_in_no_log_no_repr_no_error_and_no_trace_back(
    openai_server: Any, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setenv("CLINIC_KEY", KEY)
    monkeypatch.setenv("OPENAI_LOG", "debug")
    caplog.set_level(logging.DEBUG)
    for name in ("openai", "httpx", "httpx2", "httpcore", "httpcore2", "asyncio", "simulator"):
        logging.getLogger(name).setLevel(logging.DEBUG)
    openai_server.refuses(503, f"upstream said: Bearer {KEY} is bad").hangs_up()
    openai_server.refuses(401, f"Incorrect API key provided: {KEY}. Also sk-ab*****yz.")
    chat = openai_server.client(api_key_env="CLINIC_KEY")
    with pytest.raises(InfrastructureFailure) as raised:
        openai_server.complete(chat)
    error = raised.value
    assert len(openai_server.requests) == 3
    assert "CLINIC_KEY" in str(error)
    shown = [repr(chat), repr(vars(chat)), str(error), repr(error), repr(chat.endpoint), chat.endpoint.model_dump_json(), caplog.text]
    shown += ["".join(traceback.format_exception(error)), *(repr(record.__dict__) for record in caplog.records)]
    # An exception of the openai package holds the request and its headers; none may hang on ours.
    assert error.__context__ is None
    assert error.__cause__ is None
    assert len(caplog.records) > 3
    for text in shown:
        assert KEY not in text
        assert "sk-ab" not in text
