import { iterateRunes, type Rune } from '../bytes.ts';
import type { TemplateRun } from '../run.ts';
import type { Program } from './program.ts';
import type { Assertion } from './nodes.ts';

/**
 * Start and end of a match and its groups in bytes, two numbers each; undefined for groups that did not participate.
 */
export type Match = readonly (number | undefined)[];

interface Thread {
  readonly step: number;
  readonly positions: Match;
}

/**
 * Text to be searched. All alternatives are followed in parallel (Thompson simulation), so the time is bounded by the
 * length of the text times that of the expression.
 */
export class SearchText {
  readonly #runes: readonly Rune[];
  readonly #run: TemplateRun;
  readonly length: number;

  constructor(bytes: string, run: TemplateRun) {
    run.step(Math.ceil(bytes.length / 16));
    this.#runes = [...iterateRunes(bytes)];
    this.#run = run;
    this.length = bytes.length;
  }

  /** Number of characters. */
  get size(): number {
    return this.#runes.length;
  }

  /** Returns the byte index of a character, or the length at the end. */
  getByteIndex(index: number): number {
    return this.#runes[index]?.index ?? this.length;
  }

  /** Returns the leftmost match from a character on, preferring earlier alternatives of the expression. */
  find({ steps }: Program, from: number): Match | undefined {
    let threads: Thread[] = [];
    let match: Match | undefined;
    for (let index = from; index <= this.#runes.length; index += 1) {
      const visited = new Set<number>();
      const current: Thread[] = [];
      for (const thread of threads) this.#enter(steps, thread, index, visited, current);
      if (match === undefined) this.#enter(steps, { step: 0, positions: [] }, index, visited, current);
      else if (current.length === 0) break;
      this.#run.step(1 + visited.size);
      const rune = this.#runes[index]?.rune;
      threads = [];
      for (const { step, positions } of current) {
        const instruction = steps[step];
        if (instruction?.kind === 'match') {
          // Threads after this one have lower priority.
          match = positions;
          break;
        }
        if (instruction?.kind === 'character' && rune !== undefined && instruction.matches(rune))
          threads.push({ step: step + 1, positions });
      }
    }
    return match;
  }

  /** Follows steps that consume no character; steps already entered by a preferred thread are skipped. */
  #enter(steps: Program['steps'], initial: Thread, index: number, visited: Set<number>, current: Thread[]): void {
    const pending: Thread[] = [initial];
    for (let thread = pending.pop(); thread !== undefined; thread = pending.pop()) {
      const { step, positions } = thread;
      if (visited.has(step)) continue;
      visited.add(step);
      const instruction = steps[step];
      if (instruction === undefined) continue;
      if (instruction.kind === 'fork') {
        for (const target of instruction.to.toReversed()) pending.push({ step: target, positions });
      } else if (instruction.kind === 'mark') {
        pending.push({
          step: step + 1,
          positions: Object.assign([...positions], { [instruction.slot]: this.getByteIndex(index) }),
        });
      } else if (instruction.kind !== 'assertion') {
        current.push(thread);
      } else if (this.#isAt(instruction.assertion, index)) {
        pending.push({ step: step + 1, positions });
      }
    }
  }

  #isAt(assertion: Assertion, index: number): boolean {
    const previous = this.#runes[index - 1]?.rune;
    const next = this.#runes[index]?.rune;
    switch (assertion) {
      case 'text start':
        return index === 0;
      case 'text end':
        return index === this.#runes.length;
      case 'line start':
        return previous === undefined || previous === 10;
      case 'line end':
        return next === undefined || next === 10;
      case 'word boundary':
        return isWord(previous) !== isWord(next);
      case 'no word boundary':
        return isWord(previous) === isWord(next);
    }
  }
}

function isWord(rune: number | undefined): boolean {
  return rune !== undefined && rune < 0x80 && /\w/.test(String.fromCharCode(rune));
}
