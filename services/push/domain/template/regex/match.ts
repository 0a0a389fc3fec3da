import { runesOf, type Rune } from '../bytes.ts';
import type { Run } from '../run.ts';
import type { Program } from './program.ts';
import type { Place } from './nodes.ts';

/** Where a match and its groups begin and end, in bytes: two numbers each; undefined for a group that took no part. */
export type Match = readonly (number | undefined)[];

interface Thread {
  readonly step: number;
  readonly marks: Match;
}

/**
 * A text that expressions are looked for in. All ways through an expression go on side by side, so that the time is at most
 * the length of the text times that of the expression, whatever they are.
 */
export class Haystack {
  readonly #runes: readonly Rune[];
  readonly #run: Run;
  readonly length: number;

  constructor(bytes: string, run: Run) {
    run.step(Math.ceil(bytes.length / 16));
    this.#runes = [...runesOf(bytes)];
    this.#run = run;
    this.length = bytes.length;
  }

  /** How many characters there are. */
  get size(): number {
    return this.#runes.length;
  }

  /** Where a character begins, in bytes; at the end the length. */
  byteOf(index: number): number {
    return this.#runes[index]?.at ?? this.length;
  }

  /** The leftmost match from a character on; of several the one that comes first in the expression. */
  find({ steps }: Program, from: number): Match | undefined {
    let threads: Thread[] = [];
    let found: Match | undefined;
    for (let index = from; index <= this.#runes.length; index += 1) {
      const seen = new Set<number>();
      const here: Thread[] = [];
      for (const thread of threads) this.#enter(steps, thread, index, seen, here);
      if (found === undefined) this.#enter(steps, { step: 0, marks: [] }, index, seen, here);
      else if (here.length === 0) break;
      this.#run.step(1 + seen.size);
      const rune = this.#runes[index]?.rune;
      threads = [];
      for (const { step, marks } of here) {
        const at = steps[step];
        if (at?.kind === 'match') {
          // Those behind it are less preferred.
          found = marks;
          break;
        }
        if (at?.kind === 'character' && rune !== undefined && at.takes(rune)) threads.push({ step: step + 1, marks });
      }
    }
    return found;
  }

  /** Follows what takes no character; what was entered already by a preferred way is left out. */
  #enter(steps: Program['steps'], begin: Thread, index: number, seen: Set<number>, here: Thread[]): void {
    const open: Thread[] = [begin];
    for (let thread = open.pop(); thread !== undefined; thread = open.pop()) {
      const { step, marks } = thread;
      if (seen.has(step)) continue;
      seen.add(step);
      const at = steps[step];
      if (at === undefined) continue;
      if (at.kind === 'fork') {
        for (const to of at.to.toReversed()) open.push({ step: to, marks });
      } else if (at.kind === 'mark') {
        open.push({ step: step + 1, marks: Object.assign([...marks], { [at.slot]: this.byteOf(index) }) });
      } else if (at.kind !== 'place') {
        here.push(thread);
      } else if (this.#isAt(at.where, index)) {
        open.push({ step: step + 1, marks });
      }
    }
  }

  #isAt(where: Place, index: number): boolean {
    const before = this.#runes[index - 1]?.rune;
    const after = this.#runes[index]?.rune;
    switch (where) {
      case 'text begin':
        return index === 0;
      case 'text end':
        return index === this.#runes.length;
      case 'line begin':
        return before === undefined || before === 10;
      case 'line end':
        return after === undefined || after === 10;
      case 'word edge':
        return isWord(before) !== isWord(after);
      case 'no word edge':
        return isWord(before) === isWord(after);
    }
  }
}

function isWord(rune: number | undefined): boolean {
  return rune !== undefined && rune < 0x80 && /\w/.test(String.fromCharCode(rune));
}
