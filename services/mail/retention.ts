import type { MessageStore } from './store/messages.ts';
import type { Spool } from './store/spool.ts';

/** At most so many mails a round; the next hour takes the rest. */
const roundSize = 1000;

/**
 * Forgets mails received before `time`, in ms since the epoch: the source first, so that a crash in between leaves a row
 * that the next round takes, and then files without a row, which a crash before the commit left.
 */
export async function clearSpool(messages: MessageStore, spool: Spool, time: number): Promise<void> {
  const ids = await messages.listBefore(time, roundSize);
  for (const id of ids) await spool.remove(id);
  if (ids.length > 0) await messages.remove(ids);
  for (const id of await spool.listBefore(time)) await spool.remove(id);
}
