import { pushStored } from '../../../../services/contracts/push/topics.ts';
import { pushQuietApi, type PushQuiet, type PushQuietState } from '../../../../services/contracts/push/quiet.ts';
import type { PushRule } from '../../../../services/contracts/push/rules.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';
import { session } from '../../state/session.svelte.ts';
import { ownHoursOf } from '../settings/quiet-hours.ts';
import { settings } from '../settings/settings.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';

const none: PushQuiet = { rules: [], zone: null, popups: false };

/** The own rules for what push topics do without being asked, and what they hold back now. */
class PushQuietHours extends Loadable {
  quiet = $state.raw(none);
  /** The administrator whose rules the popups of this machine follow; null: nobody. */
  popupsFollow = $state.raw<string | null>(null);
  machineZone = $state('');
  held = $state.raw<PushQuietState['held']>([]);
  urgent = $state.raw<PushQuietState['urgent']>([]);
  #watched = 0;
  /** Counts readings and changes: an answer that was overtaken is not shown. */
  #turn = 0;

  constructor() {
    super();
    live.on(pushStored, () => this.#refresh());
    live.onReset(() => this.#refresh());
  }

  /** Follows what is held until the returned function is called. */
  watch(): () => void {
    this.#watched += 1;
    void this.load();
    return () => (this.#watched -= 1);
  }

  async load(): Promise<void> {
    const turn = (this.#turn += 1);
    await this.readOnce(
      () => call(pushQuietApi.read),
      (state) => this.#show(state),
      () => turn !== this.#turn,
    );
  }

  /** @throws Problem with `fields` such as `rules.2.quiet.0`. */
  async save(change: Partial<PushQuiet>): Promise<void> {
    const turn = (this.#turn += 1);
    const popups = this.popupsFollow === null ? !(await hasOwnHours()) && this.quiet.popups : this.quiet.popups;
    const state = await call(pushQuietApi.change, { body: { ...this.quiet, popups, ...change } });
    if (turn === this.#turn) this.#show(state);
  }

  /** Saves at once, with a way back. */
  async change(change: Partial<PushQuiet>, said: string): Promise<void> {
    const before = this.quiet;
    try {
      await this.save(change);
      toasts.show(said, { undo: () => this.save(before) });
    } catch (error) {
      toasts.showError(error);
    }
  }

  /** Puts a rule in place of the one for these topics; empty: a new one. @throws Problem with `fields` of the rule. */
  async put(topics: string, rule: PushRule): Promise<void> {
    const { rules } = this.quiet;
    const at = rules.findIndex((each) => each.topics === topics);
    await this.save({ rules: at < 0 ? [...rules, rule] : rules.with(at, rule) });
  }

  async remove(topics: string): Promise<void> {
    const rules = this.quiet.rules.filter((rule) => rule.topics !== topics);
    await this.change({ rules }, `Removed the rule for ${topics}.`);
  }

  async acknowledge(id: string): Promise<void> {
    const before = this.urgent;
    this.urgent = before.filter((message) => message.id !== id);
    try {
      await call(pushQuietApi.acknowledge, { body: { id } });
    } catch (error) {
      this.urgent = before;
      toasts.showError(error);
    }
  }

  #show({ quiet, popupsFollow, machineZone, held, urgent }: PushQuietState): void {
    this.quiet = quiet;
    this.popupsFollow = popupsFollow;
    this.machineZone = machineZone;
    this.held = held;
    this.urgent = urgent;
    this.phase = 'ready';
  }

  #refresh(): void {
    if (this.#watched > 0) void this.load();
  }
}

/** Rules that somebody saves must not put the hours of popups aside that were set before there were any rules. */
async function hasOwnHours(): Promise<boolean> {
  if (!session.isAdmin) return false;
  if (settings.phase !== 'ready') await settings.load();
  return ownHoursOf(settings.view).length > 0;
}

export const pushQuiet = new PushQuietHours();
