"""Open a report in a real browser and look for what a reader would stumble over.

    python experiments/report/look.py REPORT.html -o DIR --chromium /usr/bin/chromium

Needs `pip install playwright` and a Chromium. At a phone's and a desktop's width,
in light and dark, it counts: sideways scrolling, text cut off by its box, texts of
a picture that overlap or reach over its edge, text under 8 px, text whose contrast
with the page is below 4.5, requests to the network and messages of the browser.
It writes one picture a width and colour scheme, the findings as JSON, and exits
with 1 if there are any.
"""

import argparse
import json
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

WIDTHS = {"phone": 390, "desktop": 1280}
PIECE = 4000  # pixels
CHECK = """() => {
  const found = {};
  const note = (kind, what) => (found[kind] ??= []).push(what);
  const width = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth > width)
    note('sideways', document.documentElement.scrollWidth);
  const shown = e => e.checkVisibility() && e.getClientRects().length;
  const lum = c => { const v = c.match(/[\\d.]+/g).slice(0, 3).map(x => x / 255)
    .map(x => x <= .03928 ? x / 12.92 : ((x + .055) / 1.055) ** 2.4);
    return .2126 * v[0] + .7152 * v[1] + .0722 * v[2]; };
  const paper = e => { for (let n = e; n; n = n.parentElement) {
    const c = getComputedStyle(n).backgroundColor;
    if (!/, 0\\)$|transparent/.test(c)) return c; } return 'rgb(255, 255, 255)'; };
  for (const e of document.querySelectorAll('body *')) {
    if (!shown(e) || e.closest('svg')) continue;
    const own = [...e.childNodes].filter(n => n.nodeType === 3 && n.data.trim());
    if (!own.length) continue;
    const text = own[0].data.trim().slice(0, 40);
    const range = document.createRange(); range.selectNodeContents(own[0]);
    const box = range.getBoundingClientRect();
    const scrolls = e.closest('table');
    const inside = scrolls && scrolls.scrollWidth > scrolls.clientWidth;
    const out = box.right > width + 1 || box.left < -1;
    if (!inside && !e.closest('.skip, thead') && out)
      note('cut off', text);
    const style = getComputedStyle(e);
    if (parseFloat(style.fontSize) < 8) note('small', text);
    const a = lum(style.color), b = lum(paper(e));
    const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
    if (ratio < 4.5) note('faint', text + ' ' + ratio.toFixed(1));
  }
  for (const svg of document.querySelectorAll('svg')) {
    const frame = svg.getBoundingClientRect();
    const label = svg.getAttribute('aria-label');
    if (!label) note('picture without words', svg.id);
    const texts = [...svg.querySelectorAll('text')].map(t => ({
      text: t.textContent, box: t.getBoundingClientRect()}));
    for (const [i, one] of texts.entries()) {
      const a = one.box;
      if (a.left < frame.left - 1 || a.right > frame.right + 1 ||
          a.top < frame.top - 1 || a.bottom > frame.bottom + 1)
        note('over the edge', label + ': ' + one.text);
      if (a.height < 8) note('small', label + ': ' + one.text);
      for (const other of texts.slice(i + 1)) {
        const b = other.box;
        const x = Math.min(a.right, b.right) - Math.max(a.left, b.left);
        const y = Math.min(a.bottom, b.bottom) - Math.max(a.top, b.top);
        if (x > 1 && y > 2)
          note('overlap', label + ': ' + one.text + ' / ' + other.text);
      }
    }
  }
  return found;
}"""


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("page", type=Path)
    parser.add_argument("-o", "--out", type=Path, required=True)
    parser.add_argument("--chromium", help="path of the browser")
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    result = {"bytes": args.page.stat().st_size}
    with sync_playwright() as play:
        browser = play.chromium.launch(
            executable_path=args.chromium, args=["--no-sandbox"]
        )
        result["browser"] = browser.version
        for name, width in WIDTHS.items():
            for scheme in ("light", "dark"):
                result[f"{name}, {scheme}"] = look(browser, args, name, width, scheme)
        browser.close()
    text = json.dumps(result, indent=1, ensure_ascii=False)
    (args.out / "found.json").write_text(text + "\n", encoding="utf-8")
    print(text)
    sys.exit(any(result[f"{n}, {s}"] for n in WIDTHS for s in ("light", "dark")))


def look(browser, args, name, width, scheme):
    """Open the page once; give what was found, by kind."""
    page = browser.new_page(
        viewport={"width": width, "height": 900}, color_scheme=scheme
    )
    asked, said = [], []
    page.on("request", lambda request: asked.append(request.url))
    page.on("console", lambda message: said.append(message.text))
    page.goto(args.page.resolve().as_uri())
    found = page.evaluate(CHECK)
    if len(asked) > 1:
        found["requests"] = asked[1:]
    if said:
        found["messages"] = said
    take(page, args.out, f"{name}-{scheme}", width)
    if scheme == "light":
        page.evaluate(
            "document.querySelectorAll('details').forEach(d => d.open = true)"
        )
        opened = page.evaluate(CHECK)
        found |= {f"opened: {k}": v for k, v in opened.items() if v != found.get(k)}
        take(page, args.out, f"{name}-opened", width)
    page.close()
    return found


def take(page, out, name, width):
    """Take pictures of the whole page, in pieces that a browser can hold."""
    tall = page.evaluate("document.documentElement.scrollHeight")
    for number, top in enumerate(range(0, tall, PIECE), start=1):
        clip = {"x": 0, "y": top, "width": width, "height": min(PIECE, tall - top)}
        page.screenshot(path=out / f"{name}-{number}.png", full_page=True, clip=clip)


if __name__ == "__main__":
    main()
