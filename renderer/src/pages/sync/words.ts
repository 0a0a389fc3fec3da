import type { SyncJob, SyncTask } from '../../../../services/contracts/sync/api.ts';
import { bytes, duration } from '../../parts/text/format.ts';

type Tone = 'plain' | 'sea' | 'ok' | 'warn' | 'bad' | 'lamp';

/** How a job stands, as a tag says it. */
export function stateWords({ state, kind }: Pick<SyncJob, 'state' | 'kind'>): { text: string; tone: Tone } {
  switch (state) {
    case 'waiting':
      return { text: 'Waiting', tone: 'plain' };
    case 'running':
      return { text: kind === 'preview' ? 'Looking' : 'Running', tone: 'sea' };
    case 'done':
      return { text: kind === 'preview' ? 'Looked' : 'Done', tone: 'ok' };
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
  ['undo', 'Put back'],
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

/** What a job was, in plain words; rarer calls of programs keep their name. */
export function kindWords(kind: string): string {
  return kinds.get(kind) ?? `${kind} by a program`;
}

/** What a job has done, in one line. */
export function doneWords({ totals, startedAt, endedAt }: SyncJob): string {
  const parts = [
    totals.transfers === 0 && totals.deletes === 0
      ? 'nothing copied'
      : `${totals.transfers.toLocaleString('en')} copied`,
    ...(totals.bytes > 0 ? [bytes(totals.bytes)] : []),
    ...(totals.deletes > 0 ? [`${totals.deletes.toLocaleString('en')} deleted`] : []),
    ...(totals.errors > 0 ? [totals.errors === 1 ? '1 error' : `${totals.errors.toLocaleString('en')} errors`] : []),
    ...(endedAt === null
      ? []
      : [endedAt - startedAt < 1000 ? 'in under 1 s' : `in ${duration((endedAt - startedAt) / 1000)}`]),
  ];
  return parts.join(' · ');
}

const moment = new Intl.DateTimeFormat('en', { weekday: 'short', day: 'numeric', month: 'short', hour: '2-digit', minute: '2-digit', hourCycle: 'h23' }); // prettier-ignore

/** When a saved sync runs next. */
export function nextWords({ paused, nextAt, cron, last }: SyncTask): string {
  if (paused) return 'paused';
  if (nextAt !== null && (last?.state === 'failed' || last?.state === 'interrupted')) {
    return `tries again ${moment.format(nextAt)}`;
  }
  if (nextAt !== null) return `next ${moment.format(nextAt)}`;
  return cron === null ? 'when you start it' : '';
}

/** A place by its end, which tells it from others where there is little room: `Photos`, `drive:2026`. */
export function shortPlace(place: string): string {
  const [, remote = '', path = ''] = /^([^/:]+:)?(.*)$/s.exec(place) ?? [];
  const last = path.replace(/\/+$/, '').split('/').at(-1) ?? '';
  return remote + last || place;
}
