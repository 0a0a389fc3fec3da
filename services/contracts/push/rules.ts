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
        'A topic, or a pattern in which `*` matches any text. If several patterns match a topic, the longest ' +
          'pattern applies.',
      ),
    mode: z
      .enum(['normal', 'silent', 'always'])
      .describe(
        '`normal`: messages with priority 3 are held during quiet hours; `always`: they are always shown; ' +
          '`silent`: messages are shown without sound or pop-ups.',
      ),
    quiet: z
      .array(QuietHours)
      .max(20)
      .default([])
      .describe(
        'For `normal`: quiet hours such as `mon-fri 22:00-07:00`. If empty, the hours of the next shorter ' +
          'matching pattern apply.',
      ),
    repeatMinutes: z
      .int()
      .min(0)
      .max(1440)
      .nullable()
      .default(null)
      .describe(
        'Interval in minutes at which messages with priority 5 are repeated until they are acknowledged; 0 ' +
          'disables repetition; null uses the value of the next shorter matching pattern.',
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
    .describe("Time zone of the quiet hours; null for the computer's time zone."),
  muted: z.array(MutedTopic).max(200).default([]).describe('Topics that are muted temporarily.'),
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
