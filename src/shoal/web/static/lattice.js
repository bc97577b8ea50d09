// The lattice as rows of circles: the most general node at the top, keyboard and mouse.
// `nodes` are {levels, name, k, lost, says, safe, best, chosen}: texts come ready to be shown.
const RADIUS = 29;
const ROW = 104;
const LETTER = 7.2;

export default {
  template: `
    <div class="lattice-scroll" tabindex="-1">
      <div class="lattice-heights" :style="{ height: height + 'px' }" aria-hidden="true">
        <span v-for="row in rows" :key="row.height" :style="{ top: row.y + 'px' }"><b>{{ heightWord }} </b>{{ row.height }}</span>
      </div>
      <svg :width="width" :height="height" :viewBox="'0 0 ' + width + ' ' + height"
           role="group" :aria-label="label" class="lattice">
        <line v-for="(edge, i) in edges" :key="'e' + i" v-bind="edge" class="lattice-edge" aria-hidden="true" />
        <g v-for="node in placed" :key="node.index" :ref="'node' + node.index" role="button"
           :tabindex="node.index === active ? 0 : -1" :aria-pressed="node.index === selected"
           :aria-label="node.says" :class="classes(node)"
           :transform="'translate(' + node.x + ' ' + node.y + ')'"
           @mouseenter="near = node.index" @mouseleave="near = null"
           @focus="focused(node.index)" @blur="near = null"
           @click="choose(node.index)" @keydown="key($event, node.index)">
          <circle :r="radius + 6" class="lattice-ring" />
          <circle :r="radius" class="lattice-circle" />
          <text y="-2" class="lattice-k">{{ node.k }}</text>
          <text y="13" class="lattice-lost">{{ node.lost }}</text>
          <text :y="radius + 17" class="lattice-name">{{ node.name }}</text>
        </g>
      </svg>
    </div>`,
  props: { nodes: Array, selected: Number, label: String, heightWord: String },
  emits: ["choose"],
  data() {
    return { near: null, active: 0 };
  },
  mounted() {
    this.active = this.first();
    this.$nextTick(() => this.center(this.active));
  },
  watch: {
    selected(now) {
      if (now >= 0) this.active = now;
    },
  },
  computed: {
    radius: () => RADIUS,
    byHeight() {
      const found = new Map();
      this.nodes.forEach((node, index) => {
        const height = node.levels.reduce((a, b) => a + b, 0);
        if (!found.has(height)) found.set(height, []);
        found.get(height).push(index);
      });
      return [...found.entries()].sort((a, b) => b[0] - a[0]);
    },
    cell() {
      const longest = Math.max(...this.nodes.map((node) => node.name.length), 1);
      return Math.max(2 * RADIUS + 22, longest * LETTER + 12);
    },
    width() {
      return this.cell * Math.max(...this.byHeight.map(([, row]) => row.length), 1);
    },
    height() {
      return this.byHeight.length * ROW + 8;
    },
    rows() {
      return this.byHeight.map(([height], i) => ({ height, y: i * ROW + RADIUS + 14 }));
    },
    placed() {
      return this.byHeight.flatMap(([, row], i) =>
        row.map((index, j) => ({
          ...this.nodes[index],
          index,
          row: i,
          x: this.width / 2 + this.cell * (j - (row.length - 1) / 2),
          y: i * ROW + RADIUS + 14,
        })),
      );
    },
    edges() {
      const center = this.near ?? this.selected;
      const from = this.placed.find((node) => node.index === center);
      if (!from) return [];
      return this.placed
        .filter((node) => distance(node.levels, from.levels) === 1)
        .map((node) => ({ x1: from.x, y1: from.y, x2: node.x, y2: node.y }));
    },
  },
  methods: {
    classes(node) {
      return {
        "lattice-node": true,
        "is-safe": node.safe,
        "is-best": node.best,
        "is-chosen": node.chosen,
        "is-selected": node.index === this.selected,
      };
    },
    first() {
      const wanted = [this.selected, this.nodes.findIndex((n) => n.chosen), this.nodes.findIndex((n) => n.best)];
      return wanted.find((index) => index >= 0) ?? 0;
    },
    focused(index) {
      this.active = index;
      this.near = index;
    },
    center(index) {
      const node = this.placed.find((each) => each.index === index);
      if (!node) return;
      this.$el.scrollLeft = node.x - this.$el.clientWidth / 2;
      this.$el.scrollTop = node.y - this.$el.clientHeight / 2;
    },
    choose(index) {
      this.active = index;
      this.$emit("choose", index);
    },
    key(event, index) {
      if (event.key === "Enter" || event.key === " ") {
        event.preventDefault();
        this.choose(index);
        return;
      }
      const target = this.neighbour(event.key, index);
      if (target === undefined) return;
      event.preventDefault();
      this.active = target;
      const found = this.$refs["node" + target];
      (Array.isArray(found) ? found[0] : found).focus();
    },
    neighbour(key, index) {
      const here = this.placed.find((node) => node.index === index);
      const sideways = { ArrowLeft: -1, ArrowRight: 1 }[key];
      if (sideways) {
        const row = this.byHeight[here.row][1];
        return row[row.indexOf(index) + sideways];
      }
      const updown = { ArrowUp: -1, ArrowDown: 1 }[key];
      if (!updown) return undefined;
      const next = this.placed.filter((node) => node.row === here.row + updown);
      next.sort((a, b) => Math.abs(a.x - here.x) - Math.abs(b.x - here.x));
      return next[0]?.index;
    },
  },
};

function distance(a, b) {
  return a.reduce((sum, level, i) => sum + Math.abs(level - b[i]), 0);
}
