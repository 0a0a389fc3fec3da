import { getLine, TemplateSyntaxError } from './syntax.ts';

/** Segment of a template: text, or the tokens of an action. */
export type Segment =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'action'; readonly index: number; readonly end: number; readonly tokens: readonly Token[] };

export interface Token {
  readonly kind: 'space' | 'word' | 'field' | 'variable' | 'number' | 'string' | 'sign';
  readonly text: string;
  readonly index: number;
}

const tokenPatterns: readonly (readonly [Token['kind'], RegExp])[] = [
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
 * Splits a template into segments. A dash inside of the braces (`{{- … -}}`) trims white space on its side.
 *
 * @throws TemplateSyntaxError
 */
export function readSegments(text: string): Segment[] {
  const parts: Segment[] = [];
  let index = 0;
  let trimsAfter = false;
  while (index <= text.length) {
    const openIndex = text.indexOf('{{', index);
    let literal = text.slice(index, openIndex < 0 ? undefined : openIndex);
    if (trimsAfter) literal = literal.replace(/^[ \t\r\n]+/, '');
    const trimsBefore = openIndex >= 0 && /^-\s/.test(text.slice(openIndex + 2, openIndex + 4));
    if (trimsBefore) literal = literal.replace(/[ \t\r\n]+$/, '');
    if (literal !== '') parts.push({ kind: 'text', text: literal });
    if (openIndex < 0) break;
    const start = openIndex + 2 + (trimsBefore ? 1 : 0);
    const action = readAction(text, start, trimsBefore);
    if (action.tokens !== undefined)
      parts.push({ kind: 'action', index: start, end: action.end, tokens: action.tokens });
    trimsAfter = action.trims;
    index = action.next;
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

const closePattern = /(\s-)?\}\}/y;

function readAction(text: string, start: number, isTrimmed: boolean): Action {
  const createError = (position: number, reason: string): TemplateSyntaxError =>
    new TemplateSyntaxError(getLine(text, position), reason);
  const matchClose = (position: number): Action | undefined => {
    closePattern.lastIndex = position;
    const match = closePattern.exec(text);
    if (match === null) return undefined;
    return { tokens: undefined, end: position, next: closePattern.lastIndex, trims: match[1] !== undefined };
  };
  const comment = isTrimmed ? /\s\/\*/y : /\/\*/y;
  comment.lastIndex = start;
  if (comment.test(text)) {
    const end = text.indexOf('*/', start);
    if (end < 0) throw createError(start, 'unclosed comment');
    const closing = matchClose(end + 2) ?? matchClose(end + 2 + (/^\s*/.exec(text.slice(end + 2))?.[0].length ?? 0));
    if (closing === undefined) throw createError(end, 'comment ends before closing delimiter');
    return closing;
  }
  const tokens: Token[] = [];
  for (let index = start; index < text.length;) {
    const closing = matchClose(index);
    if (closing !== undefined) return { ...closing, tokens };
    const token = readToken(text, index, tokens.at(-1));
    if (token === undefined) {
      const [character = ''] = text.slice(index);
      if (character === '"' || character === "'" || character === '`')
        throw createError(index, 'unterminated quoted string');
      throw createError(index, `unexpected ${JSON.stringify(character)} in command`);
    }
    tokens.push(token);
    index += token.text.length;
  }
  throw createError(start, 'unclosed action');
}

function readToken(text: string, index: number, previous: Token | undefined): Token | undefined {
  for (const [kind, pattern] of tokenPatterns) {
    // After a name, `.5` is a field and not a number.
    if (kind === 'number' && previous !== undefined && /^(word|field|variable)$/.test(previous.kind)) continue;
    pattern.lastIndex = index;
    const match = pattern.exec(text)?.[0];
    if (match) return { kind, text: match, index };
  }
  return undefined;
}
