import type { Context } from '../../contracts/service.ts';
import type { Settings } from '../settings.ts';
import type { MessageStore } from './messages.ts';
import type { Sources } from './sources.ts';

/** Maximum number of mails per run; the next run continues. */
const maxPerRun = 1000;
/** Number of mails per statement, because a source has many pages. */
const batchSize = 100;

const hourMs = 3_600_000;

/** Deletes expired mails every hour. */
export function startRetention(
  { clock, log }: Pick<Context, 'clock' | 'log'>,
  settings: Readonly<Pick<Settings, 'spoolDays'>>,
  messages: MessageStore,
  sources: Sources,
): Disposable {
  return clock.every(hourMs, () => {
    const before = clock.now() - settings.spoolDays * 24 * hourMs;
    clearSpool(messages, sources, before).catch((error: unknown) => log.warn('spool cleanup failed', { error }));
  });
}

/**
 * Deletes mails received before `time` (ms since the epoch): files first, so that after a crash the next run finds the
 * rows, and then files without row from an interrupted commit.
 */
export async function clearSpool(messages: MessageStore, sources: Sources, time: number): Promise<void> {
  const oldIds = await messages.listBefore(time, maxPerRun);
  for (let start = 0; start < oldIds.length; start += batchSize) {
    const ids = oldIds.slice(start, start + batchSize);
    await sources.removeFiles(ids);
    await messages.remove(ids);
  }
  await sources.removeFiles(await sources.listFilesBefore(time));
}
