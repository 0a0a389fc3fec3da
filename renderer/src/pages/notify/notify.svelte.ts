import { SvelteSet } from 'svelte/reactivity';
import { notifyApi, type NotifyDestination, type NotifyKey } from '../../../../services/contracts/notify/api.ts';
import type { DeliveryArguments } from '../../../../services/contracts/notify/delivery.ts';
import type { DestinationForm, FormValues } from '../../../../services/contracts/notify/forms.ts';
import type { NotifyKeyOptions } from '../../../../services/contracts/notify/options.ts';
import { notifyActivity } from '../../../../services/contracts/notify/notification.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { oneAtATime } from '../../state/one-at-a-time.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { Loaded } from '../../state/loaded.svelte.ts';
import { Removals } from '../../state/removals.svelte.ts';

/** A destination as it is written: an address, or a filled-in form. */
export interface DestinationDraft {
  readonly url?: string;
  readonly form?: { readonly scheme: string; readonly values: FormValues };
  readonly tags: string[];
  /** What is new in how it is told. */
  readonly delivery: DeliveryArguments;
}

/** The keys of the aggregator with their destinations. */
class Notify extends Loaded {
  forms = $state.raw<readonly DestinationForm[]>([]);
  #all = $state.raw<readonly NotifyKey[]>([]);
  /** Keys and destinations that were removed, while that can still be undone. */
  readonly #leaving = new Removals();
  readonly keys = $derived(
    this.#all
      .filter(({ key }) => !this.#leaving.has(key))
      .map((key) => ({
        ...key,
        destinations: key.destinations.filter((each) => !this.#leaving.has(nameOf(key.key, each))),
      })),
  );
  /** Keys that were removed in this window: an address that still names one is not a wrong one. */
  readonly removedHere = new SvelteSet<string>();
  #watched = false;
  /** Counts what was changed here: a list that was read before that is not shown. */
  #changes = 0;
  readonly #soon = oneAtATime(() => this.#read());

  constructor() {
    super();
    live.on(notifyActivity, () => this.#again());
    live.onReset(() => this.#again());
  }

  /** Keeps the keys up to date until the returned function is called. */
  watch(): () => void {
    this.#watched = true;
    void this.load();
    return () => {
      this.#watched = false;
    };
  }

  load(): Promise<void> {
    return this.#soon();
  }

  /** `withoutTag`: what was answered to the question whom a notice without a tag reaches. */
  async create(key: string, text: string, withoutTag?: NotifyKeyOptions['withoutTag']): Promise<void> {
    this.#take(await call(notifyApi.createKey, { body: { key, text } }));
    await this.#answer(key, withoutTag);
  }

  async rename(key: string, to: string): Promise<void> {
    const renamed = await call(notifyApi.renameKey, { params: { key }, body: { to } });
    this.#take(renamed, key);
  }

  async importText(key: string, text: string, withoutTag?: NotifyKeyOptions['withoutTag']): Promise<void> {
    this.#take(await call(notifyApi.importKey, { params: { key }, body: { text } }));
    await this.#answer(key, withoutTag);
  }

  /** Shows what was chosen at once, and what there was again when it cannot be kept. */
  async choose(key: string, options: NotifyKeyOptions): Promise<void> {
    const before = this.#all.find((each) => each.key === key)?.options;
    this.#change(key, { options });
    try {
      this.#take(await call(notifyApi.chooseOptions, { params: { key }, body: options }));
    } catch (error) {
      if (before !== undefined) this.#change(key, { options: before });
      toasts.sayWhy(error);
    }
  }

  /** Gives a key the secret that programs sign with; null takes it away. @throws Problem with `fields`. */
  async sign(key: string, secret: string | null): Promise<void> {
    const { signed } = await call(notifyApi.chooseSecret, { params: { key }, body: { secret } });
    this.#change(key, { signed });
  }

  /** Takes a key out of sight at once; it is removed for good when the way back is gone. */
  removeKey(key: string): void {
    this.removedHere.add(key);
    this.#leave(key, `The key ${key} is removed.`, async () => {
      await call(notifyApi.removeKey, { params: { key }, keepalive: true });
    });
  }

  async add(key: string, draft: DestinationDraft): Promise<void> {
    this.#take(await call(notifyApi.addDestination, { params: { key }, body: draft }));
  }

  async change(key: string, { line, id }: NotifyDestination, draft: DestinationDraft): Promise<void> {
    this.#take(await call(notifyApi.changeDestination, { params: { key }, body: { line, id, ...draft } }));
  }

  removeDestination(key: string, destination: NotifyDestination): void {
    const { line, id } = destination;
    this.#leave(nameOf(key, destination), 'The destination is removed.', async () => {
      await call(notifyApi.removeDestination, { params: { key }, body: { line, id }, keepalive: true });
    });
  }

  async #answer(key: string, withoutTag: NotifyKeyOptions['withoutTag'] | undefined): Promise<void> {
    const options = this.#all.find((each) => each.key === key)?.options;
    if (options === undefined || withoutTag === undefined || options.withoutTag === withoutTag) return;
    await this.choose(key, { ...options, withoutTag });
  }

  #leave(name: string, words: string, remove: () => Promise<void>): void {
    this.#leaving.take([name], { words, remove, renew: () => this.load() });
  }

  async #read(): Promise<void> {
    await live.opened();
    const changes = this.#changes;
    await this.reading(
      async () => {
        if (this.forms.length === 0) this.forms = (await call(notifyApi.forms)).forms;
        return call(notifyApi.keys);
      },
      ({ keys }) => (this.#all = keys),
      () => changes !== this.#changes,
    );
    if (changes !== this.#changes) void this.load();
  }

  #again(): void {
    if (this.#watched) void this.load();
  }

  #change(key: string, fields: Partial<NotifyKey>): void {
    this.#changes += 1;
    this.#all = this.#all.map((each) => (each.key === key ? { ...each, ...fields } : each));
  }

  /** Shows a key as the host has it now; `was`: the name it had. */
  #take(key: NotifyKey, was = key.key): void {
    this.#changes += 1;
    const others = this.#all.filter((each) => each.key !== key.key && each.key !== was);
    this.#all = [...others, key].sort((a, b) => a.key.localeCompare(b.key));
  }
}

function nameOf(key: string, { line, id }: NotifyDestination): string {
  return `${key} ${String(line)} ${id}`;
}

export const notify = new Notify();
