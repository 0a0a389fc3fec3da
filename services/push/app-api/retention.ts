import * as m from '#messages/push-problems';
import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushRetentionApi, type RetentionUsage, type RetentionRule } from '../../contracts/push/retention.ts';
import type { Context } from '../../contracts/service.ts';
import { invalidField } from '../domain/invalid-field.ts';
import { findRule, type Rule } from '../domain/retention.ts';
import type { Retention } from '../retention/retention.ts';
import { MessageHistoryStore } from '../store/message-history.ts';

/** Maximum number of topics counted, most recently used first. */
const maxTopics = 20_000;

interface RetentionApiDependencies {
  readonly context: Pick<Context, 'clock' | 'reads'>;
  readonly retention: Retention;
  /** Retention of topics without a rule, in seconds. */
  readonly defaultSeconds: () => number;
}

/** Handlers for retention rules. */
export function retentionHandlers({
  context,
  retention,
  defaultSeconds,
}: RetentionApiDependencies): readonly ApiHandler[] {
  const history = new MessageHistoryStore(context.reads);
  const countByRule = async (rules: readonly Rule[]): Promise<RetentionUsage[]> => {
    if (rules.length === 0) return [];
    const topics = await history.topics(Math.floor(context.clock.now() / 1000), maxTopics);
    const byRule = Map.groupBy(topics, ({ name }) => findRule(rules, name));
    return rules.map((rule) => {
      const matching = byRule.get(rule) ?? [];
      return { topics: matching.length, messages: matching.reduce((sum, { messages }) => sum + messages, 0) };
    });
  };
  const readRules = async (): Promise<{ rules: RetentionRule[]; kept: RetentionUsage[]; otherwise: number }> => {
    const { rules } = retention;
    return {
      rules: rules.map(({ pattern, seconds, most }) => ({ topic: pattern, seconds, most })),
      kept: await countByRule(rules),
      otherwise: defaultSeconds(),
    };
  };
  return [
    implement(pushRetentionApi.read, readRules),
    implement(pushRetentionApi.replace, async ({ body: { rules } }) => {
      const duplicate = rules.findIndex(({ topic }, index) =>
        rules.slice(0, index).some((other) => other.topic === topic),
      );
      if (duplicate >= 0) throw invalidField(`rules.${String(duplicate)}.topic`, m.ruleExists());
      await retention.replace(rules.map(({ topic, seconds, most }) => ({ pattern: topic, seconds, most })));
      return readRules();
    }),
  ];
}
