// Step families in six groups: one colour each, on every view.

const FAMILY_GROUPS = [
  {id: 'product', title: 'products', families: ['gemm', 'conv']},
  {id: 'pointwise', title: 'elementwise', families: ['elementwise']},
  {id: 'reduction', title: 'reductions', families: ['reduce', 'normalize', 'scan']},
  {id: 'movement', title: 'data movement', families: ['copy', 'gather', 'scatter', 'resize', 'sample']},
  {id: 'window', title: 'windows, selection', families: ['pool', 'roi', 'topk', 'nms']},
  {id: 'recurrent', title: 'recurrent', families: ['recurrent']},
];

function groupOf(family) {
  const found = FAMILY_GROUPS.find((g) => g.families.includes(family));
  return found ? found.id : 'movement';
}

function swatch(family) {
  return el('i', {class: `swatch g-${groupOf(family)}`, title: family});
}

// The groups that a list of steps uses, in the order above.
function groupsUsed(steps) {
  const used = new Set(steps.map((s) => groupOf(s.family)));
  return FAMILY_GROUPS.filter((g) => used.has(g.id));
}

function legend(steps) {
  return el('div', {class: 'legend'}, groupsUsed(steps).map((g) =>
    el('span', null, el('i', {class: `swatch g-${g.id}`}), g.title)));
}
