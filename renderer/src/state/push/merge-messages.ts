import type { PushMessage } from '../../../../services/contracts/push/api.ts';

/** The newest messages of a topic after a reload, newest first. */
export interface NewestMessages {
  readonly messages: readonly PushMessage[];
  /** Sequences whose messages may be among the older ones. */
  readonly cleared: readonly string[];
  readonly deleted: readonly string[];
  /** Position where older messages start; null when there are none. */
  readonly next: number | null;
}

/**
 * Merges reloaded messages with the older ones. `whole` means that no older messages were kept, because there may be
 * a gap or there are none.
 */
export function mergeMessages(
  existing: readonly PushMessage[],
  reloaded: NewestMessages,
): { messages: readonly PushMessage[]; isComplete: boolean } {
  const { next } = reloaded;
  const newest = existing[0]?.seq ?? 0;
  if (next === null || newest < next) return { messages: reloaded.messages, isComplete: true };
  const reloadedSequences = new Set(reloaded.messages.map(({ sequence }) => sequence));
  const [cleared, deleted] = [new Set(reloaded.cleared), new Set(reloaded.deleted)];
  const older = existing.flatMap((message) => {
    if (message.seq >= next || reloadedSequences.has(message.sequence) || deleted.has(message.sequence)) return [];
    return cleared.has(message.sequence) ? [{ ...message, cleared: true }] : [message];
  });
  return { messages: [...reloaded.messages, ...older], isComplete: older.length === 0 };
}
