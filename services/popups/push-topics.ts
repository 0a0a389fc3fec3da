import { z } from 'zod';
import { PushRuleEvaluator, PushPopupRules, type PushOutcome } from '../contracts/push/rules.ts';
import { SavedTally, Tally, type CountedMessage } from './tally.ts';

export const SavedPushTopics = z.object({
  /** Saved, so that messages are held after a restart before push has published its rules again. */
  rules: PushPopupRules.default({ rules: [], zone: null, muted: [], follows: null }),
  held: z.record(z.string(), SavedTally).default({}),
});

/**
 * Quiet-hours rules of push topics and the messages they hold back. Messages of other sources have the topic '', to
 * which the rule for all topics applies. Times are ms since the epoch.
 */
export class PushTopics {
  readonly #heldTallies: Map<string, Tally>;
  #rules: PushPopupRules;
  #judge: PushRuleEvaluator;

  constructor({ rules, held: tally }: z.infer<typeof SavedPushTopics>) {
    this.#rules = rules;
    this.#judge = new PushRuleEvaluator(rules);
    this.#heldTallies = new Map(Object.entries(tally).map(([topic, savedTally]) => [topic, Tally.from(savedTally)]));
  }

  /** Number of held messages. */
  get size(): number {
    return [...this.#heldTallies.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** True when the rules of an account apply; the computer's own quiet hours are then ignored. */
  get isFollowing(): boolean {
    return this.#rules.follows !== null;
  }

  /** Returns the end of the quiet hours of all topics, Infinity for never; undefined when it is not quiet. */
  quietUntil(now: number): number | undefined {
    return this.#judge.quietUntil('', now);
  }

  follow(rules: PushPopupRules): void {
    this.#rules = rules;
    this.#judge = new PushRuleEvaluator(rules);
  }

  /** Returns the outcome of the rules for a message. */
  outcome({ topic, priority }: { readonly topic: string; readonly priority: number }, now: number): PushOutcome {
    return this.#judge.outcome(topic, priority, now);
  }

  /** Returns the minutes between two popups of an urgent message; null to use the setting. */
  repeatMinutes(topic: string): number | null {
    return this.#judge.repeatMinutes(topic);
  }

  hold(topic: string, row: CountedMessage): void {
    const tally = this.#heldTallies.get(topic) ?? new Tally();
    tally.add([row]);
    this.#heldTallies.set(topic, tally);
  }

  /** Returns true when one of them was held. */
  remove(ids: readonly number[]): boolean {
    let removed = false;
    for (const [topic, tally] of this.#heldTallies) {
      removed = tally.remove(ids) || removed;
      if (tally.size === 0) this.#heldTallies.delete(topic);
    }
    return removed;
  }

  /** Removes and returns messages that are no longer held; messages of topics silenced in the meantime are dropped. */
  takeEnded(now: number): Tally {
    const ended = new Tally();
    for (const [topic, tally] of this.#heldTallies) {
      const outcome = this.#judge.outcome(topic, 3, now);
      if (outcome === 'hold') continue;
      this.#heldTallies.delete(topic);
      if (outcome === 'show') ended.add(tally.rows, tally.more);
    }
    return ended;
  }

  toSaved(): z.infer<typeof SavedPushTopics> {
    const entries = [...this.#heldTallies].map(([topic, tally]) => [topic, tally.toSaved()] as const);
    return { rules: this.#rules, held: Object.fromEntries(entries) };
  }
}
