import * as m from '#messages/mail';
import { onDestroy } from 'svelte';
import { toasts } from '../../state/toasts.svelte.ts';
import type { ListSetting } from './list-setting.ts';

/** Delay in ms before a new order is saved, because the gateway restarts with each change. */
const saveDelayMs = 1000;

/** Order of a list setting while it is edited: it is saved, with Undo, after nothing has moved for a moment. */
export class ListOrder<Item> {
  readonly #setting: ListSetting<Item>;
  readonly #isDeleted: (item: Item) => boolean;
  #reordered = $state.raw<readonly Item[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  readonly items = $derived.by(() => this.#reordered ?? this.#setting.items);

  /** `isGone` reports items that are deleted although the setting still contains them. */
  constructor(setting: ListSetting<Item>, isDeleted: (item: Item) => boolean = () => false) {
    this.#setting = setting;
    this.#isDeleted = isDeleted;
    onDestroy(() => void this.save({ keepalive: true }));
  }

  /** Moves an item to the position of another one. */
  move(item: Item, target: Item): void {
    const next = this.items.filter((each) => each !== item);
    this.#reordered = next.toSpliced(this.items.indexOf(target), 0, item);
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.save(), saveDelayMs);
  }

  /**
   * Saves the new order immediately. `keepalive` completes the request after the page closed, which browsers limit to
   * 64 KiB.
   */
  async save(options?: { readonly keepalive?: boolean }): Promise<void> {
    const [before, next] = [
      this.#withoutDeleted(this.#setting.items),
      this.#reordered && this.#withoutDeleted(this.#reordered),
    ];
    this.discard();
    // An order does not undo items that were added or removed in the meantime.
    if (next === undefined || !haveSameItems(next, before)) return;
    this.#reordered = next;
    try {
      await this.#setting.save(next, options);
      toasts.show(m.theNewOrderIsKept(), { undo: () => this.#restore(before) });
    } catch (error) {
      toasts.showError(error);
    } finally {
      if (this.#reordered === next) this.#reordered = undefined;
    }
  }

  async #restore(before: readonly Item[]): Promise<void> {
    if (haveSameItems(before, this.#setting.items)) await this.#setting.save(before);
    else toasts.show(m.theListWasChangedMeanwhile());
  }

  #withoutDeleted(items: readonly Item[]): readonly Item[] {
    return items.filter((item) => !this.#isDeleted(item));
  }

  /** Discards the unsaved order. */
  discard(): void {
    clearTimeout(this.#timer);
    this.#reordered = undefined;
  }
}

function haveSameItems(first: readonly unknown[], second: readonly unknown[]): boolean {
  return buildKeys(first).toSorted().join() === buildKeys(second).toSorted().join();
}

/** Returns a key for each item that stays the same while it is moved and saved, even for equal items. */
export function buildKeys(items: readonly unknown[]): readonly string[] {
  const texts = items.map((item) => JSON.stringify(item));
  return texts.map((text, index) => `${text} ${String(texts.slice(0, index).filter((each) => each === text).length)}`);
}
