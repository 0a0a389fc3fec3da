import type { SettingsField } from '../../../../services/contracts/control/settings.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { settings } from '../settings/settings.svelte.ts';
import { getErrorsAt } from '../../state/submission.svelte.ts';

/**
 * A setting that is a list of things of one kind, as a page of its service shows and changes it. What it tells is read anew
 * each time: a removal or an order may be saved when its page is gone, and what a page derived is old from then on.
 */
export class ListedSetting<Item> {
  readonly #section: string;
  readonly #name: string;

  constructor(section: string, name: string) {
    this.#section = section;
    this.#name = name;
  }

  get #field(): SettingsField | undefined {
    return settings.view.sections
      .find(({ id }) => id === this.#section)
      ?.fields.find(({ name }) => name === this.#name);
  }

  get items(): readonly Item[] {
    return (this.#field?.value ?? []) as readonly Item[];
  }

  /** What sets it from outside, such as an environment variable; null: it can be changed here. */
  get lockedBy(): string | null {
    return this.#field?.lockedBy ?? null;
  }

  /** It is read, and can be changed here. */
  get isFree(): boolean {
    return this.#field !== undefined && this.lockedBy === null;
  }

  /** @throws Problem with `fields` by path. */
  async save(items: readonly Item[], options?: { readonly keepalive?: boolean }): Promise<void> {
    await settings.save(this.#section, { [this.#name]: items }, options);
  }

  /**
   * Keeps an item in place of what it was, wherever that stands by now; undefined: behind the others.
   * @throws Problem with `fields` by the names they have in the item.
   */
  async put(was: Item | undefined, item: Item): Promise<void> {
    const text = JSON.stringify(was);
    const { length } = this.items;
    const index = was === undefined ? length : this.items.findIndex((each) => JSON.stringify(each) === text);
    if (index < 0) {
      throw new Problem('page.changed', 409, 'It was changed elsewhere meanwhile. Close this and open it again.');
    }
    try {
      await this.save(index === length ? [...this.items, item] : this.items.with(index, item));
    } catch (error) {
      if (!(error instanceof Problem)) throw error;
      const fields = getErrorsAt(`services.${this.#section}.${this.#name}.${String(index)}`, error.fields);
      throw new Problem(error.code, error.status, error.detail, { fields, cause: error });
    }
  }
}
