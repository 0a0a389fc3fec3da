import type { TemplateRun } from '../run.ts';
import { SearchText, type Match } from './match.ts';
import { compileExpression, type Program } from './program.ts';

/** Regular expression with the semantics of Go's regexp, on bytes. */
export class Expression {
  readonly #source: string;
  readonly #program: Program;
  readonly #run: TemplateRun;

  /** @throws ExecutionError with Go's message for an invalid expression */
  constructor(source: string, run: TemplateRun) {
    this.#source = source;
    this.#program = compileExpression(source);
    this.#run = run;
    run.step(this.#program.steps.length);
  }

  matches(text: string): boolean {
    return new SearchText(text, this.#run).find(this.#program, 0) !== undefined;
  }

  /** Returns the first match; empty without one. */
  find(text: string): string {
    const match = new SearchText(text, this.#run).find(this.#program, 0);
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
    const haystack = new SearchText(text, this.#run);
    let replaced = '';
    let copiedUpTo = 0;
    for (let index = 0; index <= haystack.size;) {
      const match = haystack.find(this.#program, index);
      if (match === undefined) break;
      const [from = 0, to = 0] = match;
      replaced += text.slice(copiedUpTo, from);
      // An empty match directly after another match is skipped.
      if (to > copiedUpTo || from === 0) replaced += getReplacement(match);
      this.#run.checkLength(replaced.length);
      copiedUpTo = to;
      index += 1;
      while (index <= haystack.size && haystack.getByteIndex(index) < to) index += 1;
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
        const index = this.#program.groups.findIndex(
          (group, position) => group === name && match[2 * position] !== undefined,
        );
        return index < 0 ? '' : group(index);
      },
    );
  }

  #all(text: string, maxMatches: number): Match[] {
    const haystack = new SearchText(text, this.#run);
    const matches: Match[] = [];
    let previousEnd = -1;
    for (let index = 0; index <= haystack.size && (maxMatches < 0 || matches.length < maxMatches);) {
      const match = haystack.find(this.#program, index);
      if (match === undefined) break;
      const [from = 0, to = 0] = match;
      // An empty match directly after another match is not counted.
      if (to > haystack.getByteIndex(index)) {
        while (index <= haystack.size && haystack.getByteIndex(index) < to) index += 1;
        matches.push(match);
      } else {
        index += 1;
        if (from !== previousEnd) matches.push(match);
      }
      previousEnd = to;
    }
    return matches;
  }
}

function getSlice(text: string, [from, to]: Match): string {
  return from === undefined || to === undefined ? '' : text.slice(from, to);
}

/** Escapes all special characters of a text. */
export function escapeExpression(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}
