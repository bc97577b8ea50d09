"""What a page looks like in Chromium: faults of its layout that a reader would see.

`LOOK` runs in the page and returns a list of sentences, empty for a page without faults.
"""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from playwright.sync_api import Browser, Page

WIDTHS = (390, 768, 1280)
PAPER = 700
"""The width of an A4 page between its margins, in pixels of 1/96 inch."""

LOOK = """() => {
  const faults = [], wide = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > wide) faults.push('the page scrolls sideways');
  const luminance = ([r, g, b]) => [r, g, b].map(v => v / 255)
    .map(v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4)
    .reduce((sum, v, i) => sum + v * [0.2126, 0.7152, 0.0722][i], 0);
  const numbers = colour => colour.match(/[\\d.]+/g).map(Number);
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const found = numbers(getComputedStyle(e).backgroundColor);
      if (found.length === 3 || found[3] > 0) return found;
    }
    return [255, 255, 255];
  };
  const texts = [], walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const node = walker.currentNode, element = node.parentElement;
    if (!node.data.trim() || ['TITLE', 'DESC', 'STYLE'].includes(element.tagName.toUpperCase()))
      continue;
    if (!element.checkVisibility()) continue;
    const style = getComputedStyle(element), drawn = element.closest('svg');
    if (element.closest('thead') && wide <= 640) continue;
    const ink = numbers(drawn ? style.fill : style.color);
    const [high, low] = [luminance(ink), luminance(behind(element))].sort((a, b) => b - a);
    if ((high + 0.05) / (low + 0.05) < 4.5) faults.push('too little contrast: ' + node.data);
    const scale = drawn ? drawn.getBoundingClientRect().width / drawn.viewBox.baseVal.width : 1;
    if (parseFloat(style.fontSize) * scale < 10) faults.push('too small: ' + node.data);
    const range = document.createRange();
    range.selectNodeContents(node);
    const room = (drawn || document.body).getBoundingClientRect();
    for (const r of range.getClientRects()) {
      if (r.width < 1) continue;
      if (r.left < room.left - 1 || r.right > room.right + 1 || r.right > wide + 1)
        faults.push('cut off: ' + node.data);
      if (drawn && (r.top < room.top - 2 || r.bottom > room.bottom + 2))
        faults.push('cut off: ' + node.data);
      texts.push({left: r.left, right: r.right, top: r.top + r.height * 0.22,
                  bottom: r.bottom - r.height * 0.22, text: node.data, node});
    }
  }
  texts.sort((a, b) => a.top - b.top);
  texts.forEach((a, i) => {
    for (let j = i + 1; j < texts.length && texts[j].top < a.bottom; j++) {
      const b = texts[j];
      if (a.node !== b.node && Math.min(a.right, b.right) - Math.max(a.left, b.left) > 1)
        faults.push('overlap: ' + a.text + ' / ' + b.text);
    }
  });
  return faults;
}"""

STRUCTURE = """() => {
  const faults = [], all = selector => [...document.querySelectorAll(selector)];
  if (all('main').length !== 1 || all('h1').length !== 1) faults.push('one main with one h1');
  let last = 0;
  for (const each of all('h1,h2,h3,h4')) {
    const level = Number(each.tagName[1]);
    if (level > last + 1) faults.push('a heading skips a level: ' + each.textContent);
    last = level;
  }
  for (const each of all('svg'))
    if (each.getAttribute('role') !== 'img' || !each.getAttribute('aria-label') ||
        !each.querySelector('title') || !each.querySelector('desc'))
      faults.push('a picture without words');
  for (const each of all('th')) if (!each.scope) faults.push('no scope: ' + each.textContent);
  if (!document.documentElement.lang || !document.title) faults.push('no language or no title');
  return faults;
}"""


def faults_of(browser: Browser, html: Path, pictures: Path) -> list[str]:
    """What is wrong with a page, light and dark, at each width and on paper.

    The pictures of it, and it as PDF, are put into a folder.
    """
    page, requests = browser.new_page(), list[str]()
    page.on("request", lambda request: requests.append(request.url))
    page.goto(html.resolve().as_uri())
    faults = list(page.evaluate(STRUCTURE))
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        schemes: tuple[Literal["light", "dark"], ...] = ("light", "dark")
        for scheme in schemes:
            page.emulate_media(color_scheme=scheme)
            name = f"{html.stem}-{width}-{scheme}.png"
            page.screenshot(path=pictures / name, full_page=True)
            faults += _seen(page, f"{width} {scheme}")
    page.set_viewport_size({"width": PAPER, "height": 900})
    page.emulate_media(media="print")
    faults += _seen(page, "paper")
    page.pdf(path=pictures / f"{html.stem}.pdf", format="A4")
    page.emulate_media(media="screen")
    page.evaluate("document.querySelectorAll('details').forEach(each => each.open = true)")
    for width in WIDTHS:
        page.set_viewport_size({"width": width, "height": 900})
        faults += _seen(page, f"{width} with all tables")
    page.close()
    return [*faults, *(f"asks for {url}" for url in requests[1:])]


def _seen(page: Page, where: str) -> list[str]:
    return [f"{where}: {each}" for each in dict.fromkeys(page.evaluate(LOOK))]
