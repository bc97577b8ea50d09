// The rows of a tree of values: selected, dragged, renamed in place, and walked with the keyboard.
// The server keeps the tree. It sends the rows that are shown; every edit is an event with row ids.
export default {
  template: `
    <div class="ht" role="tree" aria-multiselectable="true" :aria-label="label" @keydown="key" ref="tree">
      <div v-for="(row, index) in rows" :key="row.id" class="ht-row" role="treeitem"
          :class="{selected: selected.has(row.id), over: over === row.id, group: row.group, uncounted: row.empty}"
          :aria-level="row.depth + 1" :aria-posinset="row.number" :aria-setsize="row.siblings"
          :aria-expanded="row.group ? String(row.open) : undefined" :aria-selected="String(selected.has(row.id))"
          :tabindex="row.id === active ? 0 : -1" :data-id="row.id" :style="{'--depth': row.depth}"
          :draggable="row.depth > 0 && renaming !== row.id"
          @click="click($event, row, index)" @dblclick="rename(row)" @focus="active = row.id"
          @dragstart="drag($event, row)" @dragend="dragged = []; over = null"
          @dragover="hover($event, row)" @dragleave="over = null" @drop.prevent="drop(row)">
        <span class="ht-tick" aria-hidden="true" @click.stop="toggleSelected(row)">
          <span v-if="row.depth > 0"></span></span>
        <span class="ht-open" aria-hidden="true" @click.stop="toggle(row)">{{ row.group ? (row.open ? "▾" : "▸") : "" }}</span>
        <input v-if="renaming === row.id" class="ht-name" v-model="text" aria-label="New name" maxlength="1000"
          @keydown.stop="renameKey($event, row)" @blur="renamed(row)" @click.stop @dblclick.stop ref="name" />
        <bdi v-else class="ht-label">{{ row.label }}</bdi>
        <span class="ht-values" v-if="row.group">{{ row.values }}</span>
        <span class="ht-count">{{ row.count }}</span>
      </div>
    </div>`,
  props: { rows: Array, label: String, focus: Number },
  emits: ["toggle", "choose", "rename", "move", "act", "page"],
  data() {
    return { selected: new Set(), active: null, anchor: null, renaming: null, text: "", dragged: [], over: null };
  },
  watch: {
    rows: {
      immediate: true,
      handler(rows) {
        const ids = new Set(rows.map((row) => row.id));
        const kept = [...this.selected].filter((id) => ids.has(id));
        if (kept.length !== this.selected.size) this.choose(kept);
        if (!ids.has(this.active)) this.active = ids.has(this.focus) ? this.focus : rows[0]?.id ?? null;
        const tree = this.$refs.tree;
        if (!tree?.contains(document.activeElement)) return;
        this.$nextTick(() => { if (!tree.contains(document.activeElement)) this.row(this.active)?.focus(); });
      },
    },
  },
  methods: {
    // Called by the server after an edit: the row that the edit was about.
    activate(id, select) {
      this.active = id;
      this.choose(select ? [id] : []);
      this.$nextTick(() => this.row(id)?.focus());
    },
    startRename() {
      const row = this.rows.find((each) => each.id === this.active);
      if (row) this.rename(row);
    },
    clear() { this.choose([]); },
    row(id) { return this.$refs.tree.querySelector(`[data-id="${id}"]`); },
    choose(ids) {
      this.selected = new Set(ids);
      this.$emit("choose", { ids: [...this.selected] });
    },
    toggle(row) { if (row.group) this.$emit("toggle", { id: row.id }); },
    toggleSelected(row) {
      if (row.depth === 0) return;
      const ids = new Set(this.selected);
      ids.has(row.id) ? ids.delete(row.id) : ids.add(row.id);
      this.anchor = row.id;
      this.choose(ids);
    },
    selectTo(row) {
      const order = this.rows.map((each) => each.id);
      const [from, to] = [order.indexOf(this.anchor ?? row.id), order.indexOf(row.id)].sort((a, b) => a - b);
      this.choose(this.rows.slice(Math.max(from, 0), to + 1).filter((each) => each.depth > 0).map((each) => each.id));
    },
    click(event, row) {
      if (this.renaming !== null) return;
      this.active = row.id;
      this.row(row.id)?.focus();
      if (event.shiftKey) return this.selectTo(row);
      if (event.ctrlKey || event.metaKey) return this.toggleSelected(row);
      this.anchor = row.id;
      this.choose(row.depth > 0 ? [row.id] : []);
    },
    goTo(index, extend) {
      const row = this.rows[index];
      if (!row) return this.$emit("page", { by: index < 0 ? -1 : 1 });
      if (extend && this.anchor === null) this.anchor = this.active;
      this.active = row.id;
      this.row(row.id).focus();
      if (extend) this.selectTo(row);
      else this.anchor = row.id;
    },
    key(event) {
      const index = this.rows.findIndex((row) => row.id === this.active);
      const row = this.rows[index];
      if (!row || this.renaming !== null) return;
      const command = this.command(event, row, index);
      if (command === undefined) return;
      event.preventDefault();
      command();
    },
    command(event, row, index) {
      const act = (name) => () => this.$emit("act", { name, id: row.id });
      if (event.ctrlKey || event.metaKey) {
        const undo = { z: event.shiftKey ? "redo" : "undo", y: "redo" }[event.key.toLowerCase()];
        return undo && act(undo);
      }
      if (event.altKey) {
        const order = { ArrowUp: "up", ArrowDown: "down", ArrowLeft: "out", ArrowRight: "in" }[event.key];
        return order && act(order);
      }
      return {
        ArrowUp: () => this.goTo(index - 1, event.shiftKey),
        ArrowDown: () => this.goTo(index + 1, event.shiftKey),
        Home: () => this.goTo(0),
        End: () => this.goTo(this.rows.length - 1),
        ArrowRight: () => (row.group && !row.open ? this.toggle(row) : this.goTo(index + 1)),
        ArrowLeft: () => (row.group && row.open ? this.toggle(row) : this.goToParent(index)),
        Enter: () => this.toggle(row),
        " ": () => this.toggleSelected(row),
        F2: () => this.rename(row),
        Delete: act("ungroup"), g: act("gather"), m: act("merge"), s: act("split"), v: act("ask"),
        Escape: () => this.choose([]),
      }[event.key];
    },
    goToParent(index) {
      for (let above = index - 1; above >= 0; above--) {
        if (this.rows[above].depth < this.rows[index].depth) return this.goTo(above);
      }
    },
    rename(row) {
      if (!row.group) return this.$emit("act", { name: "rename-value", id: row.id });
      this.renaming = row.id;
      this.text = row.name ?? row.label;
      this.$nextTick(() => { const field = this.$refs.name?.[0]; field?.focus(); field?.select(); });
    },
    renameKey(event, row) {
      if (event.key === "Enter") this.renamed(row);
      if (event.key === "Escape") { this.renaming = null; this.$nextTick(() => this.row(row.id)?.focus()); }
    },
    renamed(row) {
      if (this.renaming !== row.id) return;
      this.renaming = null;
      if (this.text !== (row.name ?? row.label)) this.$emit("rename", { id: row.id, label: this.text });
      else this.$nextTick(() => this.row(row.id)?.focus());
    },
    drag(event, row) {
      this.dragged = this.selected.has(row.id) ? [...this.selected] : [row.id];
      event.dataTransfer.effectAllowed = "move";
      event.dataTransfer.setData("text/plain", "");
    },
    hover(event, row) {
      if (!this.dragged.length || this.dragged.includes(row.id)) return;
      event.preventDefault();
      this.over = row.id;
    },
    drop(row) {
      if (this.dragged.length && !this.dragged.includes(row.id)) this.$emit("move", { ids: this.dragged, target: row.id });
      this.dragged = [];
      this.over = null;
    },
  },
};
