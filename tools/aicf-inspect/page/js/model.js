// The data of the page, cross-referenced: steps, lowered steps, values and decisions of one entry point.

class Report {
  constructor(data) {
    this.data = data;
    this.values = data.values || [];
    this.device = data.device;
    this.entries = data.entry_points || [];
    this.built = new Map();
    this.profiled = new Map(((data.profile || {}).steps || []).map((s) => [s.step, s]));
  }

  // The buffer whose bytes a value has.
  root(index) {
    for (let hops = 0; hops < this.values.length; ++hops) {
      const value = this.values[index];
      if (!value || value.alias_of === undefined) return index;
      index = value.alias_of;
    }
    return index;
  }

  entry(index) {
    if (!this.built.has(index)) this.built.set(index, new Entry(this, index));
    return this.built.get(index);
  }
}

class Entry {
  constructor(report, index) {
    this.report = report;
    this.info = report.entries[index] || {name: 'main', inputs: [], outputs: [], first_step: 0, step_count: 0};
    this.steps = this.makeSteps();
    this.byId = new Map(this.steps.map((s) => [s.id, s]));
    this.lowered = this.makeLowered(index);
    linkLowered(this.lowered, this.steps, (v) => asText((report.values[v] || {}).name));
    this.linkData();
    this.decisions = this.makeDecisions();
    this.setTimes();
  }

  makeSteps() {
    const {first_step: first, step_count: count} = this.info;
    return this.report.data.steps.slice(first, first + count).map((raw, position) => ({
      ...raw, kind: 'step', id: raw.step, position, decisions: [], producers: [], consumers: [],
      sources: (raw.sources || []).map(asText),
    }));
  }

  makeLowered(index) {
    const parts = this.report.data.lowered || [];
    const part = parts.find((p) => p.entry === this.info.name) || (parts.length === 1 ? parts[0] : parts[index]);
    this.loweredError = part && part.error;
    this.loweredName = part && part.name;
    if (!part || !part.steps) return [];
    this.loweredBuffers = part.buffers;
    return part.steps.map((raw, position) => ({
      ...raw, kind: 'lowered', id: position, position, family: raw.problem.family,
      sources: raw.sources.map(asText),
      outputNames: raw.outputs.map((b) => asText((part.buffers[b] || {}).name)),
    }));
  }

  // Producers and consumers of each step, through what shares bytes.
  linkData() {
    connect(this.steps, (v) => this.report.root(v));
    connect(this.lowered, (b) => b);
  }

  makeDecisions() {
    const bySource = new Map();
    for (const step of this.steps) {
      for (const name of step.sources) {
        if (!bySource.has(name)) bySource.set(name, []);
        bySource.get(name).push(step);
      }
    }
    const own = this.report.data.decisions.filter((d) => d.entry === undefined || d.entry === this.info.name);
    return own.map((raw, index) => decisionOf(raw, index, this.byId, bySource));
  }

  setTimes() {
    const {profiled, device} = this.report;
    this.hasProfile = this.steps.some((s) => profiled.has(s.id));
    for (const step of this.steps) {
      const kernel = step.decisions.find((d) => d.kind === 'kernel' && d.ownStep);
      step.predictedUs = kernel && isNumber(kernel.raw.cost_us) ? kernel.raw.cost_us : undefined;
      step.measuredUs = kernel && isNumber(kernel.raw.measured_us) ? kernel.raw.measured_us : undefined;
      const measured = profiled.get(step.id);
      step.ran = measured && measured.kernel;
      step.us = this.hasProfile ? measured && measured.us : step.measuredUs ?? step.predictedUs;
      step.roofUs = roofUs(device, step);
    }
    this.totalUs = this.steps.reduce((sum, s) => sum + (s.us || 0), 0);
    const tuned = this.steps.some((s) => s.measuredUs !== undefined);
    this.timeFrom = this.hasProfile ? 'profiled' : tuned ? 'tuned' : 'predicted';
  }

  // Steps as far from the device's limit as they are: what could be gained.
  lostUs(step) {
    return isNumber(step.us) && isNumber(step.roofUs) ? Math.max(0, step.us - step.roofUs) : undefined;
  }
}

function connect(steps, rootOf) {
  const writer = new Map();
  for (const step of steps) {
    step.producers = step.producers || [];
    step.consumers = step.consumers || [];
    for (const input of step.inputs.concat((step.guards || []).map(([buffer]) => buffer))) {
      const from = writer.get(rootOf(input));
      if (from && from !== step && !step.producers.includes(from)) {
        step.producers.push(from);
        from.consumers.push(step);
      }
    }
    for (const output of step.outputs) writer.set(rootOf(output), step);
  }
}

// The limit that matters for a step; the same rule as aicf-run's profile.
function peakOf(device, step) {
  const product = ['gemm', 'conv'].includes(step.family) && step.problem.math !== 'fp32';
  return product && device.tensor_flops_per_us > 0 ? device.tensor_flops_per_us : device.fp32_flops_per_us;
}

function roofUs(device, step) {
  if (!device || !(device.bytes_per_us > 0)) return undefined;
  const peak = peakOf(device, step);
  return peak > 0 ? Math.max(step.bytes / device.bytes_per_us, step.flop / peak) : undefined;
}

function decisionOf(raw, index, byId, bySource) {
  const subject = asText(raw.subject);
  const nodes = [...(raw.nodes || []), ...(raw.into || [])].map(asText);
  const listed = Array.isArray(raw.alternatives) ? raw.alternatives : [];
  const alternatives = listed.filter((a) => a && typeof a === 'object');
  const decision = {
    raw, index, subject, alternatives, nodes,
    about: raw.step === undefined ? subject : subject.replace(`step ${raw.step} `, ''),
    kind: asText(raw.kind) || 'other', choice: asText(raw.choice), reason: asText(raw.reason),
    pass: asText(raw.pass), ownStep: byId.get(raw.step),
  };
  const about = decision.ownStep ? [decision.ownStep] : new Set(nodes.flatMap((n) => bySource.get(n) || []));
  decision.steps = [...about];
  for (const step of decision.steps) step.decisions.push(decision);
  decision.search = [decision.kind, subject, decision.choice, decision.reason, decision.pass, ...nodes,
    ...alternatives.flatMap((a) => [asText(a.choice), asText(a.refusal)])].join('\n').toLowerCase();
  return decision;
}
