import type { Clock } from '../../contracts/service.ts';
import type { Value } from '../domain/expression/value.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { ConditionAnswer } from '../sandbox/jobs.ts';
import { forSandbox, type Sandbox } from '../sandbox/sandbox.ts';

/** Time limit for all conditions of one request. */
const maxTotalMs = 3000;
const tooSlow = 'It takes too long. Make it simpler.';

/** Evaluates the conditions of one request. */
export class Conditions {
  readonly #sandbox: Sandbox;
  readonly #clock: Clock;
  #leftMs = maxTotalMs;

  constructor(sandbox: Sandbox, clock: Clock) {
    this.#sandbox = sandbox;
    this.#clock = clock;
  }

  /** Evaluates a condition. An empty condition is true; a result that is no boolean is reported as a problem. */
  async evaluate(
    source: string | null | undefined,
    names: Readonly<Record<string, Value>>,
    lists: Readonly<Record<string, readonly ParsedStream[]>>,
  ): Promise<ConditionAnswer> {
    if (source === null || source === undefined || source.trim() === '') return { holds: true };
    if (this.#leftMs <= 0) return { holds: false, sentence: tooSlow };
    const began = this.#clock.now();
    const streams = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, forSandbox(list)]));
    const answer = await this.#sandbox.run({ kind: 'condition', source, names: { ...names, ...streams } });
    this.#leftMs -= answer === undefined ? maxTotalMs : this.#clock.now() - began;
    return answer ?? { holds: false, sentence: tooSlow };
  }
}
