// Two elements that NiceGUI has no way for: an upload with real progress to our own address, and a
// table of any length that keeps about 60 rows in the page. All values are set as text, never HTML.
(() => {
  const make = (tag, classes = "", content = "") => {
    const element = document.createElement(tag);
    if (classes) element.className = classes;
    if (content) element.textContent = content;
    return element;
  };
  const size = (bytes) => {
    const units = ["B", "kB", "MB", "GB"];
    let unit = 0;
    while (bytes >= 1000 && unit < 3) { bytes /= 1000; unit += 1; }
    return `${bytes.toLocaleString(navigator.language, { maximumFractionDigits: unit ? 1 : 0 })} ${units[unit]}`;
  };

  class FileDrop extends HTMLElement {
    connectedCallback() {
      if (this.zone) return;
      this.zone = make("div", "drop-zone");
      const icon = make("i", "q-icon material-icons", "upload_file");
      icon.setAttribute("aria-hidden", "true");
      this.input = make("input");
      Object.assign(this.input, { type: "file", hidden: true });
      this.input.accept = ".csv,.tsv,.txt,.gz,.parquet,.xlsx,.xml,.json,.jsonl,.ndjson";
      this.button = make("button", "btn q-btn primary drop-button", "Choose a file");
      this.button.type = "button";
      this.message = make("div", "drop-message");
      this.message.setAttribute("role", "status");
      this.bar = make("span", "meter");
      this.bar.append(make("span"));
      this.bar.hidden = true;
      this.stop = make("button", "btn q-btn quiet-btn small-btn", "Cancel the upload");
      Object.assign(this.stop, { type: "button", hidden: true });
      const words = make("div", "drop-words");
      words.append(make("h2", "", "Drop a file here"),
        make("p", "quiet", `CSV (also .gz), Parquet, Excel, XML or JSON, up to ${size(Number(this.getAttribute("limit")))}`));
      this.zone.append(icon, words, this.button, this.input, this.bar, this.message, this.stop);
      this.append(this.zone);
      this.button.onclick = () => this.input.click();
      this.input.onchange = () => { if (this.input.files[0]) this.send(this.input.files[0]); this.input.value = ""; };
      this.zone.ondragover = (event) => { event.preventDefault(); this.zone.classList.add("over"); };
      this.zone.ondragleave = () => this.zone.classList.remove("over");
      this.zone.ondrop = (event) => {
        event.preventDefault();
        this.zone.classList.remove("over");
        if (event.dataTransfer.files[0]) this.send(event.dataTransfer.files[0]);
      };
    }
    busy(is) { this.bar.hidden = this.stop.hidden = !is; this.button.hidden = is; }
    say(words, problem = false) {
      this.message.textContent = words;
      this.message.classList.toggle("unsafe", problem);
      this.message.setAttribute("role", problem ? "alert" : "status");
    }
    send(file) {
      if (file.size > Number(this.getAttribute("limit")))
        return this.say(`${file.name} is larger than this server takes (${size(Number(this.getAttribute("limit")))}). Pack it as .gz or Parquet, or leave out columns.`, true);
      const request = new XMLHttpRequest();
      request.open("POST", this.getAttribute("address"));
      request.setRequestHeader("Content-Type", "application/octet-stream");
      request.setRequestHeader("X-File-Name", encodeURIComponent(file.name));
      request.upload.onprogress = (event) => {
        const share = event.total ? event.loaded / event.total : 0;
        this.bar.firstChild.style.width = `${100 * share}%`;
        this.say(share < 1 ? `Uploading ${file.name}: ${size(event.loaded)} of ${size(event.total)}` : "Looking at the file");
      };
      request.onload = () => {
        this.busy(false);
        if (request.status < 300) { this.say("Uploaded"); location.assign(this.getAttribute("next")); return; }
        let problem = {};
        try { problem = JSON.parse(request.responseText); } catch { /* no JSON: the general words */ }
        this.say([problem.detail || problem.title || "The upload failed", problem.hint].filter(Boolean).join(". "), true);
      };
      request.onerror = () => { this.busy(false); this.say("The connection broke off. Nothing was kept; try again.", true); };
      request.onabort = () => { this.busy(false); this.say("Cancelled. Nothing was kept."); };
      this.stop.onclick = () => request.abort();
      this.busy(true);
      this.say(`Uploading ${file.name}`);
      request.send(file);
    }
  }

  const ROW = 32, BLOCK = 60, TALLEST = 15_000_000;

  // Fields end in _ where an attribute has their name: Vue would set the field, not the attribute.
  class RecordWindow extends HTMLElement {
    static observedAttributes = ["columns", "roles", "address"];
    connectedCallback() { this.built = true; this.build(); }
    attributeChangedCallback(name) {
      if (!this.built) return;
      if (name === "roles") this.recolour();
      else this.build();
    }
    build() {
      this.columns_ = JSON.parse(this.getAttribute("columns") || "[]");
      this.total = Number(this.getAttribute("rows") || 0);
      this.blocks = new Map();
      this.first = -1;
      this.box = make("div", "rw-box");
      this.box.tabIndex = 0;
      this.box.setAttribute("role", "table");
      this.box.setAttribute("aria-label", this.getAttribute("label") || "Records");
      this.box.setAttribute("aria-rowcount", String(this.total + 1));
      this.box.setAttribute("aria-colcount", String(this.columns_.length));
      const width = this.columns_.reduce((sum, each) => sum + this.width(each), 72);
      this.head = make("div", "rw-head");
      this.head.setAttribute("role", "rowgroup");
      this.head.style.width = `${width}px`;
      this.head.append(this.header());
      this.box.append(this.head);
      if (this.getAttribute("address")) {
        this.body = make("div", "rw-body");
        this.body.setAttribute("role", "rowgroup");
        this.body.style.width = `${width}px`;
        this.body.style.height = `${Math.min(this.total * ROW, TALLEST)}px`;
        this.rows_ = make("div", "rw-rows");
        this.body.append(this.rows_);
        this.box.append(this.body);
        this.box.onscroll = () => this.soon();
      }
      this.status = make("div", "sr-only");
      this.status.setAttribute("role", "status");
      this.replaceChildren(this.box, this.status);
      this.recolour();
      if (this.getAttribute("address")) this.show();
    }
    width(column) { return Math.max(132, Math.min(260, 24 + 8.5 * column.name.length)); }
    header() {
      const row = make("div", "rw-row");
      row.setAttribute("role", "row");
      row.setAttribute("aria-rowindex", "1");
      const number = make("div", "rw-cell rw-number", "Record");
      number.setAttribute("role", "columnheader");
      row.append(number);
      for (const column of this.columns_) {
        const cell = make("div", "rw-cell rw-name");
        cell.setAttribute("role", "columnheader");
        cell.style.width = `${this.width(column)}px`;
        const name = make("div", "strong clip", column.name);
        name.title = column.name;
        cell.append(make("div", "rw-role"), name, make("div", "small quiet clip", column.kind),
          make("div", "small quiet num clip", column.distinct),
          make("div", "small quiet num clip", column.missing), this.bars(column));
        row.append(cell);
      }
      return row;
    }
    bars(column) {
      const chart = make("div", "rw-bars");
      chart.setAttribute("role", "img");
      chart.setAttribute("aria-label", column.spread);
      chart.title = column.spread;
      const most = Math.max(...column.bars, 1);
      for (const bar of column.bars) {
        const drawn = make("span");
        drawn.style.height = `${Math.max(4, 100 * bar / most)}%`;
        chart.append(drawn);
      }
      return chart;
    }
    recolour() {
      const roles = JSON.parse(this.getAttribute("roles") || "{}");
      const signs = JSON.parse(this.getAttribute("signs") || "{}");
      this.columns_.forEach((column, index) => {
        const role = roles[column.name] || "";
        const cell = this.head.firstChild.children[index + 1];
        cell.dataset.role = role;
        const chip = cell.firstChild;
        chip.textContent = role ? signs[role][1] : "";
        chip.dataset.sign = role ? signs[role][0] : "";
        chip.className = role ? `rw-role role ${role}` : "rw-role";
      });
      this.roles_ = roles;
      for (const row of this.rows_?.children ?? [])
        [...row.children].slice(1).forEach((cell, index) => { cell.dataset.role = roles[this.columns_[index].name] || ""; });
    }
    visible() {
      const fits = Math.max(1, Math.floor((this.box.clientHeight - this.head.offsetHeight) / ROW));
      const most = Math.max(0, this.total - fits);
      if (this.total * ROW <= TALLEST) return Math.min(most, Math.floor(this.box.scrollTop / ROW));
      const room = this.box.scrollHeight - this.box.clientHeight;
      return Math.min(most, Math.round(this.box.scrollTop / Math.max(1, room) * most));
    }
    soon() {
      if (this.timer) return;
      this.timer = setTimeout(() => { this.timer = 0; this.show(); }, 80);
    }
    goTo(record) {
      const index = Math.max(0, Math.min(this.total - 1, record - 1));
      const room = this.box.scrollHeight - this.box.clientHeight;
      this.box.scrollTop = this.total * ROW <= TALLEST ? index * ROW : index / this.total * room;
      this.soon();
    }
    async show() {
      const seen = this.visible();
      const first = Math.max(0, Math.min(this.total - BLOCK, seen - 15));
      const rows = await this.fetched(first);
      if (!rows || this.visible() !== seen) { if (rows) this.soon(); return; }
      this.first = first;
      this.rows_.replaceChildren(...rows.map((row, index) => this.row(row, first + index)));
      this.rows_.style.top = this.total * ROW <= TALLEST
        ? `${first * ROW}px` : `${this.box.scrollTop - (seen - first) * ROW}px`;
      this.status.textContent = `Records ${seen + 1} and following of ${this.total}`;
    }
    row(values, index) {
      const row = make("div", "rw-row");
      row.setAttribute("role", "row");
      row.setAttribute("aria-rowindex", String(index + 2));
      const number = make("div", "rw-cell rw-number", (index + 1).toLocaleString(this.getAttribute("language") || navigator.language));
      number.setAttribute("role", "rowheader");
      row.append(number);
      values.forEach((value, position) => {
        const column = this.columns_[position];
        const cell = make("div", value === null ? "rw-cell rw-missing" : "rw-cell", value === null ? "missing" : value);
        cell.setAttribute("role", "cell");
        cell.dir = "auto";
        cell.style.width = `${this.width(column)}px`;
        cell.dataset.role = this.roles_[column.name] || "";
        row.append(cell);
      });
      return row;
    }
    async fetched(first) {
      if (this.blocks.has(first)) return this.blocks.get(first);
      const answer = await fetch(`${this.getAttribute("address")}?offset=${first}&count=${BLOCK}`);
      if (!answer.ok) {
        this.status.textContent = "The records cannot be shown now; load the page again.";
        return null;
      }
      const { rows } = await answer.json();
      if (this.blocks.size > 20) this.blocks.clear();
      this.blocks.set(first, rows);
      return rows;
    }
  }

  customElements.define("file-drop", FileDrop);
  customElements.define("record-window", RecordWindow);
})();
