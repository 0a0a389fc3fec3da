import type { SyncJob, SyncTask } from '../../../../services/contracts/sync/api.ts';
import type { SyncRemote } from '../../../../services/contracts/sync/remotes.ts';
import { formatAgo, formatBytes, isYesterday, formatMoment } from '../../parts/text/format.ts';
import type { IconName } from '../../parts/text/icons.ts';

type Tone = 'plain' | 'sea' | 'ok' | 'warn' | 'bad' | 'lamp';

/** How a job stands, as a tag says it. */
export function stateWords({ state, kind, totals }: Pick<SyncJob, 'state' | 'kind' | 'totals'>): {
  text: string;
  tone: Tone;
} {
  switch (state) {
    case 'waiting':
      return { text: 'Waiting', tone: 'plain' };
    case 'running':
      return { text: kind === 'preview' ? 'Previewing' : 'Running', tone: 'sea' };
    case 'done':
      if (totals.errors > 0)
        return { text: totals.errors === 1 ? '1 error' : `${totals.errors.toLocaleString('en')} errors`, tone: 'warn' };
      return { text: kind === 'preview' ? 'Previewed' : 'Done', tone: 'ok' };
    case 'held':
      return { text: 'Waits for you', tone: 'lamp' };
    case 'failed':
      return { text: 'Failed', tone: 'bad' };
    case 'stopped':
      return { text: 'Stopped', tone: 'warn' };
    case 'interrupted':
      return { text: 'Interrupted', tone: 'warn' };
  }
}

const kinds: ReadonlyMap<string, string> = new Map([
  ['run', 'Saved sync'],
  ['preview', 'Preview'],
  ['undo', 'Undo'],
  ['sync/sync', 'Sync by a program'],
  ['sync/copy', 'Copy by a program'],
  ['sync/move', 'Move by a program'],
  ['sync/bisync', 'Two-way sync by a program'],
  ['operations/copyfile', 'Copy of a file by a program'],
  ['operations/movefile', 'Move of a file by a program'],
  ['operations/deletefile', 'Removal of a file by a program'],
  ['operations/purge', 'Removal of a folder by a program'],
  ['operations/check', 'Comparison by a program'],
]);

/** It has not done all that it was to do, so that another run may. */
export function isUnfinished({ state, kind, totals }: Pick<SyncJob, 'state' | 'kind' | 'totals'>): boolean {
  if (kind !== 'run') return false;
  return (
    state === 'failed' || state === 'interrupted' || state === 'stopped' || (state === 'done' && totals.errors > 0)
  );
}

/** Its source is gone: another run fails as well, until the folder is there again or another one is chosen. */
export function lacksSource({ state, detail }: Pick<SyncJob, 'state' | 'detail'>): boolean {
  return state === 'failed' && /\bdirectory not found\.?$/i.test(detail);
}

/** What a job was, in plain words; rarer calls of programs keep their name. */
export function kindWords(kind: string): string {
  return kinds.get(kind) ?? `${kind} by a program`;
}

/** What copies: when it ends without having done so there was nothing to copy. */
const copying: readonly string[] = ['run', 'sync/sync', 'sync/copy', 'sync/move', 'sync/bisync'];

/** What a job has changed: `2 files copied · 1 deleted`; empty where there is nothing to say. */
export function changedWords({ kind, state, totals: { transfers, deletes } }: SyncJob): string {
  const isIdle = transfers === 0 && deletes === 0 && state === 'done' && copying.includes(kind);
  const count = (number: number): string => number.toLocaleString('en');
  const parts = [
    ...(transfers > 0 ? [`${filesWords(transfers)} copied`] : []),
    ...(deletes > 0 ? [`${transfers > 0 ? count(deletes) : filesWords(deletes)} deleted`] : []),
    ...(isIdle ? ['Nothing to copy'] : []),
  ];
  return parts.join(' · ');
}

/** How much that was and how long it took, where that is worth a word: `1.9 MB in 12 s`. */
export function effortWords({ totals, startedAt, endedAt }: SyncJob): string {
  const size = sizeWords({ totals });
  if (endedAt === null || endedAt - startedAt < 1000) return size;
  return `${size === '' ? 'took' : `${size} in`} ${lengthWords(endedAt - startedAt)}`;
}

/** How much a run copied: `1.9 MB`; empty where that is nothing. */
export function sizeWords({ totals }: Pick<SyncJob, 'totals'>): string {
  return totals.bytes > 0 ? formatBytes(totals.bytes) : '';
}

/** How long it ran, or runs by now. */
export function lastedWords({ startedAt, endedAt }: Pick<SyncJob, 'startedAt' | 'endedAt'>, now: number): string {
  return lengthWords(Math.max(0, (endedAt ?? now) - startedAt));
}

/** What a saved sync does to its destination. `days`: so long what it replaces is kept, where that is known. */
export function modeWords({ mode, keepReplaced }: Pick<SyncTask, 'mode' | 'keepReplaced'>, days?: number): string {
  if (mode === 'copy') return 'Copies what is new or changed, and deletes nothing.';
  const deletes = 'Also deletes what is no longer at the source.';
  if (!keepReplaced) return `${deletes} That cannot be undone.`;
  const span = days === undefined ? 'a while' : days === 1 ? 'a day' : `${days.toLocaleString('en')} days`;
  return `${deletes} A run can be undone for ${span}.`;
}

