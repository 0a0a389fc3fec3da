import { onDestroy } from 'svelte';
import { toasts } from '../../state/toasts.svelte.ts';
import type { ListedSetting } from './listed-setting.svelte.ts';

/** The gateway starts anew with each order it is given; who moves an item by several places gives it one. */
const pauseMs = 1000;

/** The order of a listed setting while someone changes it: kept once nothing has moved for a moment, with a way back. */
export class SettingOrder<Item> {
  readonly #setting: ListedSetting<Item>;
  #moved = $state.raw<readonly Item[]>();
  #due: ReturnType<typeof setTimeout> | undefined;
  readonly items = $derived.by(() => this.#moved ?? this.#setting.items);

  constructor(setting: ListedSetting<Item>) {
    this.#setting = setting;
    onDestroy(() => void this.keep());
  }

  /** Puts an item where another one stands. */
  move(item: Item, place: Item): void {
    const next = this.items.filter((each) => each !== item);
    this.#moved = next.toSpliced(this.items.indexOf(place), 0, item);
    clearTimeout(this.#due);
    this.#due = setTimeout(() => void this.keep(), pauseMs);
  }

  /** Saves at once what was moved. */
  async keep(): Promise<void> {
    const [before, next] = [this.#setting.items, this.#moved];
    this.forget();
    // What was added or removed meanwhile is not undone by an order without it.
    if (next === undefined || keysOf(next).toSorted().join() !== keysOf(before).toSorted().join()) return;
    this.#moved = next;
    try {
      await this.#setting.save(next, { keepalive: true });
      toasts.say('The new order is kept.', { undo: () => this.#setting.save(before) });
    } catch (error) {
      toasts.sayWhy(error);
    } finally {
      if (this.#moved === next) this.#moved = undefined;
    }
  }

  /** Back to what is saved. */
  forget(): void {
    clearTimeout(this.#due);
    this.#moved = undefined;
  }
}

/** A name for each item that stays while it moves and is saved; two may say the same. */
export function keysOf(items: readonly unknown[]): readonly string[] {
  const texts = items.map((item) => JSON.stringify(item));
  return texts.map((text, at) => `${text} ${String(texts.slice(0, at).filter((each) => each === text).length)}`);
}
