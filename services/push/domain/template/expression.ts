import { compileLinearExpression, ExpressionError, type LinearExpression } from '../../../kit/linear-expression.ts';
import { fromBytes, readRune, toBytes } from './bytes.ts';
import { ExecutionError, LimitError } from './errors.ts';
import type { TemplateRun } from './run.ts';

/**
 * Start and end of a match and its groups in bytes, two numbers each; -1 for groups that did not participate.
 */
export type Match = readonly number[];

/** Maximum product of instructions and bytes in one search, which takes about 20 ns per unit. */
const maxSearchCost = 5_000_000;
const duplicateName = 'duplicate capture group name';
const namedGroup = /\(\?P?<(\w+)>/g;

/** Regular expression with the semantics of Go's regexp, on bytes. */
export class Expression {
  readonly #source: string;
  readonly #pattern: LinearExpression;
  readonly #run: TemplateRun;

  /** @throws ExecutionError with Go's message for an invalid expression */
  constructor(source: string, run: TemplateRun) {
    this.#source = source;
    this.#pattern = compile(fromBytes(source));
    this.#run = run;
    run.step(this.#pattern.programSize());
  }

  matches(text: string): boolean {
    return new Search(this.#pattern, text, this.#run).find(0) !== undefined;
  }

  /** Returns the first match; empty without one. */
  find(text: string): string {
    const match = new Search(this.#pattern, text, this.#run).find(0);
    return match === undefined ? '' : getSlice(text, match);
  }

  /** Returns all matches or the first `maxMatches`; undefined without matches. */
  findAll(text: string, maxMatches: number): readonly string[] | undefined {
    const matches = this.#all(text, maxMatches).map((match) => getSlice(text, match));
    return matches.length === 0 ? undefined : matches;
  }

  /** Returns the text between matches in at most `maxPieces` pieces; undefined for 0. */
  split(text: string, maxMatches: number): readonly string[] | undefined {
    if (maxMatches === 0) return undefined;
    if (this.#source !== '' && text === '') return [''];
    const pieces: string[] = [];
    let pieceStart = 0;
    let pieceEnd = 0;
    for (const match of this.#all(text, maxMatches)) {
      if (maxMatches > 0 && pieces.length === maxMatches - 1) break;
      const [from = 0, to = 0] = match;
      pieceEnd = from;
      if (to !== 0) pieces.push(text.slice(pieceStart, pieceEnd));
      pieceStart = to;
    }
    if (pieceEnd !== text.length) pieces.push(text.slice(pieceStart));
    return pieces;
  }

  /** Replaces each match with the result of `getReplacement`. */
  replace(text: string, getReplacement: (match: Match) => string): string {
    const search = new Search(this.#pattern, text, this.#run);
    let replaced = '';
    let copiedUpTo = 0;
    for (let index = 0; index <= text.length;) {
      const match = search.find(index);
      if (match === undefined) break;
      const [from = 0, to = 0] = match;
      replaced += text.slice(copiedUpTo, from);
      // An empty match directly after another match is skipped.
      if (to > copiedUpTo || from === 0) replaced += getReplacement(match);
      this.#run.checkLength(replaced.length);
      copiedUpTo = to;
      index = Math.max(to, getNextIndex(text, index));
    }
    return replaced + text.slice(copiedUpTo);
  }

  /** Expands `$1` and `${name}` in a template with the groups of the match. */
  expand(template: string, text: string, match: Match): string {
    const group = (index: number): string => getSlice(text, match.slice(2 * index, 2 * index + 2));
    return template.replace(
      /\$(?:\$|(\w+)|\{(\w+)\})/g,
      (matches, plainName: string | undefined, bracedName: string | undefined) => {
        if (matches === '$$') return '$';
        const name = plainName ?? bracedName ?? '';
        if (/^\d+$/.test(name)) return group(Number(name));
        // The first matching group of that name is used.
        const index = this.#getGroups(name).find((each) => (match[2 * each] ?? -1) >= 0);
        return index === undefined ? '' : group(index);
      },
    );
  }

  #getGroups(name: string): readonly number[] {
    return Object.entries(this.#pattern.namedGroups())
      .filter(([each]) => each === name || each.replace(/__\d+$/, '') === name)
      .map(([, index]) => index)
      .toSorted((first, second) => first - second);
  }

  #all(text: string, maxMatches: number): Match[] {
    const search = new Search(this.#pattern, text, this.#run);
    const matches: Match[] = [];
    let previousEnd = -1;
    for (let index = 0; index <= text.length && (maxMatches < 0 || matches.length < maxMatches);) {
      const match = search.find(index);
      if (match === undefined) break;
      const [from = 0, to = 0] = match;
      // An empty match directly after another match is not counted.
      if (to > index || from !== previousEnd) matches.push(match);
      index = to > index ? to : getNextIndex(text, index);
      previousEnd = to;
    }
    return matches;
  }
}

/** Searches in one text. */
class Search {
  readonly #matcher: ReturnType<LinearExpression['matcher']>;
  readonly #length: number;
  readonly #size: number;
  readonly #run: TemplateRun;

  constructor(pattern: LinearExpression, text: string, run: TemplateRun) {
    run.step(Math.ceil(text.length / 16));
    this.#matcher = pattern.matcher(Buffer.from(text, 'latin1'));
    this.#length = text.length;
    this.#size = pattern.programSize();
    this.#run = run;
  }

  /**
   * Returns the leftmost match from a byte on, preferring earlier alternatives of the expression.
   *
   * @throws LimitError
   */
  find(from: number): Match | undefined {
    // A search cannot be interrupted, so its cost is checked before it and the time after it.
    if ((this.#length - from) * this.#size > maxSearchCost) throw new LimitError('time');
    const isFound = this.#matcher.find(from);
    const end = isFound ? this.#matcher.end() : this.#length;
    this.#run.step(64 + end - from);
    if (!isFound) return undefined;
    const match: number[] = [];
    for (let group = 0; group <= this.#matcher.groupCount(); group += 1) {
      match.push(this.#matcher.start(group), this.#matcher.end(group));
    }
    return match;
  }
}

/** Compiles an expression. Go allows several groups of the same name; they get numbers here. */
function compile(text: string): LinearExpression {
  try {
    return compileLinearExpression(text);
  } catch (error) {
    if (!(error instanceof ExpressionError)) throw error;
    if (error.reason !== duplicateName)
      throw new ExecutionError(toBytes(`error parsing regexp: ${error.reason}: \`${error.fragment}\``));
    let count = 0;
    return compile(text.replace(namedGroup, (_, name: string) => `(?P<${name}__${String((count += 1))}>`));
  }
}

/** Returns the index of the next character, or one after the end. */
function getNextIndex(text: string, index: number): number {
  return index < text.length ? index + readRune(text, index).size : index + 1;
}

function getSlice(text: string, [from = -1, to = -1]: Match): string {
  return from < 0 || to < 0 ? '' : text.slice(from, to);
}

/** Escapes all special characters of a text. */
export function escapeExpression(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}