/** `1 file`, `1,200 files` */
export function filesWords(count: number): string {
  return count === 1 ? '1 file' : `${count.toLocaleString('en')} files`;
}

function lengthWords(ms: number): string {
  const seconds = Math.round(ms / 1000);
  if (ms < 1000) return 'under 1 s';
  if (seconds < 60) return `${String(seconds)} s`;
  const minutes = Math.floor(seconds / 60);
  if (minutes < 60) return `${String(minutes)} min`;
  return `${String(Math.floor(minutes / 60))} h${minutes % 60 === 0 ? '' : ` ${String(minutes % 60)} min`}`;
}

const clockTime = new Intl.DateTimeFormat('en', { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' });
const moment = new Intl.DateTimeFormat('en', {
  weekday: 'short',
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  hourCycle: 'h23',
});

/** `today, 14:30`, `tomorrow, 03:30`, `Sun, Nov 29, 03:00` */
export function comingWords(time: number, now: number): string {
  const tomorrow = new Date(now);
  tomorrow.setDate(tomorrow.getDate() + 1);
  const day = new Date(time).toDateString();
  if (day === new Date(now).toDateString()) return `today, ${clockTime.format(time)}`;
  return day === tomorrow.toDateString() ? `tomorrow, ${clockTime.format(time)}` : moment.format(time);
}

/** When a run began: `4 min ago`, `14:05`, `yesterday, 03:00`, `Tue, Nov 24, 03:00`. */
export function ranWords(time: number, now: number): string {
  if (isYesterday(time, now)) return `yesterday, ${clockTime.format(time)}`;
  return new Date(time).toDateString() === new Date(now).toDateString()
    ? formatAgo(time, now)
    : formatMoment(time, now);
}

/** When a saved sync runs next. */
export function nextWords({ paused, nextAt, cron, last }: SyncTask, now: number): string {
  if (paused) return 'Paused';
  if (nextAt !== null && (last?.state === 'failed' || last?.state === 'interrupted')) {
    return `Tries again ${comingWords(nextAt, now)}`;
  }
  if (nextAt !== null) return `Next run ${comingWords(nextAt, now)}`;
  return cron === null ? 'Runs when you start it' : '';
}

/** Kinds of remotes by the names that people know; rarer ones keep that of rclone. */
const remoteKinds: ReadonlyMap<string, string> = new Map([
  ['azureblob', 'Azure storage'],
  ['b2', 'Backblaze B2'],
  ['box', 'Box'],
  ['crypt', 'Encrypted'],
  ['drive', 'Google Drive'],
  ['dropbox', 'Dropbox'],
  ['ftp', 'FTP'],
  ['http', 'Website'],
  ['onedrive', 'OneDrive'],
  ['pcloud', 'pCloud'],
  ['s3', 'S3 storage'],
  ['sftp', 'SFTP'],
  ['smb', 'Windows share'],
  ['webdav', 'WebDAV'],
]);

/** Kinds of remotes that are somebody's service; those that are neither this nor a folder are servers. */
const clouds: ReadonlySet<string> = new Set(['azureblob', 'b2', 'box', 'drive', 'dropbox', 'onedrive', 'pcloud', 's3']);

/** The sign of a kind of remote. */
export function remoteIcon(type: string): IconName {
  if (type === 'alias') return 'folder';
  if (type === 'crypt') return 'lock';
  return clouds.has(type) ? 'cloud' : 'server';
}

/** What a remote is: `WebDAV`, `https://attic.example/dav`, `ada`. */
export function remoteFacts({ type, summary }: SyncRemote): string[] {
  // An alias is a short name for a folder, here or of another remote.
  const ofHere = /^(?:\/|[a-z]:[\\/])/i.test(summary) ? 'Folder on this computer' : 'Folder of another remote';
  const kind = type === 'alias' ? ofHere : (remoteKinds.get(type) ?? type);
  return [kind, ...summary.split(' · ')].filter((part) => part !== '');
}

/** From where to where, the arrow never left at a line's end, by the ends of both, as much of them as tells one from the other: `…/photos → nas:photos`. */
export function wayWords(source: string, destination: string): string {
  for (const parts of [1, 2, 3]) {
    const ends = [source, destination].map((place) => endOf(place, parts));
    if (ends[0] !== ends[1]) return ends.join('\u00a0→\u00a0');
  }
  return `${source}\u00a0→\u00a0${destination}`;
}

function endOf(place: string, parts: number): string {
  const [, remote = '', path = ''] = /^([^/:]+:)?(.*)$/s.exec(place) ?? [];
  const names = path.split('/').filter((name) => name !== '');
  if (names.length <= parts) return place.replace(/(?<=.)\/+$/, '');
  return `${remote}…/${names.slice(-parts).join('/')}`;
}
