"""A result as HTML that stands on its own: what notebooks show, and the heart of the report."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape
from typing import TYPE_CHECKING

from shoal.report.text import lost, safety, where

if TYPE_CHECKING:
    from shoal.values import Result, Treatment

STYLE = """
.shoal{font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:#1b2a33;background:#fff;
max-width:56rem;padding:.5rem 0}
.shoal h1{font-size:1.5rem;line-height:1.25;margin:0 0 1rem;overflow-wrap:anywhere}
.shoal h2{font-size:1.05rem;margin:1.6rem 0 .4rem;color:#1b2a33}
.shoal p{margin:.4rem 0}
.shoal .verdict{padding:.7rem 1rem;border-left:5px solid #1e7d3c;background:#e8f5ec;font-weight:600}
.shoal .unsafe{border-color:#b3261e;background:#fdeceb}
.shoal table{border-collapse:collapse;width:100%;margin:.3rem 0;font-size:inherit}
.shoal th,.shoal td{text-align:left;vertical-align:top;padding:.35rem 1rem .35rem 0;
border-bottom:1px solid #dfe6ea;overflow-wrap:anywhere;background:none;color:inherit}
.shoal thead th{font-weight:600;color:#52646f;border-bottom:2px solid #c4d0d7}
.shoal .n{text-align:right;white-space:nowrap;font-variant-numeric:tabular-nums}
.shoal .bar{display:block;width:9rem;height:.55rem;margin-top:.5rem;background:#e4ebef}
.shoal .bar span{display:block;height:100%;background:#2f7f9f}
.shoal .note,.shoal .facts td:first-child{color:#52646f}
.shoal .facts td:first-child{width:14rem}
.shoal code{font:.9em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
@media print{.shoal{max-width:none;font-size:10.5pt}.shoal tr,.shoal .verdict{break-inside:avoid}
.shoal h2{break-after:avoid}.shoal *{print-color-adjust:exact}}
"""


def result_html(result: Result) -> str:
    """Is it safe, what was lost, what was done to each attribute, where is the file."""
    return f'<style>{STYLE}</style><div class="shoal">{answers(result)}</div>'


def answers(result: Result) -> str:
    """The four answers, in the order in which people ask."""
    kind = "verdict" if result.verified else "verdict unsafe"
    return "".join(
        (
            f'<p class="{kind}">{escape(safety(result))}</p>',
            "<h2>What was lost</h2>",
            *(f"<p>{escape(line)}</p>" for line in lost(result)),
            "<h2>What was done to each attribute</h2>",
            table(
                ("attribute", "level", "values look like", "loss", ""),
                (_treatment(name, each) for name, each in result.treatments.items()),
                numbers=(1, 3),
            ),
            "<h2>What was demanded</h2>",
            table(
                ("model", "attribute", "demanded", "reached"),
                (
                    (
                        escape(d.model),
                        escape(d.attribute or ""),
                        escape(d.demanded),
                        f"{d.reached:.6g}",
                    )
                    for d in result.privacy
                ),
                numbers=(3,),
            ),
            f"<h2>Where it is</h2><p>{escape(where(result))}</p>",
        )
    )


def table(
    heading: Sequence[str], rows: Iterable[Sequence[str]], numbers: Sequence[int] = ()
) -> str:
    """A table of cells that are HTML already; `numbers` are the columns to align to the right."""

    def line(tag: str, cells: Sequence[str]) -> str:
        marked = (
            f'<{tag} class="n">{cell}</{tag}>' if i in numbers else f"<{tag}>{cell}</{tag}>"
            for i, cell in enumerate(cells)
        )
        return f"<tr>{''.join(marked)}</tr>"

    head = f"<thead>{line('th', heading)}</thead>" if heading else ""
    body = "".join(line("td", row) for row in rows)
    kind = "" if heading else ' class="facts"'
    return f"<table{kind}>{head}<tbody>{body}</tbody></table>"


def _treatment(name: str, treatment: Treatment) -> tuple[str, ...]:
    note = ' <span class="note">(proposed hierarchy)</span>' if treatment.proposed else ""
    share = min(1.0, max(0.0, treatment.loss))
    return (
        escape(name),
        f"{treatment.level} of {treatment.height}",
        f"{escape(treatment.example)}{note}",
        f"{treatment.loss:.1%}",
        f'<span class="bar"><span style="width:{share:.1%}"></span></span>',
    )
