import * as m from '#messages/mail';
import type { SettingsField } from '../../../../services/contracts/control/settings.ts';
import { Problem } from '../../../../services/contracts/problem.ts';
import { settings } from '../../state/settings.svelte.ts';
import { getErrorsAt } from '../../state/submission.svelte.ts';

/**
 * A setting that is a list, as shown and changed by the page of its service. Values are read from the settings each
 * time, because a change may be saved after the page closed, when derived values are no longer updated.
 */
export class ListSetting<Item> {
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

  /** Source that fixes the value, such as an environment variable; null when it can be changed here. */
  get lockedBy(): string | null {
    return this.#field?.lockedBy ?? null;
  }

  /** True when the setting is loaded and can be changed here. */
  get isEditable(): boolean {
    return this.#field !== undefined && this.lockedBy === null;
  }

  /**
   * Saves the list.
   * @throws Problem with `fields` by path.
   */
  async save(items: readonly Item[], options?: { readonly keepalive?: boolean }): Promise<void> {
    await settings.save(this.#section, { [this.#name]: items }, options);
  }

  /**
   * Replaces an item at its current position, or appends a new one if `was` is undefined.
   * @throws Problem with `fields` by the names in the item.
   */
  async replaceOrAppend(previous: Item | undefined, item: Item): Promise<void> {
    const text = JSON.stringify(previous);
    const { length } = this.items;
    const index = previous === undefined ? length : this.items.findIndex((each) => JSON.stringify(each) === text);
    if (index < 0) {
      throw new Problem('page.changed', 409, m.changedMeanwhile());
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
