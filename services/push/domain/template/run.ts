import { BoundsFault } from './errors.ts';

/** What a template may ask of the world outside of its data. */
export interface Surroundings {
  /** Unix time in ms. */
  readonly now: () => number;
  /** A number from 0 to 1. */
  readonly random: () => number;
  /** The name of the time zone that dates are written in. */
  readonly zone: string;
  /** A digest in hex of bytes that are given as characters below 256. */
  readonly digest: (algorithm: 'sha1' | 'sha256' | 'sha512', bytes: string) => string;
}

/** What a template may use up; both are refused beyond. */
export interface Bounds {
  /** Bytes of output, and of any text on the way. */
  readonly characters: number;
  readonly steps: number;
  /** Asked now and then: the time is up. */
  readonly expired: () => boolean;
}

/** One run of a template, as its functions see it. */
export class Run {
  readonly surroundings: Surroundings;
  readonly #bounds: Bounds;
  #steps = 0;
  #asked = 0;

  constructor(bounds: Bounds, surroundings: Surroundings) {
    this.#bounds = bounds;
    this.surroundings = surroundings;
  }

  /** Whatever takes time in proportion to its input says so here. @throws BoundsFault */
  step(count = 1): void {
    this.#steps += count;
    if (this.#steps > this.#bounds.steps) throw new BoundsFault('time');
    if (this.#steps - this.#asked < 64) return;
    this.#asked = this.#steps;
    if (this.#bounds.expired()) throw new BoundsFault('time');
  }

  /** Ask before a text is made. @throws BoundsFault */
  fits(length: number): void {
    if (length > this.#bounds.characters) throw new BoundsFault('size');
  }
}
