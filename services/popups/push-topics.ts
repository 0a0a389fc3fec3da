import { z } from 'zod';
import { PushRuleEvaluator, PushPopupRules, type PushOutcome } from '../contracts/push/rules.ts';
import { SavedTally, Tally, type Counted } from './tally.ts';

export const SavedPushTopics = z.object({
  /** Kept, since a restart within the quiet is to hold on before push has told its rules again. */
  rules: PushPopupRules.default({ rules: [], zone: null, follows: null }),
  held: z.record(z.string(), SavedTally).default({}),
});

/**
 * The rules that a person gave push topics, and what they hold back from the popups. What came another way than through
 * push has the topic '', which the rule of all topics fits. Times are ms since the epoch.
 */
export class PushTopics {
  readonly #held: Map<string, Tally>;
  #rules: PushPopupRules;
  #judge: PushRuleEvaluator;

  constructor({ rules, held }: z.infer<typeof SavedPushTopics>) {
    this.#rules = rules;
    this.#judge = new PushRuleEvaluator(rules);
    this.#held = new Map(Object.entries(held).map(([topic, saved]) => [topic, Tally.from(saved)]));
  }

  /** How many are held. */
  get size(): number {
    return [...this.#held.values()].reduce((sum, { size }) => sum + size, 0);
  }

  /** Somebody's rules are followed: the machine's own quiet hours do not count. */
  get isFollowing(): boolean {
    return this.#rules.follows !== null;
  }

  /** When the quiet of all topics ends, Infinity for never; undefined while it is not quiet. */
  quietUntil(now: number): number | undefined {
    return this.#judge.quietUntil('', now);
  }

  follow(rules: PushPopupRules): void {
    this.#rules = rules;
    this.#judge = new PushRuleEvaluator(rules);
  }

  /** What the rules say of a message. */
  outcome({ topic, priority }: { readonly topic: string; readonly priority: number }, now: number): PushOutcome {
    return this.#judge.outcome(topic, priority, now);
  }

  /** Minutes between two popups of an urgent message; null: as the settings say. */
  repeatMinutes(topic: string): number | null {
    return this.#judge.repeatMinutes(topic);
  }

  hold(topic: string, row: Counted): void {
    const held = this.#held.get(topic) ?? new Tally();
    held.add([row]);
    this.#held.set(topic, held);
  }

  /** True when one of them was held. */
  remove(ids: readonly number[]): boolean {
    let removed = false;
    for (const [topic, held] of this.#held) {
      removed = held.remove(ids) || removed;
      if (held.size === 0) this.#held.delete(topic);
    }
    return removed;
  }

  /** Takes what is held no longer; what its topic's rule made silent meanwhile is not told at all. */
  takeEnded(now: number): Tally {
    const ended = new Tally();
    for (const [topic, held] of this.#held) {
      const outcome = this.#judge.outcome(topic, 3, now);
      if (outcome === 'hold') continue;
      this.#held.delete(topic);
      if (outcome === 'show') ended.add(held.rows, held.more);
    }
    return ended;
  }

  saved(): z.infer<typeof SavedPushTopics> {
    const held = [...this.#held].map(([topic, tally]) => [topic, tally.saved()] as const);
    return { rules: this.#rules, held: Object.fromEntries(held) };
  }
}
