"""The style of pages and cards: light and dark, wide and narrow, and on paper."""

from __future__ import annotations

from shoal.report.drawing import DARK, LIGHT, variables

SHEET = """
.shoal{font:15px/1.5 system-ui,-apple-system,'Segoe UI',sans-serif;color:var(--ink);
background:var(--paper);padding:.5rem 0}
.shoal h1{font-size:1.6rem;line-height:1.25;margin:0 0 1rem;overflow-wrap:anywhere}
.shoal section h2{font-weight:700;color:inherit;font-size:1.15rem;
line-height:1.3;margin:2.2rem 0 .5rem;overflow-wrap:anywhere}
.shoal p{margin:.4rem 0;max-width:48rem;overflow-wrap:anywhere}
.shoal .verdict{padding:.8rem 1rem;border-left:5px solid var(--safe);
background:var(--safe-paper);font-weight:600;max-width:none}
.shoal .unsafe{border-color:var(--unsafe);background:var(--unsafe-paper)}
.shoal .warning{padding:.6rem 1rem;border-left:5px solid var(--warn);
background:var(--warn-paper);max-width:none}
.shoal dl.cards{display:grid;gap:1rem;margin:1rem 0;
grid-template-columns:repeat(auto-fit,minmax(min(100%,15rem),1fr))}
.shoal dl.cards div{background:var(--panel);border-radius:6px;padding:.8rem 1rem}
.shoal dl.cards dt,.shoal dl.cards dd{float:none;width:auto;display:block;padding:0}
.shoal dl.cards dt{font-weight:600;margin-bottom:.2rem}
.shoal dl.cards dd{margin:0;overflow-wrap:anywhere}
.shoal .pictures{display:grid;gap:1.6rem 2rem;margin:1rem 0;
grid-template-columns:repeat(auto-fill,minmax(min(100%,20rem),1fr))}
.shoal .beside{display:grid;gap:1rem 3rem;align-items:start}
@media(min-width:56rem){.shoal .beside{grid-template-columns:minmax(0,22rem) minmax(0,1fr)}}
.shoal figure{margin:0;max-width:27rem;min-width:0;break-inside:avoid}
.shoal figcaption{font-weight:600;margin-bottom:.3rem;overflow-wrap:anywhere}
.shoal svg{display:block;width:100%;height:auto}
.shoal table{border-collapse:collapse;width:100%;margin:.5rem 0;font-size:inherit}
.shoal.shoal table tbody tr{background:none}
.shoal.shoal table :is(th,td){text-align:left;max-width:none;white-space:normal;
vertical-align:top;padding:.35rem 1rem .35rem 0;
border-bottom:1px solid var(--line);overflow-wrap:break-word;background:none;color:inherit;
font-weight:400;min-width:0}
.shoal.shoal table tbody th{overflow-wrap:anywhere;min-width:6rem}
.shoal.shoal table thead th{font-weight:600;color:var(--soft);border-bottom:2px solid var(--line)}
.shoal.shoal table .n{text-align:right;font-variant-numeric:tabular-nums}
.shoal.shoal table td.n{white-space:nowrap}
.shoal .bar{display:block;min-width:5rem;height:.55rem;margin-top:.5rem;background:var(--line)}
.shoal .bar span{display:block;height:100%;background:var(--after)}
.shoal table.facts th{color:var(--soft);width:15rem}
.shoal table.facts td{overflow-wrap:anywhere}
.shoal code{font:.9em ui-monospace,Menlo,Consolas,monospace;overflow-wrap:anywhere}
.shoal pre{background:var(--panel);border-radius:6px;padding:.7rem 1rem;margin:.5rem 0;
white-space:pre-wrap;overflow-wrap:anywhere}
.shoal summary{cursor:pointer;color:var(--soft);padding:.3rem 0}
.shoal summary:focus-visible{outline:3px solid var(--after);outline-offset:2px}
.shoal footer{margin-top:2.5rem;padding-top:.8rem;border-top:1px solid var(--line);
color:var(--soft)}
@media(max-width:640px){
.shoal table.wide thead{position:absolute;width:1px;height:1px;overflow:hidden;clip-path:inset(50%)}
.shoal table.wide,.shoal table.wide :is(tbody,tr,th,td),
.shoal table.facts,.shoal table.facts :is(tbody,tr,th,td){display:block;width:auto}
.shoal table.wide tr,.shoal table.facts tr{padding:.5rem 0;border-bottom:1px solid var(--line)}
.shoal table.wide :is(th,td),.shoal table.facts :is(th,td){border:0;padding:.1rem 0}
.shoal table.wide tbody th{font-weight:600}
.shoal table.wide td{display:flex;justify-content:space-between;gap:1rem;text-align:right}
.shoal table.wide td>span{min-width:0;overflow-wrap:anywhere}
.shoal table.wide td[data-label]::before{content:attr(data-label);color:var(--soft);text-align:left;
flex:none;max-width:60%}
.shoal table.wide td.rule{display:block}
.shoal table.wide td:has(span:empty){display:none}
.shoal table.wide td.n{white-space:normal}
.shoal .bar{width:100%;margin:.3rem 0}
}
@media print{.shoal{font-size:10pt;padding:0}
.shoal tr,.shoal .verdict,.shoal .warning,.shoal dl.cards div,.shoal pre{break-inside:avoid}
.shoal h2,.shoal figcaption{break-after:avoid}
.shoal .pictures{grid-template-columns:repeat(2,minmax(0,1fr))}
.shoal details:not([open]){display:none}
.shoal *{print-color-adjust:exact;-webkit-print-color-adjust:exact}}
"""

CARD = f".shoal{{{variables(LIGHT)}}}{SHEET}"
"""What a card in a notebook needs. It is light, whatever is around it. Where `.shoal` is doubled, a
selector is to be more specific than the styles of notebooks."""

PAGE = (
    CARD
    + "html{color-scheme:light dark}body.shoal{margin:0;padding:0}"
    + ".shoal.page{max-width:72rem;margin:0 auto;padding:1.5rem 1.25rem 3rem}"
    + f"@media screen and (prefers-color-scheme:dark){{.shoal{{{variables(DARK)}}}}}"
    + "@page{margin:16mm 14mm}@media print{.shoal.page{padding:0;max-width:none}}"
)
"""What a page of its own needs: it follows the light or dark of the machine."""
