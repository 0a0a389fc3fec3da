import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushRetentionApi, type KeptByRule, type RetentionRule } from '../../contracts/push/retention.ts';
import type { Context } from '../../contracts/service.ts';
import { invalidField } from '../domain/invalid-field.ts';
import { ruleFor, type Rule } from '../domain/retention.ts';
import type { Retention } from '../retention/retention.ts';
import { MessageHistoryStore } from '../store/message-history.ts';

/** Topics that are counted at most, those with the newest messages. */
const mostTopics = 20_000;

interface RetentionApiParts {
  readonly context: Pick<Context, 'clock' | 'reads'>;
  readonly retention: Retention;
  /** What the setting says, in seconds. */
  readonly otherwise: () => number;
}

/** Our own API around how long messages are kept. */
export function retentionHandlers({ context, retention, otherwise }: RetentionApiParts): readonly ApiHandler[] {
  const browse = new MessageHistoryStore(context.reads);
  const keptBy = async (rules: readonly Rule[]): Promise<KeptByRule[]> => {
    if (rules.length === 0) return [];
    const topics = await browse.topics(Math.floor(context.clock.now() / 1000), mostTopics);
    const byRule = Map.groupBy(topics, ({ name }) => ruleFor(rules, name));
    return rules.map((rule) => {
      const decided = byRule.get(rule) ?? [];
      return { topics: decided.length, messages: decided.reduce((sum, { messages }) => sum + messages, 0) };
    });
  };
  const shown = async (): Promise<{ rules: RetentionRule[]; kept: KeptByRule[]; otherwise: number }> => {
    const { rules } = retention;
    return {
      rules: rules.map(({ pattern, seconds, most }) => ({ topic: pattern, seconds, most })),
      kept: await keptBy(rules),
      otherwise: otherwise(),
    };
  };
  return [
    implement(pushRetentionApi.read, shown),
    implement(pushRetentionApi.replace, async ({ body: { rules } }) => {
      const twice = rules.findIndex(({ topic }, index) => rules.slice(0, index).some((other) => other.topic === topic));
      if (twice >= 0) throw invalidField(`rules.${String(twice)}.topic`, 'There is a rule for this topic already.');
      await retention.replace(rules.map(({ topic, seconds, most }) => ({ pattern: topic, seconds, most })));
      return shown();
    }),
  ];
}
