import { SvelteMap } from 'svelte/reactivity';
import type { SettingsField } from '../../../../services/contracts/control/settings.ts';
import { session } from '../../state/session.svelte.ts';

/** What was changed in forms of settings and is not saved yet: it is still there when a person comes back to the page. */
class Drafts {
  /** By the path of the field, and whose it is. */
  readonly #values = new SvelteMap<string, unknown>();

  constructor() {
    addEventListener('beforeunload', (event) => {
      // Reloading the page would lose it: the browser asks. What somebody else typed here is nothing to ask this person.
      if ([...this.#values.keys()].some((key) => key.startsWith(keyOf({ path: '' })))) event.preventDefault();
    });
  }

  has(field: SettingsField): boolean {
    return this.#values.has(keyOf(field));
  }

  /** The value as it would be after saving. */
  valueOf(field: SettingsField): unknown {
    return this.has(field) ? this.#values.get(keyOf(field)) : field.value;
  }

  /** `saving`: what the field had before is a change as well, for it is about to have another value. */
  set(field: SettingsField, next: unknown, { saving = false } = {}): void {
    if (!saving && isSame(next, field.value)) this.#values.delete(keyOf(field));
    else this.#values.set(keyOf(field), next);
  }

  /** These values were saved; what was typed since then is kept. */
  saved(sent: readonly (readonly [SettingsField, unknown])[]): void {
    this.drop(sent.filter(([field, value]) => isSame(this.valueOf(field), value)).map(([field]) => field));
  }

  /** Forgets what is no change any more. */
  settle(fields: readonly SettingsField[]): void {
    this.drop(fields.filter((field) => isSame(this.valueOf(field), field.value)));
  }

  drop(fields: readonly SettingsField[]): void {
    for (const field of fields) this.#values.delete(keyOf(field));
  }
}

function isSame(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

/** What one person has typed is no other's. */
function keyOf({ path }: Pick<SettingsField, 'path'>): string {
  return `${session.account?.name ?? ''}\n${path}`;
}

export const drafts = new Drafts();
