// Which step of the plan each lowered step went into: the graph before fusion to the graph after.

// Fills lowered[i].into (a step or null) and step.lowered (ascending).
function linkLowered(lowered, steps, valueName) {
  const bySource = new Map();
  for (const step of steps) {
    step.lowered = [];
    step.outputNames = new Set(step.outputs.map(valueName));
    for (const name of step.sources) {
      if (!bySource.has(name)) bySource.set(name, []);
      bySource.get(name).push(step);
    }
  }
  for (const low of lowered) {
    low.into = bestStep(low, bySource);
    if (low.into) low.into.lowered.push(low);
  }
}

// Most common source nodes first; then the step that stores the same value; then the same family.
function bestStep(low, bySource) {
  const votes = new Map();
  for (const name of low.sources) {
    for (const step of bySource.get(name) || []) votes.set(step, (votes.get(step) || 0) + 1);
  }
  let best = null;
  let bestScore = -1;
  for (const [step, count] of votes) {
    const same = low.outputNames.some((n) => step.outputNames.has(n));
    const score = count * 4 + (same ? 2 : 0) + (step.family === low.family ? 1 : 0);
    if (score > bestScore) {
      best = step;
      bestScore = score;
    }
  }
  return best;
}
