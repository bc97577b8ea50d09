// A histogram with the edges of each level below it. Edges that can be moved are sliders: drag them,
// or use the arrow keys; Delete takes one away, a click on the line of a level adds one.
const BARS = 90, ROW = 34, LEFT = 58, RIGHT = 52;
export default {
  template: `
    <svg class="nl" :viewBox="'0 0 ' + width + ' ' + height" :height="height" role="group" :aria-label="label" ref="svg"
        @pointermove="drag" @pointerup="drop" @pointerleave="drop">
      <rect v-for="(bar, i) in bars" :key="'b' + i" class="nl-bar" :x="bar.x" :y="bar.y" :width="bar.w" :height="bar.h" />
      <g v-for="(row, r) in rows" :key="'r' + r" class="nl-level" :class="{movable: row.movable}">
        <rect class="nl-hit" :x="left" :y="top(r)" :width="width - left" height="${ROW}" @click="add($event, r)" />
        <line class="nl-axis" :x1="left" :x2="width" :y1="top(r) + ${ROW} / 2" :y2="top(r) + ${ROW} / 2" />
        <text class="nl-name" x="0" :y="top(r) + ${ROW} / 2 + 4">{{ row.name }}</text>
        <g v-for="edge in shown(row)" :key="r + ':' + edge" class="nl-edge" :class="{held: held && held.row === r && held.edge === edge}"
            :tabindex="row.movable ? 0 : undefined" :role="row.movable ? 'slider' : undefined"
            :aria-label="row.movable ? row.name + ': edge' : undefined" :aria-valuenow="row.movable ? edge : undefined"
            :aria-valuemin="row.movable ? low : undefined" :aria-valuemax="row.movable ? high : undefined"
            @keydown="key($event, r, edge)" @pointerdown.prevent="hold($event, r, edge)" @click.stop>
          <line class="nl-guide" v-if="row.movable" :x1="x(at(r, edge))" :x2="x(at(r, edge))" y1="0" :y2="top(r) + ${ROW} / 2" />
          <line :x1="x(at(r, edge))" :x2="x(at(r, edge))" :y1="top(r) + 8" :y2="top(r) + ${ROW} - 8" />
          <circle v-if="row.movable" :cx="x(at(r, edge))" :cy="top(r) + ${ROW} / 2" r="9" />
          <text v-if="row.movable" class="nl-value" :x="x(at(r, edge)) + 13" :y="top(r) + ${ROW} / 2 + 4">{{ at(r, edge) }}</text>
        </g>
      </g>
    </svg>`,
  props: { label: String, bins: Array, rows: Array, low: Number, high: Number, step: Number },
  emits: ["move", "add", "remove"],
  data() { return { held: null, width: 700, left: LEFT }; },
  mounted() {
    this.sizes = new ResizeObserver(() => { this.width = Math.max(200, this.$refs.svg.clientWidth); });
    this.sizes.observe(this.$refs.svg);
  },
  unmounted() { this.sizes.disconnect(); },
  computed: {
    height() { return BARS + this.rows.length * ROW + 4; },
    bars() {
      const most = Math.max(1, ...this.bins.map((bin) => bin[2]));
      return this.bins.map(([from, to, count]) => {
        const h = count ? Math.max(1, (count / most) * (BARS - 6)) : 0;
        return { x: this.x(from) + 1, y: BARS - h, w: Math.max(1, this.x(to) - this.x(from) - 2), h };
      });
    },
  },
  methods: {
    top(row) { return BARS + row * ROW; },
    x(value) { return LEFT + 10 + ((value - this.low) / (this.high - this.low || 1)) * (this.width - LEFT - RIGHT); },
    value(event) {
      const box = this.$refs.svg.getBoundingClientRect();
      const x = ((event.clientX - box.left) / box.width) * this.width;
      const raw = this.low + ((x - LEFT - 10) / (this.width - LEFT - RIGHT)) * (this.high - this.low);
      const held = Math.min(this.high, Math.max(this.low, raw));
      return Number((Math.round(held / this.step) * this.step).toPrecision(12));
    },
    shown(row) { return row.edges.filter((edge) => edge >= this.low && edge <= this.high).slice(0, 400); },
    at(row, edge) { return this.held && this.held.row === row && this.held.edge === edge ? this.held.value : edge; },
    hold(event, row, edge) {
      if (!this.rows[row].movable) return;
      event.currentTarget.focus();
      this.held = { row, edge, value: edge };
    },
    drag(event) { if (this.held) this.held = { ...this.held, value: this.value(event) }; },
    drop() {
      const held = this.held;
      this.held = null;
      if (held && held.value !== held.edge) this.$emit("move", { row: held.row, from: held.edge, to: held.value });
    },
    add(event, row) { if (this.rows[row].movable && this.rows[row].addable) this.$emit("add", { row, value: this.value(event) }); },
    key(event, row, edge) {
      const steps = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1, PageDown: -10, PageUp: 10 }[event.key];
      if (steps) {
        event.preventDefault();
        const to = Number((edge + steps * this.step).toPrecision(12));
        this.$emit("move", { row, from: edge, to });
      }
      if (event.key === "Delete") { event.preventDefault(); this.$emit("remove", { row, value: edge }); }
    },
    // Called by the server after a move by keyboard: the edge has another place, and keeps the focus.
    activate(row, edge) {
      this.$nextTick(() => {
        const index = this.shown(this.rows[row]).indexOf(edge);
        this.$refs.svg.querySelectorAll(".nl-level")[row]?.querySelectorAll(".nl-edge")[index]?.focus();
      });
    },
  },
};
