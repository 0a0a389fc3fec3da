import type { Run } from '../run.ts';
import { Haystack, type Match } from './match.ts';
import { compileExpression, type Program } from './program.ts';

/** An expression of Go's regexp, on bytes. */
export class Expression {
  readonly #source: string;
  readonly #program: Program;
  readonly #run: Run;

  /** @throws RunFault with Go's words for what is none */
  constructor(source: string, run: Run) {
    this.#source = source;
    this.#program = compileExpression(source);
    this.#run = run;
    run.step(this.#program.steps.length);
  }

  matches(text: string): boolean {
    return new Haystack(text, this.#run).find(this.#program, 0) !== undefined;
  }

  /** The first match; empty when there is none. */
  find(text: string): string {
    const found = new Haystack(text, this.#run).find(this.#program, 0);
    return found === undefined ? '' : cut(text, found);
  }

  /** All matches, or the first `most`; undefined when there are none. */
  findAll(text: string, most: number): readonly string[] | undefined {
    const found = this.#all(text, most).map((match) => cut(text, match));
    return found.length === 0 ? undefined : found;
  }

  /** What lies between the matches, in `most` pieces at most; undefined for none. */
  split(text: string, most: number): readonly string[] | undefined {
    if (most === 0) return undefined;
    if (this.#source !== '' && text === '') return [''];
    const pieces: string[] = [];
    let begin = 0;
    let end = 0;
    for (const match of this.#all(text, most)) {
      if (most > 0 && pieces.length === most - 1) break;
      const [from = 0, to = 0] = match;
      end = from;
      if (to !== 0) pieces.push(text.slice(begin, end));
      begin = to;
    }
    if (end !== text.length) pieces.push(text.slice(begin));
    return pieces;
  }

  /** With each match replaced by what `by` makes of it. */
  replace(text: string, by: (match: Match) => string): string {
    const haystack = new Haystack(text, this.#run);
    let replaced = '';
    let done = 0;
    for (let index = 0; index <= haystack.size;) {
      const match = haystack.find(this.#program, index);
      if (match === undefined) break;
      const [from = 0, to = 0] = match;
      replaced += text.slice(done, from);
      // An empty match right behind another one would be replaced twice.
      if (to > done || from === 0) replaced += by(match);
      this.#run.fits(replaced.length);
      done = to;
      index += 1;
      while (index <= haystack.size && haystack.byteOf(index) < to) index += 1;
    }
    return replaced + text.slice(done);
  }

  /** `template` with `$1` and `${name}` replaced by the groups of the match. */
  expand(template: string, text: string, match: Match): string {
    const group = (index: number): string => cut(text, match.slice(2 * index, 2 * index + 2));
    return template.replace(
      /\$(?:\$|(\w+)|\{(\w+)\})/g,
      (all, bare: string | undefined, braced: string | undefined) => {
        if (all === '$$') return '$';
        const name = bare ?? braced ?? '';
        if (/^\d+$/.test(name)) return group(Number(name));
        // Of several groups of the name the first that took part.
        const index = this.#program.groups.findIndex((each, at) => each === name && match[2 * at] !== undefined);
        return index < 0 ? '' : group(index);
      },
    );
  }

  #all(text: string, most: number): Match[] {
    const haystack = new Haystack(text, this.#run);
    const all: Match[] = [];
    let before = -1;
    for (let index = 0; index <= haystack.size && (most < 0 || all.length < most);) {
      const match = haystack.find(this.#program, index);
      if (match === undefined) break;
      const [from = 0, to = 0] = match;
      // An empty match right behind another one does not count.
      if (to > haystack.byteOf(index)) {
        while (index <= haystack.size && haystack.byteOf(index) < to) index += 1;
        all.push(match);
      } else {
        index += 1;
        if (from !== before) all.push(match);
      }
      before = to;
    }
    return all;
  }
}

function cut(text: string, [from, to]: Match): string {
  return from === undefined || to === undefined ? '' : text.slice(from, to);
}

/** The text as an expression that stands for itself. */
export function quoteExpression(text: string): string {
  return text.replace(/[\\.+*?()|[\]{}^$]/g, '\\$&');
}
