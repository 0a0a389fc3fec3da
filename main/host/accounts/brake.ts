/** A level drains by one in this time, ms. */
const drain = 60_000;
/** The wait between two checks once the burst is used up: it doubles from the first to the longest. ms */
const firstStep = 500;
const longestStep = 10_000;
/** The level goes no further than this beyond the burst, so that the end of an attack is felt soon. */
const beyond = 10;

/** A number that rises by one a time and drains by one a minute. */
export class Level {
  #value = 0;
  #at = 0;

  at(now: number): number {
    return Math.max(0, this.#value - Math.max(0, now - this.#at) / drain);
  }

  raise(now: number, most: number): void {
    this.#value = Math.min(most, this.at(now) + 1);
    this.#at = now;
  }

  clear(): void {
    this.#value = 0;
  }
}

/**
 * Slows down checks of secrets: a burst of wrong ones costs nothing, after that one check follows another at a distance
 * that grows. What is under way counts as wrong, so that many at once get no further than many in turn.
 */
export class Brake {
  readonly #burst: number;
  readonly #wrong = new Level();
  #underWay = 0;
  /** When the last check was, or will be. */
  #last = 0;

  constructor(burst: number) {
    this.#burst = burst;
  }

  /** Whether the burst is used up. */
  isOn(now: number): boolean {
    return this.#over(now) > 0;
  }

  /** For how long the next check has to wait, ms. */
  wait(now: number): number {
    const over = this.#over(now);
    if (over <= 0) return 0;
    const step = Math.min(longestStep, firstStep * 2 ** Math.min(over - 1, beyond));
    // A clock that was set back must not lengthen the wait beyond what it can be.
    const last = Math.min(this.#last, now + this.#underWay * longestStep);
    return Math.max(0, last + step - now);
  }

  /** Takes the next place. */
  begin(now: number): void {
    this.#last = now + this.wait(now);
    this.#underWay += 1;
  }

  end(now: number, outcome: 'right' | 'wrong' | 'unknown'): void {
    this.#underWay -= 1;
    if (outcome === 'wrong') this.#wrong.raise(now, this.#burst + beyond);
  }

  forgive(): void {
    this.#wrong.clear();
  }

  #over(now: number): number {
    return Math.ceil(this.#wrong.at(now)) + this.#underWay + 1 - this.#burst;
  }
}
