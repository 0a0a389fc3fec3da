import type { MessageStore } from './messages.ts';
import type { Sources } from './sources.ts';

/** At most so many mails a round; the next hour takes the rest. */
const roundSize = 1000;
/** In one statement, which nothing else can come between: a source has many pages. */
const batchSize = 100;

/**
 * Forgets mails received before `time`, in ms since the epoch: files first, so that a crash in between leaves a row
 * that the next round takes, and then files without a row, which a crash before the commit left.
 */
export async function clearSpool(messages: MessageStore, sources: Sources, time: number): Promise<void> {
  const old = await messages.listBefore(time, roundSize);
  for (let start = 0; start < old.length; start += batchSize) {
    const ids = old.slice(start, start + batchSize);
    await sources.removeFiles(ids);
    await messages.remove(ids);
  }
  await sources.removeFiles(await sources.listFilesBefore(time));
}
