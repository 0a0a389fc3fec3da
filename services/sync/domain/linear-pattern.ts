/** Matches one character or any number of characters, or continues at each of the target positions. */
type Instruction =
  | { readonly kind: 'one' | 'many'; readonly fits: (letter: string) => boolean }
  | { readonly kind: 'on'; readonly to: number[] };

/**
 * Path pattern whose run time is proportional to the length of the path times the length of the pattern, for any input:
 * users write patterns, and others choose the file names. Matches the whole path, or a suffix after a slash if it is not
 * `anchored`.
 */
export class LinearPattern {
  readonly #program: Instruction[] = [];
  readonly #anchored: boolean;
  #open: { readonly choice: number[]; readonly ends: number[][] } | undefined;

  constructor(anchored: boolean) {
    this.#anchored = anchored;
  }

  one(fits: (letter: string) => boolean): void {
    this.#program.push({ kind: 'one', fits });
  }

  many(fits: (letter: string) => boolean): void {
    this.#program.push({ kind: 'many', fits });
  }

  /** Begins a group of alternatives that `or` separates and `close` ends. Groups are not nested. */
  open(): void {
    const choice = this.#goOn();
    this.#open = { choice, ends: [] };
    choice.push(this.#program.length);
  }

  or(): void {
    this.#open?.ends.push(this.#goOn());
    this.#open?.choice.push(this.#program.length);
  }

  close(): void {
    for (const end of this.#open?.ends ?? []) end.push(this.#program.length);
    this.#open = undefined;
  }

  test(path: string): boolean {
    let places = this.#onward(new Set([0]));
    for (let at = 0; at < path.length; at++) {
      const letter = path.charAt(at);
      const next = new Set<number>();
      for (const place of places) {
        const found = this.#program[place];
        if (found === undefined || found.kind === 'on' || !found.fits(letter)) continue;
        next.add(found.kind === 'one' ? place + 1 : place);
      }
      if (letter === '/' && !this.#anchored) next.add(0);
      else if (next.size === 0 && this.#anchored) return false;
      places = this.#onward(next);
    }
    return places.has(this.#program.length);
  }

  #goOn(): number[] {
    const to: number[] = [];
    this.#program.push({ kind: 'on', to });
    return to;
  }

  /** Adds the positions that are reachable without consuming a character. */
  #onward(places: Set<number>): Set<number> {
    // Iteration includes positions that are added to the set meanwhile.
    for (const place of places) {
      const found = this.#program[place];
      if (found?.kind === 'many') places.add(place + 1);
      else if (found?.kind === 'on') for (const next of found.to) places.add(next);
    }
    return places;
  }
}
