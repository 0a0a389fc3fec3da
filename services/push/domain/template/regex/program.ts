import { ExecutionError } from '../errors.ts';
import type { Predicate } from './characters.ts';
import type { RegexNode, Assertion } from './nodes.ts';
import { parseExpression } from './syntax.ts';

/** Instruction of a compiled expression. The first target of a `fork` is preferred. */
export type Instruction =
  | { readonly kind: 'character'; readonly matches: Predicate }
  | { readonly kind: 'assertion'; readonly assertion: Assertion }
  | { readonly kind: 'mark'; readonly slot: number }
  | { readonly kind: 'fork'; to: readonly number[] }
  | { readonly kind: 'match' };

export interface Program {
  readonly steps: readonly Instruction[];
  readonly groups: readonly string[];
}

/** Maximum number of instructions, including expanded repetitions. */
const maxInstructions = 20_000;

/**
 * Compiles an expression.
 *
 * @throws ExecutionError for an invalid or too large expression
 */
export function compileExpression(source: string): Program {
  const { part, groups } = parseExpression(source);
  const compiler = new Compiler(source);
  compiler.part({ kind: 'group', index: 0, part });
  compiler.add({ kind: 'match' });
  return { steps: compiler.steps, groups };
}

class Compiler {
  readonly steps: Instruction[] = [];
  readonly #source: string;
  #parts = 0;

  constructor(source: string) {
    this.#source = source;
  }

  add(step: Instruction): number {
    return this.steps.push(step) - 1;
  }

  part(part: RegexNode): void {
    if ((this.#parts += 1) > maxInstructions) {
      throw new ExecutionError(`error parsing regexp: expression too large: \`${this.#source}\``);
    }
    switch (part.kind) {
      case 'empty':
        return;
      case 'character':
      case 'assertion':
        this.add(part);
        return;
      case 'all':
        for (const child of part.parts) this.part(child);
        return;
      case 'group':
        this.add({ kind: 'mark', slot: 2 * part.index });
        this.part(part.part);
        this.add({ kind: 'mark', slot: 2 * part.index + 1 });
        return;
      case 'either':
        this.#compileAlternatives(part.parts);
        return;
      case 'repeat':
        this.#repeat(part);
    }
  }

  #compileAlternatives(parts: readonly RegexNode[]): void {
    const starts: number[] = [];
    const fork = this.#fork();
    const ends = parts.map((part) => {
      starts.push(this.steps.length);
      this.part(part);
      return this.#fork();
    });
    fork.to = starts;
    for (const end of ends) end.to = [this.steps.length];
  }

  #repeat({ part, min, max, greedy }: Extract<RegexNode, { kind: 'repeat' }>): void {
    for (let count = 0; count < min; count += 1) this.part(part);
    if (max === Infinity) {
      const start = this.steps.length;
      const fork = this.#fork();
      this.part(part);
      this.#fork().to = [start];
      this.#setTargets(fork, start + 1, greedy);
      return;
    }
    // Optional repetitions are nested: (x(x(x)?)?)?
    const forks: [{ to: readonly number[] }, number][] = [];
    for (let count = min; count < max; count += 1) {
      forks.push([this.#fork(), this.steps.length]);
      this.part(part);
    }
    for (const [fork, first] of forks) this.#setTargets(fork, first, greedy);
  }

  /** Sets the targets of a fork: into the node or past it, which ends here. */
  #setTargets(fork: { to: readonly number[] }, first: number, greedy: boolean): void {
    const end = this.steps.length;
    fork.to = greedy ? [first, end] : [end, first];
  }

  #fork(): { to: readonly number[] } {
    const fork = { kind: 'fork' as const, to: [] as readonly number[] };
    this.add(fork);
    return fork;
  }
}
