import { SvelteMap } from 'svelte/reactivity';
import type { SettingsField } from '../../../../services/contracts/control/settings.ts';
import { session } from '../../state/session.svelte.ts';

/** What was changed in forms of settings and is not saved yet: it is still there when a person comes back to the page. */
class Drafts {
  /** By the path of the field, and whose it is. */
  readonly #values = new SvelteMap<string, unknown>();

  constructor() {
    addEventListener('beforeunload', (event) => {
      // Reloading the page would lose it: the browser asks.
      if (this.#values.size > 0) event.preventDefault();
    });
  }

  has(field: SettingsField): boolean {
    return this.#values.has(keyOf(field));
  }

  /** The value as it would be after saving. */
  valueOf(field: SettingsField): unknown {
    return this.has(field) ? this.#values.get(keyOf(field)) : field.value;
  }

  set(field: SettingsField, next: unknown): void {
    if (JSON.stringify(next) === JSON.stringify(field.value)) this.#values.delete(keyOf(field));
    else this.#values.set(keyOf(field), next);
  }

  drop(fields: readonly SettingsField[]): void {
    for (const field of fields) this.#values.delete(keyOf(field));
  }
}

/** What one person has typed is no other's. */
function keyOf({ path }: SettingsField): string {
  return `${session.person?.name ?? ''} ${path}`;
}

export const drafts = new Drafts();
