import * as m from '#messages/notify';
import { SvelteSet } from 'svelte/reactivity';
import { compareNames } from '../../../../services/contracts/compare-names.ts';
import { notifyApi, type NotifyDestination, type NotifyKey } from '../../../../services/contracts/notify/api.ts';
import type { DeliveryArguments } from '../../../../services/contracts/notify/delivery.ts';
import type { DestinationForm, FormValues } from '../../../../services/contracts/notify/forms.ts';
import type { NotifyKeyOptions } from '../../../../services/contracts/notify/options.ts';
import { notifyActivity } from '../../../../services/contracts/notify/notification.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { runExclusive } from '../../state/run-exclusive.ts';
import { toasts } from '../../state/toasts.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';
import { Removals } from '../../state/removals.svelte.ts';

/** A destination that is being edited: an address or a filled-in form. */
export interface DestinationDraft {
  readonly url?: string;
  readonly form?: { readonly scheme: string; readonly values: FormValues };
  readonly tags: string[];
  /** Changed delivery options. */
  readonly delivery: DeliveryArguments;
}

/** The configuration keys with their destinations. */
class Notify extends Loadable {
  forms = $state.raw<readonly DestinationForm[]>([]);
  #all = $state.raw<readonly NotifyKey[]>([]);
  /** Keys and destinations that were removed while Undo is possible. */
  readonly #removals = new Removals();
  readonly keys = $derived(
    this.#all
      .filter(({ key }) => !this.#removals.has(key))
      .map((key) => ({
        ...key,
        destinations: key.destinations.filter((each) => !this.#removals.has(getDestinationKey(key.key, each))),
      })),
  );
  /** Keys that were removed in this window: an address with one of them is not an error. */
  readonly removedHere = new SvelteSet<string>();
  #isObserved = false;
  /** Incremented with each local change: a list that was requested before a change is not applied. */
  #changes = 0;
  readonly #readOnce = runExclusive(() => this.#read());

  constructor() {
    super();
    live.on(notifyActivity, () => this.#reload());
    live.onReset(() => this.#reload());
    live.onLanguageChange([notifyApi.keys], () => this.#reload());
    live.onLanguageChange([notifyApi.forms], () => void this.#reloadForms());
  }

  /** Keeps the keys up to date until the returned function is called. */
  observe(): () => void {
    this.#isObserved = true;
    void this.load();
    return () => {
      this.#isObserved = false;
    };
  }

  load(): Promise<void> {
    return this.#readOnce();
  }

  /** Creates a key; `withoutTag` sets the recipients of notifications without a tag. */
  async create(key: string, text: string, withoutTag?: NotifyKeyOptions['withoutTag']): Promise<void> {
    this.#apply(await call(notifyApi.createKey, { body: { key, text } }));
    await this.#setWithoutTag(key, withoutTag);
  }

  async rename(key: string, to: string): Promise<void> {
    const renamed = await call(notifyApi.renameKey, { params: { key }, body: { to } });
    this.#apply(renamed, key);
  }

  async importText(key: string, text: string, withoutTag?: NotifyKeyOptions['withoutTag']): Promise<void> {
    this.#apply(await call(notifyApi.importKey, { params: { key }, body: { text } }));
    await this.#setWithoutTag(key, withoutTag);
  }

  /** Applies options immediately and reverts them when they cannot be saved. */
  async setOptions(key: string, options: NotifyKeyOptions): Promise<void> {
    const before = this.#all.find((each) => each.key === key)?.options;
    this.#update(key, { options });
    try {
      this.#apply(await call(notifyApi.chooseOptions, { params: { key }, body: options }));
    } catch (error) {
      if (before !== undefined) this.#update(key, { options: before });
      toasts.showError(error);
    }
  }

  /**
   * Sets the secret that programs sign with; null removes it.
   * @throws Problem with `fields`.
   */
  async setSecret(key: string, secret: string | null): Promise<void> {
    const { signed } = await call(notifyApi.chooseSecret, { params: { key }, body: { secret } });
    this.#update(key, { signed });
  }

  /** Hides a key immediately and deletes it when Undo has expired. */
  removeKey(key: string): void {
    this.removedHere.add(key);
    this.#removeWithUndo(key, m.theKeyKeyIsRemoved({ key }), async () => {
      await call(notifyApi.removeKey, { params: { key }, keepalive: true });
    });
  }

  async add(key: string, draft: DestinationDraft): Promise<void> {
    this.#apply(await call(notifyApi.addDestination, { params: { key }, body: draft }));
  }

  async change(key: string, { line, id }: NotifyDestination, draft: DestinationDraft): Promise<void> {
    this.#apply(await call(notifyApi.changeDestination, { params: { key }, body: { line, id, ...draft } }));
  }

  removeDestination(key: string, destination: NotifyDestination): void {
    const { line, id } = destination;
    this.#removeWithUndo(getDestinationKey(key, destination), m.theDestinationIsRemoved(), async () => {
      await call(notifyApi.removeDestination, { params: { key }, body: { line, id }, keepalive: true });
    });
  }

  async #setWithoutTag(key: string, withoutTag: NotifyKeyOptions['withoutTag'] | undefined): Promise<void> {
    const options = this.#all.find((each) => each.key === key)?.options;
    if (options === undefined || withoutTag === undefined || options.withoutTag === withoutTag) return;
    await this.setOptions(key, { ...options, withoutTag });
  }

  #removeWithUndo(name: string, message: string, remove: () => Promise<void>): void {
    this.#removals.hideAndRemove([name], { message: message, remove, reload: () => this.load() });
  }

  async #read(): Promise<void> {
    await live.opened();
    const changes = this.#changes;
    await this.readOnce(
      async () => {
        if (this.forms.length === 0) this.forms = (await call(notifyApi.forms)).forms;
        return call(notifyApi.keys);
      },
      ({ keys }) => (this.#all = keys),
      () => changes !== this.#changes,
    );
    if (changes !== this.#changes) void this.load();
  }

  /** Loads the forms in the language that the page has now; after a failure the earlier texts stay. */
  async #reloadForms(): Promise<void> {
    const reply = await call(notifyApi.forms).catch(() => undefined);
    if (reply !== undefined) this.forms = reply.forms;
  }

  #reload(): void {
    if (this.#isObserved) void this.load();
  }

  #update(key: string, fields: Partial<NotifyKey>): void {
    this.#changes += 1;
    this.#all = this.#all.map((each) => (each.key === key ? { ...each, ...fields } : each));
  }

  /** Applies a key as sent by the host; `was` is its former name. */
  #apply(key: NotifyKey, formerName = key.key): void {
    this.#changes += 1;
    const others = this.#all.filter((each) => each.key !== key.key && each.key !== formerName);
    this.#all = [...others, key].sort((a, b) => compareNames(a.key, b.key));
  }
}

function getDestinationKey(key: string, { line, id }: NotifyDestination): string {
  return `${key} ${String(line)} ${id}`;
}

export const notify = new Notify();
