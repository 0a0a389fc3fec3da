import { implement, type ApiHandler } from '../../contracts/api.ts';
import { pushDelayedApi, type DelayedMessage } from '../../contracts/push/delayed.ts';
import type { Clock } from '../../contracts/service.ts';
import { defaultPriority } from '../domain/priority.ts';
import { parseStoredMessage } from '../domain/stored-message.ts';
import type { DelayedMessages } from '../delayed/delayed-messages.ts';
import type { DelayedPosition, DelayedMessageRow } from '../store/delayed-messages.ts';
import { parseDueTime, requireIdentity } from './fields.ts';

export interface DelayedRouteDependencies {
  readonly delayedMessages: DelayedMessages;
  readonly clock: Clock;
  /** Maximum delay in seconds. */
  readonly maxDelaySeconds: () => number;
}

const success = { ok: true } as const;

/** Handlers for delayed messages. */
export function delayedHandlers({
  delayedMessages,
  clock,
  maxDelaySeconds,
}: DelayedRouteDependencies): readonly ApiHandler[] {
  return [
    implement(pushDelayedApi.list, async ({ identity, query: { after, limit } }) => {
      const { messages, total } = await delayedMessages.list(requireIdentity(identity), parsePosition(after), limit);
      const last = messages.length < limit ? undefined : messages.at(-1);
      const next = last === undefined ? null : `${String(last.time)}.${String(last.seq)}`;
      return { messages: messages.map(toDelayedMessage), next, total };
    }),

    implement(pushDelayedApi.change, async ({ identity, params, body }) => {
      const time = parseDueTime(body.at, clock.now(), maxDelaySeconds(), 'at') ?? 0;
      return toDelayedMessage(await delayedMessages.reschedule(requireIdentity(identity), params['id'] ?? '', time));
    }),

    implement(pushDelayedApi.publish, async ({ identity, params }) => {
      await delayedMessages.publish(requireIdentity(identity), params['id'] ?? '');
      return success;
    }),

    implement(pushDelayedApi.cancel, async ({ identity, params }) => {
      await delayedMessages.cancel(requireIdentity(identity), params['id'] ?? '');
      return success;
    }),
  ];
}

function parsePosition(after: string | undefined): DelayedPosition {
  const [time = 0, seq = 0] = (after ?? '').split('.').map(Number);
  return { time, seq };
}

function toDelayedMessage({ id, topic, time, text, account }: DelayedMessageRow): DelayedMessage {
  const { title = '', message = '', priority = defaultPriority, tags = [], attachment } = parseStoredMessage(text);
  return {
    id,
    topic,
    title,
    message,
    priority,
    tags: [...tags],
    due: time * 1000,
    account,
    attachment: attachment?.name ?? null,
  };
}
