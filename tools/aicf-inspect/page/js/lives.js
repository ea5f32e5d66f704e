// Who holds which bytes of the arena, and for how long.

// One per buffer that has bytes of its own in the arena, and one per workspace:
// {value or step, first, last (positions of steps), offset, bytes, writers, readers, aliases}.
function livesOf(entry) {
  const {report, steps, info} = entry;
  const lives = new Map();
  const lifeOf = (index) => {
    const root = report.root(index);
    const value = report.values[root];
    if (!value || value.storage !== 'arena') return null;
    if (!lives.has(root)) lives.set(root, newLife(root, value));
    const life = lives.get(root);
    if (root !== index && !life.aliases.includes(index)) life.aliases.push(index);
    return life;
  };
  // The caller's inputs outlive the replay, so that the next one need not bring them again.
  for (const tensor of info.inputs) for (const end of [0, steps.length - 1]) touch(lifeOf(tensor.value), end);
  for (const step of steps) {
    for (const index of step.inputs) use(lifeOf(index), step, 'readers');
    for (const [index] of step.guards || []) use(lifeOf(index), step, 'readers');
    for (const index of step.outputs) use(lifeOf(index), step, 'writers');
  }
  for (const tensor of info.outputs) touch(lifeOf(tensor.value), steps.length - 1);
  const list = [...lives.values()];
  for (const life of list) stretch(life, entry);
  return list.concat(steps.filter((s) => s.workspace_bytes > 0).map((step) => ({
    kind: 'buffer', id: `workspace ${step.id}`, workspace: step, name: `workspace of step ${step.id}`,
    role: 'workspace', first: step.position, last: step.position, offset: step.workspace_offset,
    bytes: step.workspace_bytes, writers: [step], readers: [step], aliases: [],
  })));
}

function newLife(index, value) {
  return {
    kind: 'buffer', id: index, value, name: asText(value.name), role: value.role, first: Infinity, last: -1,
    offset: value.offset, bytes: value.bytes, writers: [], readers: [], aliases: [],
  };
}

function touch(life, position) {
  if (!life) return;
  life.first = Math.min(life.first, position);
  life.last = Math.max(life.last, position);
}

function use(life, step, list) {
  if (!life) return;
  touch(life, step.position);
  if (!life[list].includes(step)) life[list].push(step);
}

// A state lives always; what enters a loop is needed in every trip, and what leaves it from its start.
function stretch(life, entry) {
  const end = entry.steps.length - 1;
  if (life.value.role === 'state') [life.first, life.last] = [0, end];
  const loops = (entry.info.loops || []).map((l) => {
    const begin = l.first_step - entry.info.first_step;
    return [begin, begin + l.step_count - 1];
  });
  for (const [begin, stop] of loops.slice().reverse()) {
    const first = life.first >= begin && life.first <= stop;
    const last = life.last >= begin && life.last <= stop;
    if (last && !first) life.last = stop;
    if (first && !last) life.first = begin;
  }
}

// Bytes live at each step.
function liveBytes(lives, count) {
  const change = new Float64Array(count + 1);
  for (const life of lives) {
    if (life.last < 0) continue;
    change[life.first] += life.bytes;
    change[life.last + 1] -= life.bytes;
  }
  let sum = 0;
  return Array.from(change.subarray(0, count), (c) => (sum += c));
}

// "3–7", by the steps' numbers.
function lifeText(life, entry) {
  const number = (position) => (entry.steps[position] ? entry.steps[position].id : position);
  return `${number(life.first)}\u2013${number(life.last)}`;
}
