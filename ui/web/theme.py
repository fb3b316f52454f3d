"""Our colours in Gradio's theme. The style sheet defines them, once, for light and dark."""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import gradio as gr

FONTS = ["system-ui", "-apple-system", "Segoe UI", "Roboto", "Helvetica Neue", "Arial", "sans-serif"]
MONO = ["ui-monospace", "SFMono-Regular", "Menlo", "Consolas", "monospace"]
COLOURS = {
    "body_background_fill": "paper",
    "body_text_color": "ink",
    "body_text_color_subdued": "muted",
    "background_fill_primary": "paper",
    "background_fill_secondary": "paper",
    "block_background_fill": "surface",
    "block_border_color": "line",
    "block_label_text_color": "ink",
    "block_title_text_color": "ink",
    "block_info_text_color": "muted",
    "border_color_primary": "line",
    "border_color_accent": "accent",
    "input_background_fill": "surface",
    "input_background_fill_focus": "surface",
    "input_border_color": "edge",
    "input_border_color_focus": "accent",
    "input_placeholder_color": "muted",
    "button_primary_background_fill": "accent",
    "button_primary_background_fill_hover": "accent-strong",
    "button_primary_text_color": "on-accent",
    "button_primary_border_color": "accent",
    "button_secondary_background_fill": "surface",
    "button_secondary_background_fill_hover": "accent-soft",
    "button_secondary_text_color": "ink",
    "button_secondary_border_color": "edge",
    "button_cancel_background_fill": "poor-soft",
    "button_cancel_text_color": "poor",
    "button_cancel_border_color": "poor",
    "checkbox_background_color": "surface",
    "checkbox_background_color_selected": "accent",
    "checkbox_border_color": "edge",
    "checkbox_border_color_selected": "accent",
    "checkbox_label_background_fill": "surface",
    "checkbox_label_background_fill_hover": "accent-soft",
    "checkbox_label_background_fill_selected": "accent-soft",
    "checkbox_label_border_color": "edge",
    "checkbox_label_text_color": "ink",
    "checkbox_label_text_color_selected": "ink",
    "link_text_color": "accent",
}
"""Gradio's names for parts of the page, with ours for their colours."""


def asset(name: str) -> str:
    """The text of a file beside this module."""
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def palette(css: str) -> dict[str, dict[str, str]]:
    """The colours of a style sheet by mode (`light`, `dark`) and name, as #rrggbb."""
    found = {}
    for mode, selector in (("light", ":root"), ("dark", ".dark")):
        block = re.search(rf"^{re.escape(selector)} \{{(.*?)^\}}", css, re.DOTALL | re.MULTILINE)
        found[mode] = dict(re.findall(r"--bs-([a-z-]+): (#[0-9a-f]{6});", block[1])) if block else {}
    return found


def make_theme() -> gr.themes.Base:
    """Gradio's plainest theme in our colours and in fonts that every machine has.

    The colours themselves stand beside their names for the log-in page, which does not get the style sheet.
    """
    import gradio as gr

    theme = gr.themes.Base(font=FONTS, font_mono=MONO, radius_size=gr.themes.sizes.radius_md)
    values = {"input_border_width": "1px", "input_border_width_dark": "1px"}
    for suffix, colours in (("", palette(asset("bedside.css"))["light"]), ("_dark", palette(asset("bedside.css"))["dark"])):
        values |= {part + suffix: f"var(--bs-{name}, {colours[name]})" for part, name in COLOURS.items()}
    return theme.set(**values)
