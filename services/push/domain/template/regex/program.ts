import { RunFault } from '../errors.ts';
import type { Predicate } from './characters.ts';
import type { Part, Place } from './nodes.ts';
import { parseExpression } from './syntax.ts';

/** One step of an expression. What a `fork` names first is preferred. */
export type Step =
  | { readonly kind: 'character'; readonly takes: Predicate }
  | { readonly kind: 'place'; readonly where: Place }
  | { readonly kind: 'mark'; readonly slot: number }
  | { readonly kind: 'fork'; to: readonly number[] }
  | { readonly kind: 'match' };

export interface Program {
  readonly steps: readonly Step[];
  readonly groups: readonly string[];
}

/** What repetitions inside of repetitions may come to. */
const mostSteps = 20_000;

/** @throws RunFault for what is no expression, or too large a one */
export function compileExpression(source: string): Program {
  const { part, groups } = parseExpression(source);
  const compiler = new Compiler(source);
  compiler.part({ kind: 'group', index: 0, part });
  compiler.add({ kind: 'match' });
  return { steps: compiler.steps, groups };
}

class Compiler {
  readonly steps: Step[] = [];
  readonly #source: string;
  #parts = 0;

  constructor(source: string) {
    this.#source = source;
  }

  add(step: Step): number {
    return this.steps.push(step) - 1;
  }

  part(part: Part): void {
    if ((this.#parts += 1) > mostSteps) {
      throw new RunFault(`error parsing regexp: expression too large: \`${this.#source}\``);
    }
    switch (part.kind) {
      case 'empty':
        return;
      case 'character':
      case 'place':
        this.add(part);
        return;
      case 'all':
        for (const each of part.parts) this.part(each);
        return;
      case 'group':
        this.add({ kind: 'mark', slot: 2 * part.index });
        this.part(part.part);
        this.add({ kind: 'mark', slot: 2 * part.index + 1 });
        return;
      case 'either':
        this.#either(part.parts);
        return;
      case 'repeat':
        this.#repeat(part);
    }
  }

  #either(parts: readonly Part[]): void {
    const begins: number[] = [];
    const fork = this.#fork();
    const ends = parts.map((part) => {
      begins.push(this.steps.length);
      this.part(part);
      return this.#fork();
    });
    fork.to = begins;
    for (const end of ends) end.to = [this.steps.length];
  }

  #repeat({ part, least, most, greedy }: Extract<Part, { kind: 'repeat' }>): void {
    for (let count = 0; count < least; count += 1) this.part(part);
    if (most === Infinity) {
      const begin = this.steps.length;
      const fork = this.#fork();
      this.part(part);
      this.#fork().to = [begin];
      this.#choose(fork, begin + 1, greedy);
      return;
    }
    // Each further time is inside of the one before: (x(x(x)?)?)?
    const forks: [{ to: readonly number[] }, number][] = [];
    for (let count = least; count < most; count += 1) {
      forks.push([this.#fork(), this.steps.length]);
      this.part(part);
    }
    for (const [fork, begin] of forks) this.#choose(fork, begin, greedy);
  }

  /** Into the part or past it, which ends here. */
  #choose(fork: { to: readonly number[] }, begin: number, greedy: boolean): void {
    const end = this.steps.length;
    fork.to = greedy ? [begin, end] : [end, begin];
  }

  #fork(): { to: readonly number[] } {
    const fork = { kind: 'fork' as const, to: [] as readonly number[] };
    this.add(fork);
    return fork;
  }
}
