import { implement, type ApiHandler } from '../../../contracts/api.ts';
import { pushRetentionApi, type RetentionRule } from '../../../contracts/push/retention.ts';
import { invalidField } from '../../domain/invalid-field.ts';
import type { Retention } from '../../retention/retention.ts';

/** Our own API around how long messages are kept. `otherwise`: what the setting says, in seconds. */
export function retentionHandlers(retention: Retention, otherwise: () => number): readonly ApiHandler[] {
  const shown = (): { rules: RetentionRule[]; otherwise: number } => ({
    rules: retention.rules.map(({ pattern, seconds, most }) => ({ topic: pattern, seconds, most })),
    otherwise: otherwise(),
  });
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
