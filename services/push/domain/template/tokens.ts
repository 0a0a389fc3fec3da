import { lineAt, SyntaxFault } from './syntax.ts';

/** A part of a template: text outside of actions, or an action's inside as tokens. */
export type Part =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly at: number; readonly end: number; readonly tokens: readonly Token[] };

export interface Token {
  readonly kind: 'space' | 'word' | 'field' | 'variable' | 'number' | 'string' | 'sign';
  readonly text: string;
  readonly at: number;
}

const shapes: readonly (readonly [Token['kind'], RegExp])[] = [
  ['space', /\s+/y],
  [
    'number',
    /[+-]?(?:0[xX][\da-fA-F_]+(?:\.[\da-fA-F_]*)?(?:[pP][+-]?\d+)?|0[oObB][\d_]+|(?:\d[\d_]*(?:\.[\d_]*)?|\.\d[\d_]*)(?:[eE][+-]?\d+)?)/y,
  ],
  ['string', /"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\\n]|\\.)+'/y],
  ['field', /\.[\p{L}_][\p{L}\p{N}_]*/uy],
  ['variable', /\$[\p{L}\p{N}_]*/uy],
  ['word', /[\p{L}_][\p{L}\p{N}_]*/uy],
  ['sign', /:=|[=|(),.]/y],
];

/**
 * Parts a template. A dash inside the braces (`{{- … -}}`) takes the white space on its side away.
 *
 * @throws SyntaxFault
 */
export function readParts(text: string): Part[] {
  const parts: Part[] = [];
  let at = 0;
  let trims = false;
  while (at <= text.length) {
    const open = text.indexOf('{{', at);
    let plain = text.slice(at, open < 0 ? undefined : open);
    if (trims) plain = plain.replace(/^[ \t\r\n]+/, '');
    const trimsBefore = open >= 0 && /^-\s/.test(text.slice(open + 2, open + 4));
    if (trimsBefore) plain = plain.replace(/[ \t\r\n]+$/, '');
    if (plain !== '') parts.push({ kind: 'text', text: plain });
    if (open < 0) break;
    const begin = open + 2 + (trimsBefore ? 1 : 0);
    const action = readAction(text, begin, trimsBefore);
    if (action.tokens !== undefined) parts.push({ kind: 'action', at: begin, end: action.end, tokens: action.tokens });
    trims = action.trims;
    at = action.next;
  }
  return parts;
}

interface Action {
  /** Undefined for a comment. */
  readonly tokens: readonly Token[] | undefined;
  readonly end: number;
  readonly next: number;
  readonly trims: boolean;
}

const close = /(\s-)?\}\}/y;

function readAction(text: string, begin: number, isTrimmed: boolean): Action {
  const fault = (position: number, reason: string): SyntaxFault => new SyntaxFault(lineAt(text, position), reason);
  const closing = (position: number): Action | undefined => {
    close.lastIndex = position;
    const found = close.exec(text);
    if (found === null) return undefined;
    return { tokens: undefined, end: position, next: close.lastIndex, trims: found[1] !== undefined };
  };
  const comment = isTrimmed ? /\s\/\*/y : /\/\*/y;
  comment.lastIndex = begin;
  if (comment.test(text)) {
    const end = text.indexOf('*/', begin);
    if (end < 0) throw fault(begin, 'unclosed comment');
    const closed = closing(end + 2) ?? closing(end + 2 + (/^\s*/.exec(text.slice(end + 2))?.[0].length ?? 0));
    if (closed === undefined) throw fault(end, 'comment ends before closing delimiter');
    return closed;
  }
  const tokens: Token[] = [];
  for (let at = begin; at < text.length;) {
    const closed = closing(at);
    if (closed !== undefined) return { ...closed, tokens };
    const token = readToken(text, at, tokens.at(-1));
    if (token === undefined) {
      const [character = ''] = text.slice(at);
      if (character === '"' || character === "'" || character === '`') throw fault(at, 'unterminated quoted string');
      throw fault(at, `unexpected ${JSON.stringify(character)} in command`);
    }
    tokens.push(token);
    at += token.text.length;
  }
  throw fault(begin, 'unclosed action');
}

function readToken(text: string, at: number, previous: Token | undefined): Token | undefined {
  for (const [kind, shape] of shapes) {
    // A path goes on without a space: `.5` after a word would be one.
    if (kind === 'number' && previous !== undefined && /^(word|field|variable)$/.test(previous.kind)) continue;
    shape.lastIndex = at;
    const found = shape.exec(text)?.[0];
    if (found) return { kind, text: found, at };
  }
  return undefined;
}
