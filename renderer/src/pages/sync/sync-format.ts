import * as m from '#messages/sync';
import { defineDateFormat } from '../../../../messages/format.ts';
import type { SyncJob, SyncTask } from '../../../../services/contracts/sync/api.ts';
import type { SyncRemote } from '../../../../services/contracts/sync/remotes.ts';
import { formatAgo, formatBytes, isYesterday, formatMoment } from '../../parts/text/format.ts';
import type { IconName } from '../../icons/icons.ts';

type Tone = 'plain' | 'sea' | 'ok' | 'warn' | 'bad' | 'lamp';

/** Formats the state of a job as a tag. */
export function formatJobState({ state, kind, totals }: Pick<SyncJob, 'state' | 'kind' | 'totals'>): {
  text: string;
  tone: Tone;
} {
  switch (state) {
    case 'waiting':
      return { text: m.waiting(), tone: 'plain' };
    case 'running':
      return { text: kind === 'preview' ? m.previewing() : m.running(), tone: 'sea' };
    case 'done':
      if (totals.errors > 0) return { text: m.errorCount({ count: totals.errors }), tone: 'warn' };
      return { text: kind === 'preview' ? m.previewed() : m.done(), tone: 'ok' };
    case 'held':
      return { text: m.waitsForYou(), tone: 'lamp' };
    case 'failed':
      return { text: m.failed(), tone: 'bad' };
    case 'stopped':
      return { text: m.stopped(), tone: 'warn' };
    case 'interrupted':
      return { text: m.interrupted(), tone: 'warn' };
  }
}

const jobKindLabels: ReadonlyMap<string, () => string> = new Map([
  ['run', m.savedSync],
  ['preview', m.preview],
  ['undo', m.undo],
  ['sync/sync', m.syncByProgram],
  ['sync/copy', m.copyByProgram],
  ['sync/move', m.moveByProgram],
  ['sync/bisync', m.bisyncByProgram],
  ['operations/copyfile', m.copyFileByProgram],
  ['operations/movefile', m.moveFileByProgram],
  ['operations/deletefile', m.deleteFileByProgram],
  ['operations/purge', m.purgeByProgram],
  ['operations/check', m.checkByProgram],
  ['files/copy', m.copyFiles],
  ['files/move', m.moveFiles],
  ['files/delete', m.deleteFiles],
]);

/** Checks that a run did not finish all of its work, so that it can be repeated. */
export function isUnfinished({ state, kind, totals }: Pick<SyncJob, 'state' | 'kind' | 'totals'>): boolean {
  if (kind !== 'run') return false;
  return (
    state === 'failed' || state === 'interrupted' || state === 'stopped' || (state === 'done' && totals.errors > 0)
  );
}

/** Formats the kind of a job; rare calls keep their API name. */
export function formatJobKind(kind: string): string {
  return jobKindLabels.get(kind)?.() ?? m.byProgram({ kind });
}

/** Kinds that copy files: without transfers there was nothing to copy. */
const copyKinds: readonly string[] = ['run', 'sync/sync', 'sync/copy', 'sync/move', 'sync/bisync'];

/** Lists the changes of a job: `2 files copied`, `1 deleted`; empty if there is nothing to report. */
export function listChanges({ kind, state, totals: { transfers, deletes } }: SyncJob): readonly string[] {
  const isIdle = transfers === 0 && deletes === 0 && state === 'done' && copyKinds.includes(kind);
  const formatDeleted = transfers > 0 ? m.deletedCount : m.filesDeleted;
  return [
    ...(transfers > 0 ? [m.filesCopied({ count: transfers })] : []),
    ...(deletes > 0 ? [formatDeleted({ count: deletes })] : []),
    ...(isIdle ? [m.nothingToCopy()] : []),
  ];
}

/** Formats size and duration: `1.9 MB in 12 s`. Omits durations below a second. */
export function formatEffort({ totals, startedAt, endedAt }: SyncJob): string {
  const size = formatCopiedSize({ totals });
  if (endedAt === null || endedAt - startedAt < 1000) return size;
  const time = formatElapsed(endedAt - startedAt);
  return size === '' ? m.took({ time }) : m.sizeInTime({ size, time });
}

/** Formats the copied size: `1.9 MB`; empty for 0. */
export function formatCopiedSize({ totals }: Pick<SyncJob, 'totals'>): string {
  return totals.bytes > 0 ? formatBytes(totals.bytes) : '';
}

/** Formats the duration of a job up to its end or now. */
export function formatJobDuration({ startedAt, endedAt }: Pick<SyncJob, 'startedAt' | 'endedAt'>, now: number): string {
  return formatElapsed(Math.max(0, (endedAt ?? now) - startedAt));
}

/** Describes the effect on the destination. `days` is the retention of replaced files, if known. */
export function describeMode({ mode, keepReplaced }: Pick<SyncTask, 'mode' | 'keepReplaced'>, days?: number): string {
  if (mode === 'copy') return m.copyMode();
  if (!keepReplaced) return m.mirrorMode();
  return days === undefined ? m.mirrorModeUndoable() : m.mirrorModeUndoableFor({ days });
}

