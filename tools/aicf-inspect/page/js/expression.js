// An expression DAG as the formulas that an engineer would write.

const INFIX = {add: [1, '+'], sub: [1, '\u2212'], mul: [2, '\u00b7'], div: [2, '/']};
const COMPARE = {eq: '=', lt: '<', le: '\u2264', and: 'and', or: 'or', xor: 'xor'};

function constantText(value) {
  if (typeof value !== 'number') return asText(value);
  if (Number.isInteger(value)) return String(value);
  return String(Number(value.toPrecision(6)));
}

class ExpressionText {
  constructor(expression, inputName) {
    this.nodes = Array.isArray(expression.nodes) ? expression.nodes : [];
    this.inputName = inputName;
    this.uses = this.nodes.map(() => 0);
    this.named = new Map();
    this.lines = [];
    for (const node of this.nodes) for (const arg of this.args(node)) ++this.uses[arg];
  }

  args(node) {
    if (['in', 'const', 'index'].includes(node[0])) return [];
    return (node[0] === 'cast' ? [node[1]] : node.slice(1)).filter((a) => this.nodes[a]);
  }

  // Text of a node, in parentheses where it binds weaker than `strength`.
  text(index, strength) {
    if (this.named.has(index)) return this.named.get(index);
    const node = this.nodes[index];
    if (!node) return '?';
    const [body, own] = this.body(node);
    if (this.uses[index] > 1 && this.args(node).length > 0) {
      const name = `t${this.named.size + 1}`;
      this.named.set(index, name);
      this.lines.push(`${name} = ${body}`);
      return name;
    }
    return own < strength ? `(${body})` : body;
  }

  // [text, how strongly it binds]
  body(node) {
    const [op] = node;
    if (op === 'in') return [this.inputName(node[1]), 9];
    if (op === 'const') return [constantText(node[1]), node[1] < 0 ? 1 : 9];
    if (op === 'index') return [`i${node[1]}`, 9];
    if (op === 'cast') return [`${asText(node[2])}(${this.text(node[1], 0)})`, 9];
    if (op === 'neg') return [`\u2212${this.text(node[1], 3)}`, 1];
    if (INFIX[op]) {
      const [own, sign] = INFIX[op];
      const right = op === 'sub' || op === 'div' ? own + 1 : own;
      return [`${this.text(node[1], own)} ${sign} ${this.text(node[2], right)}`, own];
    }
    if (op === 'fma') {
      return [`fma(${[1, 2, 3].map((k) => this.text(node[k], 0)).join(', ')})`, 9];
    }
    if (COMPARE[op]) return [`${this.text(node[1], 1)} ${COMPARE[op]} ${this.text(node[2], 1)}`, 0];
    if (op === 'select') {
      return [`${this.text(node[1], 1)} ? ${this.text(node[2], 1)} : ${this.text(node[3], 1)}`, 0];
    }
    return this.call(node);
  }

  call(node) {
    const clamp = this.clamp(node);
    if (clamp) return [clamp, 9];
    return [`${node[0]}(${this.args(node).map((a) => this.text(a, 0)).join(', ')})`, 9];
  }

  // min(max(x, low), high) with constant bounds.
  clamp(node) {
    if (node[0] !== 'min') return '';
    const inner = this.nodes[node[1]];
    const high = this.nodes[node[2]];
    if (!inner || !high || inner[0] !== 'max' || high[0] !== 'const' || this.uses[node[1]] > 1) return '';
    const low = this.nodes[inner[2]];
    if (!low || low[0] !== 'const') return '';
    return `clamp(${this.text(inner[1], 0)}, ${constantText(low[1])}, ${constantText(high[1])})`;
  }
}

// Lines of formulas: named parts first, then one per output.
function expressionLines(expression, inputName, outputName) {
  const writer = new ExpressionText(expression, inputName);
  const results = (expression.results || []).map((r, k) => `${outputName(k)} = ${writer.text(r, 0)}`);
  return writer.lines.concat(results);
}

// The distinct operators, most telling first: what an elementwise step is called.
function operatorsOf(expression) {
  const plain = new Set(['in', 'const', 'index', 'cast']);
  const names = new Set((expression.nodes || []).map((n) => asText(n[0])).filter((n) => !plain.has(n)));
  return [...names];
}
