import type { MessageStore } from './store/messages.ts';
import type { Sources } from './store/sources.ts';

/** At most so many mails a round; the next hour takes the rest. */
const roundSize = 1000;

/**
 * Forgets mails received before `time`, in ms since the epoch: files first, so that a crash in between leaves a row
 * that the next round takes, and then files without a row, which a crash before the commit left.
 */
export async function clearSpool(messages: MessageStore, sources: Sources, time: number): Promise<void> {
  const ids = await messages.listBefore(time, roundSize);
  await sources.removeFiles(ids);
  if (ids.length > 0) await messages.remove(ids);
  await sources.removeFiles(await sources.listFilesBefore(time));
}
