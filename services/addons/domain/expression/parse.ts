import { ExpressionError } from './value.ts';

/** Node of the syntax tree of an expression. */
export type Node =
  | { readonly kind: 'value'; readonly value: string | number | boolean }
  | { readonly kind: 'name'; readonly name: string }
  | { readonly kind: 'list'; readonly items: readonly Node[] }
  | { readonly kind: 'call'; readonly name: string; readonly items: readonly Node[] }
  | { readonly kind: 'not' | 'minus'; readonly inner: Node }
  | { readonly kind: 'binary'; readonly operator: string; readonly left: Node; readonly right: Node }
  | { readonly kind: 'choice'; readonly test: Node; readonly yes: Node; readonly no: Node };

/** Parsed expression with the names from its comments. */
export interface Expression {
  readonly root: Node;
  readonly names: readonly string[];
}

const deepest = 60;
const mostNodes = 2000;
const pattern =
  /\s+|\/\*[\s\S]*?\*\/|(?<number>\d+(?:\.\d+)?)|(?<word>[A-Za-z_]\w*)|(?<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")|(?<sign>==|!=|>=|<=|\|\||&&|[-+*/%^<>()[\],?:!])/y;
/** Operators by increasing precedence. Operators of one level are left-associative. */
const levels: readonly (readonly string[])[] = [
  ['or', '||'],
  ['and', '&&'],
  ['==', '!=', '<', '<=', '>', '>=', 'in'],
  ['+', '-'],
  ['*', '/', '%'],
];

interface Token {
  readonly kind: 'number' | 'word' | 'text' | 'sign' | 'end';
  readonly text: string;
}

/**
 * Parses an expression of the stream expression language.
 *
 * @throws ExpressionError
 */
export function parseExpression(source: string): Expression {
  const { tokens, names } = tokensOf(source);
  return { root: new Reader(tokens).whole(), names };
}

function tokensOf(source: string): { readonly tokens: readonly Token[]; readonly names: readonly string[] } {
  const tokens: Token[] = [];
  const names: string[] = [];
  for (let at = 0; at < source.length;) {
    pattern.lastIndex = at;
    const found = pattern.exec(source);
    if (found === null) throw new ExpressionError(`"${source.slice(at, at + 12)}" cannot be read.`);
    at = pattern.lastIndex;
    const [whole] = found;
    if (whole.startsWith('/*')) {
      const name = whole.slice(2, -2).trim();
      if (name !== '' && !name.startsWith('#')) names.push(name);
    }
    for (const kind of ['number', 'word', 'text', 'sign'] as const) {
      const text = found.groups?.[kind];
      if (text !== undefined) tokens.push({ kind, text });
    }
    if (tokens.length > mostNodes) throw new ExpressionError('The expression is too long.');
  }
  return { tokens, names };
}

class Reader {
  readonly #tokens: readonly Token[];
  #at = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  whole(): Node {
    const root = this.#choice();
    const { kind, text } = this.#next();
    if (kind !== 'end') throw new ExpressionError(`"${text}" is not expected there.`);
    return root;
  }

  #choice(): Node {
    this.#depth += 1;
    if (this.#depth > deepest) throw new ExpressionError('The expression is nested too deep.');
    const test = this.#level(0);
    let node = test;
    if (this.#takes('?')) {
      const yes = this.#choice();
      this.#expect(':');
      node = { kind: 'choice', test, yes, no: this.#choice() };
    }
    this.#depth -= 1;
    return node;
  }

  #level(number: number): Node {
    const operators = levels[number];
    if (operators === undefined) return this.#prefix();
    let left = this.#level(number + 1);
    for (;;) {
      const { kind, text } = this.#peek();
      if ((kind !== 'sign' && kind !== 'word') || !operators.includes(text)) return left;
      this.#at += 1;
      left = { kind: 'binary', operator: text, left, right: this.#level(number + 1) };
    }
  }

  #prefix(): Node {
    this.#depth += 1;
    if (this.#depth > deepest) throw new ExpressionError('The expression is nested too deep.');
    let node: Node;
    if (this.#takes('not') || this.#takes('!')) node = { kind: 'not', inner: this.#prefix() };
    else if (this.#takes('-')) node = { kind: 'minus', inner: this.#prefix() };
    else {
      node = this.#single();
      if (this.#takes('^')) node = { kind: 'binary', operator: '^', left: node, right: this.#prefix() };
    }
    this.#depth -= 1;
    return node;
  }

  #single(): Node {
    const { kind, text } = this.#next();
    if (kind === 'number') return { kind: 'value', value: Number(text) };
    if (kind === 'text') return { kind: 'value', value: text.slice(1, -1).replaceAll(/\\(.)/gs, '$1') };
    if (kind === 'word') {
      if (text === 'true' || text === 'false') return { kind: 'value', value: text === 'true' };
      return this.#takes('(') ? { kind: 'call', name: text, items: this.#items(')') } : { kind: 'name', name: text };
    }
    if (kind === 'sign' && text === '[') return { kind: 'list', items: this.#items(']') };
    if (kind === 'sign' && text === '(') {
      const inner = this.#choice();
      this.#expect(')');
      return inner;
    }
    throw new ExpressionError(kind === 'end' ? 'The expression ends too early.' : `"${text}" is not expected there.`);
  }

  #items(end: string): readonly Node[] {
    const items: Node[] = [];
    if (this.#takes(end)) return items;
    do items.push(this.#choice());
    while (this.#takes(','));
    this.#expect(end);
    return items;
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: '' };
  }

  #next(): Token {
    const token = this.#peek();
    this.#at += 1;
    return token;
  }

  #takes(text: string): boolean {
    const token = this.#peek();
    if (token.text !== text || (token.kind !== 'sign' && token.kind !== 'word')) return false;
    this.#at += 1;
    return true;
  }

  #expect(text: string): void {
    if (!this.#takes(text)) throw new ExpressionError(`"${text}" is missing.`);
  }
}
