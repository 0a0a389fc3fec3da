import type { PushMessage } from '../../../../services/contracts/push/api.ts';

/** The newest messages of a topic as they were just read, newest first. */
export interface Joined {
  readonly messages: readonly PushMessage[];
  /** Sequences whose messages may be among the older ones. */
  readonly cleared: readonly string[];
  readonly deleted: readonly string[];
  /** Where older ones begin; null when these are all. */
  readonly next: number | null;
}

/**
 * Puts what was read anew before what is known of older ones. `whole`: nothing older was kept, since there is a gap between or
 * nothing older exists.
 */
export function joined(
  known: readonly PushMessage[],
  fresh: Joined,
): { messages: readonly PushMessage[]; whole: boolean } {
  const { next } = fresh;
  const newest = known[0]?.seq ?? 0;
  if (next === null || newest < next) return { messages: fresh.messages, whole: true };
  const came = new Set(fresh.messages.map(({ sequence }) => sequence));
  const [cleared, deleted] = [new Set(fresh.cleared), new Set(fresh.deleted)];
  const older = known.flatMap((message) => {
    if (message.seq >= next || came.has(message.sequence) || deleted.has(message.sequence)) return [];
    return cleared.has(message.sequence) ? [{ ...message, cleared: true }] : [message];
  });
  return { messages: [...fresh.messages, ...older], whole: older.length === 0 };
}
