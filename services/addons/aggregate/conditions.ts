import * as m from '#messages/addons-problems';
import type { Clock } from '../../contracts/service.ts';
import type { Value } from '../domain/expression/value.ts';
import type { ParsedStream } from '../domain/stream.ts';
import type { ConditionResult } from '../sandbox/jobs.ts';
import { toSandboxStreams, type Sandbox } from '../sandbox/sandbox.ts';

/** Time limit for all conditions of one request. */
const maxTotalMs = 3000;

/** Evaluates the conditions of one request. */
export class Conditions {
  readonly #sandbox: Sandbox;
  readonly #clock: Clock;
  #remainingMs = maxTotalMs;

  constructor(sandbox: Sandbox, clock: Clock) {
    this.#sandbox = sandbox;
    this.#clock = clock;
  }

  /** Evaluates a condition. An empty condition is true; a result that is not a boolean is reported as a problem. */
  async evaluate(
    source: string | null | undefined,
    names: Readonly<Record<string, Value>>,
    lists: Readonly<Record<string, readonly ParsedStream[]>>,
  ): Promise<ConditionResult> {
    if (source === null || source === undefined || source.trim() === '') return { holds: true };
    if (this.#remainingMs <= 0) return { holds: false, sentence: m.conditionTooSlow() };
    const startedAt = this.#clock.now();
    const streams = Object.fromEntries(Object.entries(lists).map(([name, list]) => [name, toSandboxStreams(list)]));
    const result = await this.#sandbox.run({ kind: 'condition', source, variables: { ...names, ...streams } });
    this.#remainingMs -= result === undefined ? maxTotalMs : this.#clock.now() - startedAt;
    return result ?? { holds: false, sentence: m.conditionTooSlow() };
  }
}
