import { SvelteMap } from 'svelte/reactivity';
import type { SettingsField } from '../../../../services/contracts/control/settings.ts';
import { session } from '../../state/session.svelte.ts';

/** Unsaved changes in settings forms, which are kept when the user leaves a page. */
class Drafts {
  /** Values by account and path of the field. */
  readonly #values = new SvelteMap<string, unknown>();

  constructor() {
    addEventListener('beforeunload', (event) => {
      // Reloading the page would lose changes, so the browser shows a confirmation. Changes of another account are
      // ignored.
      if ([...this.#values.keys()].some((key) => key.startsWith(buildKey({ path: '' })))) event.preventDefault();
    });
  }

  has(field: SettingsField): boolean {
    return this.#values.has(buildKey(field));
  }

  /** Returns the value that the field has after saving. */
  getValue(field: SettingsField): unknown {
    return this.has(field) ? this.#values.get(buildKey(field)) : field.value;
  }

  /**
   * Sets a value. While `saving`, the previous value is a change as well, because the field is about to have another
   * one.
   */
  set(field: SettingsField, next: unknown, { saving = false } = {}): void {
    if (!saving && isEqual(next, field.value)) this.#values.delete(buildKey(field));
    else this.#values.set(buildKey(field), next);
  }

  /** Removes the changes that were saved; later edits are kept. */
  removeSaved(sent: readonly (readonly [SettingsField, unknown])[]): void {
    this.discard(sent.filter(([field, value]) => isEqual(this.getValue(field), value)).map(([field]) => field));
  }

  /** Removes changes that equal the stored value. */
  removeUnchanged(fields: readonly SettingsField[]): void {
    this.discard(fields.filter((field) => isEqual(this.getValue(field), field.value)));
  }

  discard(fields: readonly SettingsField[]): void {
    for (const field of fields) this.#values.delete(buildKey(field));
  }
}

function isEqual(first: unknown, second: unknown): boolean {
  return JSON.stringify(first) === JSON.stringify(second);
}

/** Changes are separate for each account. */
function buildKey({ path }: Pick<SettingsField, 'path'>): string {
  return `${session.account?.name ?? ''}\n${path}`;
}

export const drafts = new Drafts();
