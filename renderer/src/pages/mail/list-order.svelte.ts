import { onDestroy } from 'svelte';
import { toasts } from '../../state/toasts.svelte.ts';
import type { ListedSetting } from './list-setting.ts';

/** The gateway starts anew with each order it is given; who moves an item by several places gives it one. */
const pauseMs = 1000;

/** The order of a listed setting while someone changes it: kept once nothing has moved for a moment, with a way back. */
export class SettingOrder<Item> {
  readonly #setting: ListedSetting<Item>;
  readonly #isGone: (item: Item) => boolean;
  #moved = $state.raw<readonly Item[]>();
  #due: ReturnType<typeof setTimeout> | undefined;
  readonly items = $derived.by(() => this.#moved ?? this.#setting.items);

  /** `isGone`: an item is removed for good, though the setting may not say so yet. */
  constructor(setting: ListedSetting<Item>, isGone: (item: Item) => boolean = () => false) {
    this.#setting = setting;
    this.#isGone = isGone;
    onDestroy(() => void this.keep({ keepalive: true }));
  }

  /** Puts an item where another one stands. */
  move(item: Item, place: Item): void {
    const next = this.items.filter((each) => each !== item);
    this.#moved = next.toSpliced(this.items.indexOf(place), 0, item);
    clearTimeout(this.#due);
    this.#due = setTimeout(() => void this.keep(), pauseMs);
  }

  /** Saves at once what was moved; `keepalive` outlives the page, which browsers allow for 64 KiB. */
  async keep(options?: { readonly keepalive?: boolean }): Promise<void> {
    const [before, next] = [this.#kept(this.#setting.items), this.#moved && this.#kept(this.#moved)];
    this.forget();
    // What was added or removed meanwhile is not undone by an order without it.
    if (next === undefined || !sameItems(next, before)) return;
    this.#moved = next;
    try {
      await this.#setting.save(next, options);
      toasts.show('The new order is kept.', { undo: () => this.#putBack(before) });
    } catch (error) {
      toasts.showError(error);
    } finally {
      if (this.#moved === next) this.#moved = undefined;
    }
  }

  async #putBack(before: readonly Item[]): Promise<void> {
    if (sameItems(before, this.#setting.items)) await this.#setting.save(before);
    else toasts.show('The list was changed meanwhile, so its order stays.');
  }

  #kept(items: readonly Item[]): readonly Item[] {
    return items.filter((item) => !this.#isGone(item));
  }

  /** Back to what is saved. */
  forget(): void {
    clearTimeout(this.#due);
    this.#moved = undefined;
  }
}

function sameItems(one: readonly unknown[], other: readonly unknown[]): boolean {
  return keysOf(one).toSorted().join() === keysOf(other).toSorted().join();
}

/** A name for each item that stays while it moves and is saved; two may say the same. */
export function keysOf(items: readonly unknown[]): readonly string[] {
  const texts = items.map((item) => JSON.stringify(item));
  return texts.map((text, at) => `${text} ${String(texts.slice(0, at).filter((each) => each === text).length)}`);
}
