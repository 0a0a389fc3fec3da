import type * as Emoji from '../../../parts/text/emoji.ts';

/** Emoji of tags. They are loaded separately, because the names of all emoji are larger than the rest of the inbox. */
class TagEmoji {
  #module = $state.raw<Pick<typeof Emoji, 'findFirstEmoji'>>();

  /** Loads the names; without them, rows show the icon of their source. */
  load(): void {
    import('../../../parts/text/emoji.ts').then(
      (module) => (this.#module = module),
      () => undefined,
    );
  }

  /** Finds the emoji of the first tag that has one. */
  find(tags: readonly string[]): string | undefined {
    return this.#module?.findFirstEmoji(tags);
  }
}

export const tagEmoji = new TagEmoji();
