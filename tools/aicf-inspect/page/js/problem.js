// A step's problem in words.

function attrsOf(problem) {
  return new Map((problem.attrs || []).map(([name, value]) => [name, value]));
}

function listOf(text) {
  return (text || '').replace(/[[\]]/g, '').split(',').map((t) => t.trim()).filter(Boolean);
}

// "3", or "3x1" where the axes differ.
function perAxis(items) {
  return new Set(items).size === 1 ? items[0] : items.join('\u00d7');
}

// A short name for a row of a list.
function opName(problem) {
  const attrs = attrsOf(problem);
  switch (problem.family) {
    case 'elementwise': {
      const names = problem.epi ? operatorsOf(problem.epi) : [];
      if (names.length === 0) return 'copy';
      return names.length > 3 ? `${names.slice(0, 3).join(' ')} \u2026` : names.join(' ');
    }
    case 'conv': {
      const kernel = problem.in[1] ? problem.in[1][1].slice(2) : [];
      return `${attrs.has('transposed') ? 'transposed ' : ''}conv ${kernel.join('\u00d7')}`;
    }
    case 'reduce':
    case 'scan':
    case 'pool':
    case 'roi':
      return `${attrs.get('kind') || ''} ${problem.family === 'reduce' ? '' : problem.family}`.trim();
    case 'normalize':
      return attrs.get('kind') || 'normalize';
    case 'recurrent':
      return attrs.get('cell') || 'recurrent';
    case 'gemm':
      return 'matmul';
    default:
      return problem.family;
  }
}

function convWords(problem) {
  const attrs = attrsOf(problem);
  const words = [opName(problem)];
  const stride = perAxis(listOf(attrs.get('strides')));
  const dilation = perAxis(listOf(attrs.get('dilations')));
  const begin = listOf(attrs.get('pads_begin'));
  const end = listOf(attrs.get('pads_end'));
  if (stride && stride !== '1') words.push(`stride ${stride}`);
  if (dilation && dilation !== '1') words.push(`dilation ${dilation}`);
  if (begin.concat(end).some((p) => p !== '0')) {
    words.push(String(begin) === String(end) ? `padding ${perAxis(begin)}`
                                            : `padding ${begin.join('\u00d7')} before, ${end.join('\u00d7')} after`);
  }
  const groups = Number(attrs.get('group') || 1);
  if (groups > 1) words.push(groups === problem.in[0][1][1] ? 'depthwise' : `${groups} groups`);
  return words.join(', ');
}

function gemmWords(problem) {
  const [a, b] = problem.in.map((v) => v[1]);
  if (!a || !b || a.length < 2) return 'product';
  const batch = problem.out[0][1].slice(0, -2).reduce((x, y) => x * y, 1);
  const m = a[a.length - 2], k = a[a.length - 1], n = b[b.length - 1];
  return `product M=${m} N=${n} K=${k}${batch > 1 ? `, ${batch} of them` : ''}`;
}

// One sentence: what is computed, from which shapes to which.
function problemSentence(problem) {
  const shapes = (views) => views.map((v) => shapeText(v[1])).join(' , ');
  const attrs = attrsOf(problem);
  let what = opName(problem);
  if (problem.family === 'conv') what = convWords(problem);
  else if (problem.family === 'gemm') what = gemmWords(problem);
  else if (attrs.has('axes')) what += ` over axes ${attrs.get('axes')}`;
  else if (attrs.has('axis')) what += ` along axis ${attrs.get('axis')}`;
  const core = problem.in.slice(0, problem.core < 0 ? undefined : problem.core);
  return `${what}: ${shapes(core)} \u2192 ${shapes(problem.out)}`;
}

// "dense", "channels last", "broadcast along ...", or the strides themselves.
function layoutWords(view) {
  const [, shape, strides, offset] = view;
  const dense = (order) => {
    let expected = 1;
    return order.every((axis) => {
      const fits = shape[axis] === 1 || strides[axis] === expected;
      expected *= shape[axis];
      return fits;
    });
  };
  const axes = shape.map((_, i) => i).reverse();
  const at = offset ? ` +${offset}` : '';
  if (dense(axes)) return `dense${at}`;
  if (shape.length >= 3 && dense([1, ...axes.filter((a) => a !== 1)])) return `channels last${at}`;
  if (strides.every((s, i) => s === 0 || shape[i] === 1)) return `one value repeated${at}`;
  return `[${strides.join(', ')}]${at}`;
}

// What expressions call their inputs: "acc" is the family's own result.
function inputNamer(problem, epilogue) {
  if (!epilogue || problem.family === 'elementwise') return (k) => `in${k}`;
  return (k) => (k === 0 ? 'acc' : `in${problem.core + k - 1}`);
}
