"""The templates of the HTML pages: everything that they show is made harmless and escaped."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

from dpaudit.escaping import harmless

if TYPE_CHECKING:
    import jinja2

__all__ = ["filled"]


def filled(template: str, page: object) -> str:
    """Return a template filled with what a page shows, without the empty lines that tags leave behind."""
    text = _environment().get_template(template).render(page=page)
    return "\n".join(line.rstrip() for line in text.splitlines() if line.strip()) + "\n"


@cache
def _environment() -> jinja2.Environment:
    """Return the template environment: an unknown name is an error."""
    import jinja2
    from markupsafe import Markup

    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("dpaudit.report"),
        autoescape=True,
        finalize=_harmless,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    # For figures alone, which are made here from escaped words.
    environment.filters["markup"] = Markup
    return environment


def _harmless(value: Any) -> Any:
    """Return what a template is about to show; markup is made here from words that are harmless."""
    return harmless(value) if isinstance(value, str) and not hasattr(value, "__html__") else value
