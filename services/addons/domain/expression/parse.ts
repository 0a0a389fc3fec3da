import * as m from '#messages/addons-problems';
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

const maxDepth = 60;
const maxTokens = 2000;
const tokenPattern = new RegExp(
  [
    String.raw`\s+`,
    String.raw`/\*[\s\S]*?\*/`,
    String.raw`(?<number>\d+(?:\.\d+)?)`,
    String.raw`(?<word>[A-Za-z_]\w*)`,
    String.raw`(?<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")`,
    String.raw`(?<sign>==|!=|>=|<=|\|\||&&|[-+*/%^<>()[\],?:!])`,
  ].join('|'),
  'y',
);
/** Operators by increasing precedence. Operators of one level are left-associative. */
const operatorLevels: readonly (readonly string[])[] = [
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
  const { tokens, names } = tokenize(source);
  return { root: new ExpressionParser(tokens).parse(), names };
}

function tokenize(source: string): { readonly tokens: readonly Token[]; readonly names: readonly string[] } {
  const tokens: Token[] = [];
  const names: string[] = [];
  for (let index = 0; index < source.length;) {
    tokenPattern.lastIndex = index;
    const match = tokenPattern.exec(source);
    if (match === null) throw new ExpressionError(() => m.textInvalid({ text: source.slice(index, index + 12) }));
    index = tokenPattern.lastIndex;
    const [token] = match;
    if (token.startsWith('/*')) {
      const name = token.slice(2, -2).trim();
      if (name !== '' && !name.startsWith('#')) names.push(name);
    }
    for (const kind of ['number', 'word', 'text', 'sign'] as const) {
      const text = match.groups?.[kind];
      if (text !== undefined) tokens.push({ kind, text });
    }
    if (tokens.length > maxTokens) throw new ExpressionError(m.expressionTooLong);
  }
  return { tokens, names };
}

class ExpressionParser {
  readonly #tokens: readonly Token[];
  #index = 0;
  #depth = 0;

  constructor(tokens: readonly Token[]) {
    this.#tokens = tokens;
  }

  parse(): Node {
    const root = this.#parseChoice();
    const { kind, text } = this.#next();
    if (kind !== 'end') throw new ExpressionError(() => m.textUnexpected({ text }));
    return root;
  }

  #parseChoice(): Node {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new ExpressionError(m.expressionNested);
    const test = this.#parseLevel(0);
    let node = test;
    if (this.#accept('?')) {
      const yes = this.#parseChoice();
      this.#expect(':');
      node = { kind: 'choice', test, yes, no: this.#parseChoice() };
    }
    this.#depth -= 1;
    return node;
  }

  #parseLevel(level: number): Node {
    const operators = operatorLevels[level];
    if (operators === undefined) return this.#parsePrefix();
    let leftNode = this.#parseLevel(level + 1);
    for (;;) {
      const { kind, text } = this.#peek();
      if ((kind !== 'sign' && kind !== 'word') || !operators.includes(text)) return leftNode;
      this.#index += 1;
      leftNode = { kind: 'binary', operator: text, left: leftNode, right: this.#parseLevel(level + 1) };
    }
  }

  #parsePrefix(): Node {
    this.#depth += 1;
    if (this.#depth > maxDepth) throw new ExpressionError(m.expressionNested);
    let node: Node;
    if (this.#accept('not') || this.#accept('!')) node = { kind: 'not', inner: this.#parsePrefix() };
    else if (this.#accept('-')) node = { kind: 'minus', inner: this.#parsePrefix() };
    else {
      node = this.#parseOperand();
      if (this.#accept('^')) node = { kind: 'binary', operator: '^', left: node, right: this.#parsePrefix() };
    }
    this.#depth -= 1;
    return node;
  }

  #parseOperand(): Node {
    const { kind, text } = this.#next();
    if (kind === 'number') return { kind: 'value', value: Number(text) };
    if (kind === 'text') return { kind: 'value', value: text.slice(1, -1).replaceAll(/\\(.)/gs, '$1') };
    if (kind === 'word') {
      if (text === 'true' || text === 'false') return { kind: 'value', value: text === 'true' };
      return this.#accept('(')
        ? { kind: 'call', name: text, items: this.#parseItems(')') }
        : { kind: 'name', name: text };
    }
    if (kind === 'sign' && text === '[') return { kind: 'list', items: this.#parseItems(']') };
    if (kind === 'sign' && text === '(') {
      const inner = this.#parseChoice();
      this.#expect(')');
      return inner;
    }
    throw new ExpressionError(kind === 'end' ? m.expressionIncomplete : () => m.textUnexpected({ text }));
  }

  #parseItems(end: string): readonly Node[] {
    const items: Node[] = [];
    if (this.#accept(end)) return items;
    do items.push(this.#parseChoice());
    while (this.#accept(','));
    this.#expect(end);
    return items;
  }

  #peek(): Token {
    return this.#tokens[this.#index] ?? { kind: 'end', text: '' };
  }

  #next(): Token {
    const token = this.#peek();
    this.#index += 1;
    return token;
  }

  #accept(text: string): boolean {
    const token = this.#peek();
    if (token.text !== text || (token.kind !== 'sign' && token.kind !== 'word')) return false;
    this.#index += 1;
    return true;
  }

  #expect(text: string): void {
    if (!this.#accept(text)) throw new ExpressionError(() => m.textMissing({ text }));
  }
}
