// Tables that are wider than a phone scroll; this lets the keyboard reach and scroll them too.
window.addEventListener("load", () => {
  for (const part of document.querySelectorAll(".md-typeset__scrollwrap")) {
    if (part.scrollWidth > part.clientWidth) part.tabIndex = 0;
  }
});

// Pictures are light or dark as the page is, also where a reader has switched it.
function matchPictures() {
  const dark = document.body.dataset.mdColorScheme === "slate";
  for (const source of document.querySelectorAll("picture source")) {
    source.media = dark ? "all" : "not all";
  }
}
matchPictures();
new MutationObserver(matchPictures).observe(document.body, { attributeFilter: ["data-md-color-scheme"] });
