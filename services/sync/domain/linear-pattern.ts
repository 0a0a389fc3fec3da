/** Matches one character or any number of characters, or continues at each of the target positions. */
type Instruction =
  | { readonly kind: 'one' | 'many'; readonly matches: (character: string) => boolean }
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

  one(matches: (character: string) => boolean): void {
    this.#program.push({ kind: 'one', matches });
  }

  many(matches: (character: string) => boolean): void {
    this.#program.push({ kind: 'many', matches });
  }

  /** Begins a group of alternatives that `or` separates and `close` ends. Groups are not nested. */
  open(): void {
    const choice = this.#addJump();
    this.#open = { choice, ends: [] };
    choice.push(this.#program.length);
  }

  or(): void {
    this.#open?.ends.push(this.#addJump());
    this.#open?.choice.push(this.#program.length);
  }

  close(): void {
    for (const end of this.#open?.ends ?? []) end.push(this.#program.length);
    this.#open = undefined;
  }

  test(path: string): boolean {
    let positions = this.#expand(new Set([0]));
    for (let index = 0; index < path.length; index++) {
      const character = path.charAt(index);
      const next = new Set<number>();
      for (const position of positions) {
        const instruction = this.#program[position];
        if (instruction === undefined || instruction.kind === 'on' || !instruction.matches(character)) continue;
        next.add(instruction.kind === 'one' ? position + 1 : position);
      }
      if (character === '/' && !this.#anchored) next.add(0);
      else if (next.size === 0 && this.#anchored) return false;
      positions = this.#expand(next);
    }
    return positions.has(this.#program.length);
  }

  #addJump(): number[] {
    const to: number[] = [];
    this.#program.push({ kind: 'on', to });
    return to;
  }

  /** Adds the positions that are reachable without consuming a character. */
  #expand(positions: Set<number>): Set<number> {
    // Iteration includes positions that are added to the set meanwhile.
    for (const position of positions) {
      const instruction = this.#program[position];
      if (instruction?.kind === 'many') positions.add(position + 1);
      else if (instruction?.kind === 'on') for (const next of instruction.to) positions.add(next);
    }
    return positions;
  }
}
