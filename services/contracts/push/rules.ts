import * as m from '#messages/push-problems';
import { z } from 'zod';
import { defineTopic } from '../bus.ts';
import { isQuiet, QuietHours, parseQuietSpans, getQuietEnd, createWallClock, type QuietSpan } from '../quiet-hours.ts';
import { matchesWildcardParts } from '../wildcards.ts';
import { isZone } from '../zone.ts';
import { TopicName } from './topics.ts';

/** Delivery rule for the topics that match a pattern. */
export const PushRule = z
  .object({
    topics: z
      .string()
      .regex(/^[-_*A-Za-z0-9]{1,64}$/, { error: m.topicPatternInvalid })
      .describe(
        'A topic, or a pattern with `*` for any run of characters. The longest pattern that fits a topic wins.',
      ),
    mode: z
      .enum(['normal', 'silent', 'always'])
      .describe(
        '`normal`: priority 3 waits while it is quiet; `always`: it does not; `silent`: nothing of it makes a ' +
          'sound or pops up.',
      ),
    quiet: z
      .array(QuietHours)
      .max(20)
      .default([])
      .describe(
        'For `normal`: lines such as `mon-fri 22:00-07:00`; without any those of the next shorter pattern count.',
      ),
    repeatMinutes: z
      .int()
      .min(0)
      .max(1440)
      .nullable()
      .default(null)
      .describe(
        'How often priority 5 comes again until it is acknowledged; 0: it does not; null: what the next shorter ' +
          'pattern says.',
      ),
  })
  .meta({ id: 'PushRule' });
export type PushRule = z.infer<typeof PushRule>;

/** Topic whose messages wait until a time, except urgent ones; a summary follows. */
export const MutedTopic = z
  .object({ topic: TopicName, until: z.number().describe('ms since the epoch') })
  .meta({ id: 'PushMutedTopic' });
export type MutedTopic = z.infer<typeof MutedTopic>;

/** Delivery rules of an account for popups and web push. Streams and polls receive every message regardless. */
export const PushRules = z.object({
  rules: z
    .array(PushRule)
    .max(100)
    .superRefine((rules, context) => {
      for (const [index, { topics }] of rules.entries()) {
        if (rules.findIndex((other) => other.topics === topics) === index) continue;
        context.addIssue({
          code: 'custom',
          path: [index, 'topics'],
          message: m.rulePatternExists(),
        });
      }
    })
    .default([]),
  zone: z
    .string()
    .max(64)
    .refine(isZone, { error: m.timeZoneInvalid })
    .nullable()
    .default(null)
    .describe('Time zone of the quiet hours; null: that of the machine.'),
  muted: z.array(MutedTopic).max(200).default([]).describe('Topics that are muted for a time.'),
});
export type PushRules = z.infer<typeof PushRules>;

/** Delivery of a message: `quietly` shows it without sound, `hold` delays it for a summary. */
export type PushOutcome = 'show' | 'quietly' | 'hold';

/** Effective rule of one topic. */
interface TopicRule {
  readonly mode: PushRule['mode'];
  readonly spans: readonly QuietSpan[];
  readonly repeatMinutes: number | null;
}

/** Maximum number of topics with a cached rule. */
const maxCachedTopics = 2000;

/** Evaluates the rules of an account for messages. Times are ms since the epoch. */
export class PushRuleEvaluator {
  readonly #rules: readonly (PushRule & { readonly pieces: readonly string[] })[];
  readonly #mutedUntil: ReadonlyMap<string, number>;
  readonly #wall: (time: number) => number;
  readonly #cache = new Map<string, TopicRule>();
  #currentMinute: { readonly minute: number; readonly wallMinute: number } | undefined;

  constructor({ rules, zone, muted }: PushRules) {
    this.#mutedUntil = new Map(muted.map(({ topic, until }) => [topic, until]));
    this.#rules = rules
      .map((rule) => ({ ...rule, pieces: rule.topics.split('*') }))
      .sort((a, b) => b.topics.length - a.topics.length);
    const wall = createWallClock(zone ?? undefined);
    // Many messages in a row fall into the same minute.
    this.#wall = (time) => {
      const minute = Math.floor(time / 60_000);
      if (this.#currentMinute?.minute !== minute) this.#currentMinute = { minute, wallMinute: wall(time) };
      return this.#currentMinute.wallMinute;
    };
  }

  /**
   * Returns the delivery of a message: priority 1 and 2 are silent, 3 is held during quiet hours, 4 and 5 are shown.
   * Messages of a muted topic are held, except urgent ones.
   */
  outcome(topic: string, priority: number, time: number): PushOutcome {
    const { mode, spans } = this.#rule(topic);
    if (mode === 'silent') return 'quietly';
    if (priority < 5 && time < (this.#mutedUntil.get(topic) ?? 0)) return 'hold';
    if (priority <= 2) return 'quietly';
    return mode === 'normal' && priority === 3 && isQuiet(spans, this.#wall, time) ? 'hold' : 'show';
  }

  /** Returns the end of the topic's current quiet hours, Infinity for never; undefined outside of quiet hours. */
  quietUntil(topic: string, time: number): number | undefined {
    const { mode, spans } = this.#rule(topic);
    return mode === 'normal' ? getQuietEnd(spans, this.#wall, time) : undefined;
  }

  /** Returns the repeat interval of urgent messages in minutes; 0: no repeats; null: no rule defines it. */
  repeatMinutes(topic: string): number | null {
    const { mode, repeatMinutes } = this.#rule(topic);
    return mode === 'silent' ? 0 : repeatMinutes;
  }

  #rule(topic: string): TopicRule {
    const cached = this.#cache.get(topic);
    if (cached !== undefined) return cached;
    const matching = this.#rules.filter(({ pieces }) => matchesWildcardParts(pieces, topic));
    const lines = matching.find(({ mode, quiet }) => mode === 'normal' && quiet.length > 0)?.quiet ?? [];
    const rule = {
      mode: matching[0]?.mode ?? 'normal',
      spans: parseQuietSpans(lines),
      repeatMinutes: matching.find(({ repeatMinutes }) => repeatMinutes !== null)?.repeatMinutes ?? null,
    };
    if (this.#cache.size >= maxCachedTopics) this.#cache.clear();
    this.#cache.set(topic, rule);
    return rule;
  }
}

/** Rules for the popups of this computer, with the account they belong to. */
export const PushPopupRules = PushRules.extend({
  /** Name of the account; null for none, with an empty list of rules. */
  follows: z.string().nullable().default(null),
});
export type PushPopupRules = z.infer<typeof PushPopupRules>;

/** Published when push starts and after each change. */
export const pushPopupRules = defineTopic('push.popup-rules', PushPopupRules, { retained: true });
