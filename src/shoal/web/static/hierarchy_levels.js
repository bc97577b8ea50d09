// The levels of a hierarchy: a row of labels with their records for each. One component, since a
// page of single elements for hundreds of labels would be slow.
export default {
  template: `
    <ol class="levels" aria-label="Levels">
      <li v-for="level in levels" :key="level.name" class="level-row">
        <div><div class="strong">{{ level.name }}</div><div class="quiet small">{{ level.size }}</div></div>
        <div class="level-labels">
          <span v-for="(each, index) in level.labels" :key="index" class="level-label">
            <bdi>{{ each[0] }}</bdi><span class="n">{{ each[1] }}</span></span>
          <span v-if="level.more" class="quiet small">{{ level.more }}</span>
        </div>
      </li>
    </ol>`,
  props: { levels: Array },
};