function formatElapsed(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (ms < 1000) return m.underOneSecond();
  if (seconds < 60) return m.elapsedSeconds({ seconds });
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return m.elapsedMinutes({ minutes });
  const hours = Math.floor(minutes / 60);
  return minutes % 60 === 0 ? m.elapsedHours({ hours }) : m.elapsedHoursMinutes({ hours, minutes: minutes % 60 });
}

const formatClock = defineDateFormat({ hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const formatDayAndClock = defineDateFormat({
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** Formats a future time: `today, 14:30`, `tomorrow, 03:30`, `Sun, Nov 29, 03:00`. */
export function formatUpcomingTime(time: number, now: number): string {
  const tomorrow = new Date(now);
  tomorrow.setDate(tomorrow.getDate() + 1);
  const day = new Date(time).toDateString();
  if (day === new Date(now).toDateString()) return m.todayAt({ time: formatClock(time) });
  return day === tomorrow.toDateString() ? m.tomorrowAt({ time: formatClock(time) }) : formatDayAndClock(time);
}

/** Formats a past time: `4 min ago`, `14:05`, `yesterday, 03:00`, `Tue, Nov 24, 03:00`. */
export function formatPastTime(time: number, now: number): string {
  if (isYesterday(time, now)) return m.yesterdayAt({ time: formatClock(time) });
  return new Date(time).toDateString() === new Date(now).toDateString()
    ? formatAgo(time, now)
    : formatMoment(time, now);
}

/**
 * Returns the words of the name of a sync that its initials are taken from: `Photos to the NAS` becomes `Photos NAS`.
 */
export function shortenForMark(name: string): string {
  const terms = name.split(' ').filter((word) => /^[\p{Lu}\p{N}]/u.test(word));
  return terms.length > 0 ? terms.join(' ') : name;
}

/** Formats the time of the next run. */
export function formatNextRun({ paused, nextAt, cron, last }: SyncTask, now: number): string {
  if (paused) return m.paused();
  if (nextAt !== null && (last?.state === 'failed' || last?.state === 'interrupted')) {
    return m.triesAgainAt({ time: formatUpcomingTime(nextAt, now) });
  }
  if (nextAt !== null) return m.nextRunAt({ time: formatUpcomingTime(nextAt, now) });
  return cron === null ? m.runsOnDemand() : '';
}

/** Display names of remote kinds; others use the rclone name. */
const remoteKindLabels: ReadonlyMap<string, () => string> = new Map([
  ['azureblob', m.azureStorage],
  ['b2', () => 'Backblaze B2'],
  ['box', () => 'Box'],
  ['crypt', m.encrypted],
  ['drive', () => 'Google Drive'],
  ['dropbox', () => 'Dropbox'],
  ['ftp', () => 'FTP'],
  ['http', m.website],
  ['onedrive', () => 'OneDrive'],
  ['pcloud', () => 'pCloud'],
  ['s3', m.s3Storage],
  ['sftp', () => 'SFTP'],
  ['smb', m.windowsShare],
  ['webdav', () => 'WebDAV'],
]);

/** Cloud services; kinds that are neither cloud nor folder are servers. */
const cloudKinds: ReadonlySet<string> = new Set([
  'azureblob',
  'b2',
  'box',
  'drive',
  'dropbox',
  'onedrive',
  'pcloud',
  's3',
]);

/** Returns the icon of a remote kind. */
export function getRemoteIcon(type: string): IconName {
  if (type === 'alias') return 'folder';
  if (type === 'crypt') return 'lock';
  return cloudKinds.has(type) ? 'cloud' : 'server';
}

/** Kinds whose summary is an address and a user. */
const serverKinds: ReadonlySet<string> = new Set(['ftp', 'sftp', 'smb', 'webdav']);

/** Returns kind, address and user of a remote: `WebDAV`, `https://attic.example/dav`, `user ada`. */
export function getRemoteFacts({ type, summary }: SyncRemote): string[] {
  // An alias names a local folder or a folder of another remote.
  const aliasLabel = /^(?:\/|[a-z]:[\\/])/i.test(summary) ? m.folderOnThisComputer() : m.folderOfAnotherRemote();
  const kind = type === 'alias' ? aliasLabel : (remoteKindLabels.get(type)?.() ?? type);
  const [address = '', ...others] = summary.split(' · ');
  const details = serverKinds.has(type) ? others.map((name) => m.remoteUser({ name })) : others;
  return [kind, address, ...details].filter((part) => part !== '');
}

/**
 * Formats source and destination by as many path segments as distinguish them: `…/photos → nas:photos`.
 * Non-breaking spaces keep the arrow within the line.
 */
export function formatRoute(source: string, destination: string): string {
  for (const parts of [1, 2, 3]) {
    const pathEnds = [source, destination].map((location) => getPathEnd(location, parts));
    if (pathEnds[0] !== pathEnds[1]) return pathEnds.join('\u00a0→\u00a0');
  }
  return `${source}\u00a0→\u00a0${destination}`;
}

function getPathEnd(location: string, parts: number): string {
  const [, remote = '', path = ''] = /^([^/:]+:)?(.*)$/s.exec(location) ?? [];
  const names = path.split('/').filter((name) => name !== '');
  if (names.length <= parts) return location.replace(/(?<=.)\/+$/, '');
  return `${remote}…/${names.slice(-parts).join('/')}`;
}
