import * as m from '#messages/notifications';
import { pushStored } from '../../../../services/contracts/push/topics.ts';
import { pushQuietApi, type PushQuiet, type PushQuietState } from '../../../../services/contracts/push/quiet.ts';
import type { PushRule } from '../../../../services/contracts/push/rules.ts';
import { call } from '../../api/call.ts';
import { live } from '../../state/live.svelte.ts';
import { Loadable } from '../../state/loadable.svelte.ts';
import { session } from '../../state/session.svelte.ts';
import { getPopupHours } from '../settings-form/fields/quiet-hours.ts';
import { settings } from '../../state/settings.svelte.ts';
import { toasts } from '../../state/toasts.svelte.ts';

const noRules: PushQuiet = { rules: [], zone: null, muted: [], popups: false };

/** The account's quiet rules for push topics, and the messages that are held back now. */
class PushQuietRules extends Loadable {
  quiet = $state.raw(noRules);
  /** The administrator whose rules apply to the popups on this computer; null for none. */
  popupsFollow = $state.raw<string | null>(null);
  machineZone = $state('');
  held = $state.raw<PushQuietState['held']>([]);
  urgent = $state.raw<PushQuietState['urgent']>([]);
  #observers = 0;
  /** Incremented with each load and change, so that outdated replies are dropped. */
  #turn = 0;

  constructor() {
    super();
    live.on(pushStored, () => this.#refresh());
    live.onReset(() => this.#refresh());
  }

  /** Keeps the held messages up to date until the returned function is called. */
  observe(): () => void {
    this.#observers += 1;
    void this.load();
    return () => (this.#observers -= 1);
  }

  async load(): Promise<void> {
    const turn = (this.#turn += 1);
    await this.readOnce(
      () => call(pushQuietApi.read),
      (state) => this.#show(state),
      () => turn !== this.#turn,
    );
  }

  /**
   * Saves changed rules.
   * @throws Problem with `fields` such as `rules.2.quiet.0`.
   */
  async save(change: Partial<PushQuiet>): Promise<void> {
    const turn = (this.#turn += 1);
    const popups = this.popupsFollow === null ? !(await hasPopupHours()) && this.quiet.popups : this.quiet.popups;
    const state = await call(pushQuietApi.change, { body: { ...this.quiet, popups, ...change } });
    if (turn === this.#turn) this.#show(state);
  }

  /** Saves immediately, with Undo. */
  async change(change: Partial<PushQuiet>, message: string): Promise<void> {
    const before = this.quiet;
    try {
      await this.save(change);
      toasts.show(message, { undo: () => this.save(before) });
    } catch (error) {
      toasts.showError(error);
    }
  }

  /**
   * Replaces the rule for these topics, or adds one.
   * @throws Problem with `fields` of the rule.
   */
  async replaceRule(topics: string, rule: PushRule): Promise<void> {
    const { rules } = this.quiet;
    const index = rules.findIndex((each) => each.topics === topics);
    await this.save({ rules: index < 0 ? [...rules, rule] : rules.with(index, rule) });
  }

  async remove(topics: string): Promise<void> {
    const rules = this.quiet.rules.filter((rule) => rule.topics !== topics);
    await this.change({ rules }, m.removedTheRuleForTopics({ topics }));
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
    if (this.#observers > 0) void this.load();
  }
}

/** Saving rules must not disable the quiet hours of popups that were set before there were any rules. */
async function hasPopupHours(): Promise<boolean> {
  if (!session.isAdmin) return false;
  if (settings.phase !== 'ready') await settings.load();
  return getPopupHours(settings.view).length > 0;
}

export const pushQuietRules = new PushQuietRules();
