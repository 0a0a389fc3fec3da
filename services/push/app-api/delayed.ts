import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushPlannedApi, type PlannedMessage } from '../../contracts/push/delayed.ts';
import type { Clock } from '../../contracts/service.ts';
import { defaultPriority } from '../domain/priority.ts';
import { readStored } from '../subscribe/envelope.ts';
import type { DelayedMessages } from '../delayed/delayed-messages.ts';
import type { DelayedPosition, DelayedMessage } from '../store/delayed-messages.ts';
import { dueOf, requireIdentity } from './fields.ts';

export interface PlannedRouteParts {
  readonly planned: DelayedMessages;
  readonly clock: Clock;
  /** Seconds that a message may be put off. */
  readonly longestDelay: () => number;
}

const done = { ok: true } as const;

/** Our own API around messages that wait for their time. */
export function delayedHandlers({ planned, clock, longestDelay }: PlannedRouteParts): readonly ApiHandler[] {
  return [
    implement(pushPlannedApi.list, async ({ identity, query: { after, limit } }) => {
      const { messages, total } = await planned.list(requireIdentity(identity), placeOf(after), limit);
      const last = messages.length < limit ? undefined : messages.at(-1);
      const next = last === undefined ? null : `${String(last.time)}.${String(last.seq)}`;
      return { messages: messages.map(shown), next, total };
    }),

    implement(pushPlannedApi.change, async ({ identity, params, body }) => {
      const time = dueOf(body.at, clock.now(), longestDelay(), 'at') ?? 0;
      return shown(await planned.move(requireIdentity(identity), params['id'] ?? '', time));
    }),

    implement(pushPlannedApi.publish, async ({ identity, params }) => {
      await planned.publish(requireIdentity(identity), params['id'] ?? '');
      return done;
    }),

    implement(pushPlannedApi.cancel, async ({ identity, params }) => {
      await planned.cancel(requireIdentity(identity), params['id'] ?? '');
      return done;
    }),
  ];
}

function placeOf(after: string | undefined): DelayedPosition {
  const [time = 0, seq = 0] = (after ?? '').split('.').map(Number);
  return { time, seq };
}

function shown({ id, topic, time, text, account }: DelayedMessage): PlannedMessage {
  const { title = '', message = '', priority = defaultPriority, tags = [], attachment } = readStored(text);
  return {
    ...{ id, topic, title, message, priority, tags: [...tags], due: time * 1000, account },
    attachment: attachment?.name ?? null,
  };
}
