import { LimitError } from './errors.ts';

/** Environment of a template in addition to its data. */
export interface TemplateEnvironment {
  /** Unix time in ms. */
  readonly now: () => number;
  /** Number between 0 and 1. */
  readonly random: () => number;
  /** Name of the time zone of dates. */
  readonly zone: string;
  /** Returns the hex digest of a byte string. */
  readonly digest: (algorithm: 'sha1' | 'sha256' | 'sha512', bytes: string) => string;
}

/** Resource limits of a template. */
export interface RunLimits {
  /** Maximum length of the output and of intermediate texts. */
  readonly maxLength: number;
  readonly maxSteps: number;
  /** Returns true when the time is used up. Called periodically. */
  readonly isExpired: () => boolean;
}

/** Execution state of a template: environment and limits. */
export class TemplateRun {
  readonly environment: TemplateEnvironment;
  readonly #limits: RunLimits;
  #steps = 0;
  #lastTimeCheck = 0;

  constructor(limits: RunLimits, environment: TemplateEnvironment) {
    this.#limits = limits;
    this.environment = environment;
  }

  /**
   * Counts work; called in proportion to the size of the input.
   *
   * @throws LimitError
   */
  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > this.#limits.maxSteps) throw new LimitError('time');
    if (this.#steps - this.#lastTimeCheck < 64) return;
    this.#lastTimeCheck = this.#steps;
    if (this.#limits.isExpired()) throw new LimitError('time');
  }

  /**
   * Checks the length of a text before it is created.
   *
   * @throws LimitError
   */
  checkLength(length: number): void {
    if (length > this.#limits.maxLength) throw new LimitError('size');
  }
}
