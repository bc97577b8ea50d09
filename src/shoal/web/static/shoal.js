// Small things that NiceGUI has no way for: the theme before the first paint, and times in the
// reader's own time zone and language.
(() => {
  const stored = document.cookie.match(/(?:^|; )shoal-theme=(light|dark)/);
  if (stored) document.documentElement.dataset.theme = stored[1];

  globalThis.shoalTheme = (theme) => {
    const root = document.documentElement;
    if (theme === "system") delete root.dataset.theme;
    else root.dataset.theme = theme;
    const age = theme === "system" ? 0 : 31536000;
    document.cookie = `shoal-theme=${theme}; path=/; max-age=${age}; samesite=strict`;
  };

  class LocalTime extends HTMLElement {
    static observedAttributes = ["datetime", "format"];
    connectedCallback() { this.show(); }
    attributeChangedCallback() { this.show(); }
    show() {
      const when = new Date(this.getAttribute("datetime") ?? "");
      if (Number.isNaN(when.getTime())) { this.textContent = ""; return; }
      const time = { hour: "2-digit", minute: "2-digit" };
      const today = when.toDateString() === new Date().toDateString();
      const full = this.getAttribute("format") === "full";
      this.textContent = today && !full
        ? when.toLocaleTimeString(navigator.language, time)
        : when.toLocaleString(navigator.language, { day: "numeric", month: "short", year: "numeric", ...time });
    }
  }
  customElements.define("local-time", LocalTime);
})();
