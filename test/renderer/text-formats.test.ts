import * as dataConnectMessages from '#messages/data-connect';
import { describe, expect, it } from 'vitest';
import { formatPlayers } from '../../renderer/src/pages/addons/configurations/player-format.ts';
import { getTypeLabel } from '../../renderer/src/pages/addons/sources/type-labels.ts';
import { describeFile } from '../../renderer/src/pages/downloads/list/file-description.ts';
import { groupRepeats } from '../../renderer/src/pages/log/line-format.ts';
import { formatCell } from '../../renderer/src/pages/data/rows/cell-format.ts';
import { getPhoneColumnOrder } from '../../renderer/src/pages/data/rows/columns/column-order.ts';
import { toWrittenCondition } from '../../renderer/src/pages/data/policies/policy-condition.ts';
import { describePolicy } from '../../renderer/src/pages/data/policies/policy-description.ts';
import { toText } from '../../messages/runtime.ts';
import { formatCheck } from '../../renderer/src/pages/git/pulls/merge-labels.ts';
import { listChanges, formatJobState } from '../../renderer/src/pages/sync/sync-format.ts';
import { getWindowStatus, formatWindow } from '../../renderer/src/pages/uptime/maintenance/maintenance-format.ts';
import { formatCause } from '../../renderer/src/pages/uptime/monitors/monitor-format.ts';
import { splitAtSeparators } from '../../renderer/src/parts/text/breakable.ts';
import { joinSentences } from '../../renderer/src/parts/text/join-sentences.ts';
import { formatAgo, formatMoment } from '../../renderer/src/parts/text/format.ts';
import type { LogLine } from '../../services/contracts/control/log.ts';
import type { SyncJob } from '../../services/contracts/sync/api.ts';
import type { Maintenance } from '../../services/contracts/uptime/maintenance.ts';

describe('formatted texts of pages', () => {
  it.each([
    ['success', '', 'build passed.'],
    ['failure', '2 tests failed', 'build failed. 2 tests failed'],
    ['odd', '', 'build odd.'],
  ])('formats a check with the state %s and the description "%s" as "%s"', (state, description, text) => {
    const check = { context: 'build', state, description, url: '' };

    expect(toText(formatCheck(check).parts)).toBe(text);
  });

  it('joins sentences and leaves out empty ones', () => {
    expect(joinSentences('One.', 'Two.', 'Three.')).toBe('One. Two. Three.');
    expect(joinSentences('', 'Two.')).toBe('Two.');
    expect(joinSentences('One.', '')).toBe('One.');
  });

  it.each([
    'curl |http://127.0.0.1:3000/|api/|push/|abc?|status=up&|msg=OK',
    'git |config |credential.|http://127.0.0.1:3030.|username |ada',
    'http://homeport.local:3000/|addons/|manifest.json',
    'git |clone |http://a.example/b.git',
    'https://printer.|upstairs.|local:35593',
  ])('breaks "%s" only at separators', (pieces) => {
    expect(splitAtSeparators(pieces.replaceAll('|', '')).join('|')).toBe(pieces);
  });

  it.each([
    ['200 - OK', 'Response: 200 OK.'],
    ['200 - OK, but keyword is not in [Hello there]', 'The response doesn’t contain the keyword.'],
    ['The disk is full.', 'The disk is full.'],
  ])('formats a check result "%s" as "%s"', (msg, label) => {
    expect(formatCause({ msg })).toBe(label);
  });

  it.each([
    ['run', 'done', 0, 'Nothing to copy'],
    ['run', 'failed', 0, ''],
    ['run', 'held', 0, ''],
    ['operations/purge', 'done', 0, ''],
    ['run', 'done', 2, '2 files copied'],
  ])('formats a %s that is %s and copied %i as "%s"', (kind, state, transfers, label) => {
    expect(listChanges({ kind, state, totals: { transfers, deletes: 0, errors: 0 } } as SyncJob)).toEqual(
      label === '' ? [] : [label],
    );
  });

  it.each([
    ['Repairing a bicycle wheel', 'Repairing a bicycle wheel.mp4', 'MP4'],
    ['Trains: Berlin to Stockholm', 'Trips/2026/Trains： Berlin to Stockholm.webm', 'Trips/2026 · WEBM'],
    ['Rye, three ways', 'rye-1080p.mp4', 'rye-1080p.mp4'],
    ['', 'film.mp4', 'film.mp4'],
    ['Notes', 'Notes', 'Notes'],
  ])('formats the file of "%s" at %s as %s', (title, filename, label) => {
    expect(describeFile({ title, filename })).toBe(label);
  });

  it('leaves out the file type where a column shows it', () => {
    const title = 'Boats';
    expect(describeFile({ title, filename: 'Kitchen/Boats.mp4' }, { withType: false })).toBe('Kitchen');
    expect(describeFile({ title, filename: 'Boats.mp4' }, { withType: false })).toBe('');
  });

  it('formats a pause of the program in seconds, and counts repeats of different lengths', () => {
    const paused = (id: number, milliseconds: number): LogLine => ({
      time: id,
      level: 'warn',
      service: 'host',
      event: 'event_loop_blocked',
      message: 'any message',
      fields: { milliseconds },
    });
    const rows = groupRepeats([paused(3, 1536), paused(2, 101), paused(1, 266)], () => true);
    expect(rows.map(({ words, times }) => [/for (\d+ s)\b/.exec(words.what)?.[1], times])).toEqual([['2 s', 3]]);
  });

  it('formats midnight as 00, not 24', () => {
    const [time, later] = [Date.parse('2026-03-03T00:05'), Date.parse('2026-03-03T03:30')];
    expect([formatAgo(time, later), formatMoment(time, later)]).toEqual(['00:05', '00:05']);
  });

  it('counts log lines with different names separately', () => {
    const line = (id: number, message: string, fields: object): LogLine =>
      ({ id, time: id, level: 'info', service: 'push', message, fields }) as LogLine;
    const rows = groupRepeats(
      [
        line(4, 'it was slow', { for: '12 ms', host: 'nas1' }),
        line(3, 'it was slow', { for: '30 ms', host: 'nas1' }),
        line(2, 'it was slow', { for: '30 ms', host: 'nas2' }),
      ],
      () => true,
    );
    expect(rows.map(({ times }) => times)).toEqual([2, 1]);
  });

  it('counts security events of different accounts and addresses separately', () => {
    const line = (id: number, account: string, address: string): LogLine => ({
      time: id,
      level: 'warn',
      service: 'security',
      message: 'sign-in failed',
      fields: { event: 'sign_in_failed', address, target: 'control', account },
    });
    const rows = groupRepeats(
      [
        line(5, 'mia-1', '2001:db8::1'),
        line(4, 'mia-1', '2001:db8::1'),
        line(3, 'mia-2', '2001:db8::1'),
        line(2, 'mia-1', '2001:db8::2'),
      ],
      () => true,
    );
    expect(rows.map(({ times }) => times)).toEqual([2, 1, 1]);
  });

  it('reads the type of an addon that uses names of object properties', () => {
    expect([getTypeLabel('movie'), getTypeLabel('constructor'), getTypeLabel('podcast')]).toEqual([
      'movies',
      'constructor',
      'podcast',
    ]);
  });

  it.each([
    ['Mozilla/5.0 (Linux; Android 12; BRAVIA 4K) Stremio/1.6.12', 'Stremio on a TV'],
    ['Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 Chrome/130.0 Safari/537.36', 'Chrome on Linux'],
    ['Kodi/21.1', 'Kodi'],
    ['curl/8.5.0', 'curl/8.5.0'],
    ['', 'Unknown player'],
  ])('formats a player by name and system: %s', (userAgent, label) => {
    expect(formatPlayers([{ userAgent }, { userAgent }])).toBe(label);
  });

  it("uses the day of a window's own time zone", () => {
    const window = {
      strategy: 'recurring-weekday',
      weekdays: [1],
      status: 'scheduled',
      timezone: 'Asia/Tokyo',
      timeRange: [
        { hours: 0, minutes: 30, seconds: 0 },
        { hours: 1, minutes: 30, seconds: 0 },
      ],
      dateRange: [],
      daysOfMonth: [],
      monitors: [],
      reminders: [],
      upcoming: [{ startDate: '2026-11-29T15:30:00Z', endDate: '2026-11-29T16:30:00Z' }],
    } as unknown as Maintenance;
    expect(formatWindow(window, Date.parse('2026-11-26T00:00Z'))).toMatch(/^Every Monday, .* · next Mon, Nov 30$/);
  });

  it.each([
    ['2026-11-29T15:00:00Z', 'Starts in 30 min'],
    ['2026-11-29T10:00:00Z', 'Starts in 6 h'],
    ['2026-11-26T15:30:00Z', 'Starts in 3 days'],
  ])('formats a planned time at %s as "%s"', (now, label) => {
    const upcoming = [{ startDate: '2026-11-29T15:30:00Z', endDate: '2026-11-29T16:30:00Z' }];
    const window = { status: 'scheduled', upcoming } as unknown as Maintenance;
    expect(getWindowStatus(window, Date.parse(now)).text).toBe(label);
  });
});

it('shows a sync with errors as failed', () => {
  const formatErrors = (errors: number) =>
    formatJobState({ state: 'done', kind: 'run', totals: { errors } as SyncJob['totals'] });
  expect(formatErrors(0)).toEqual({ text: 'Done', tone: 'ok' });
  expect(formatErrors(1)).toEqual({ text: '1 error', tone: 'warn' });
  expect(formatErrors(1200)).toEqual({ text: '1,200 errors', tone: 'warn' });
});

describe('a table', () => {
  it('formats a time with seconds, and other values unchanged', () => {
    const [utc, india] = ['2026-11-27 05:25:43.33837+00', '2026-11-27 10:55:43+05:30'].map((value) =>
      formatCell(value, 'timestamp with time zone'),
    );
    expect(utc).toMatch(/^2026-11-2\d \d\d:\d\d:43$/);
    expect(Date.parse(utc ?? '')).toBe(Date.UTC(2026, 10, 27, 5, 25, 43));
    expect(india).toBe(utc);
    expect(formatCell('infinity', 'timestamp with time zone')).toBe('infinity');
    expect(formatCell('05:25:43.5', 'time without time zone')).toBe('05:25:43');
    expect(formatCell('at 05:25:43.5', 'text')).toBe('at 05:25:43.5');
  });

  it('shows the key first on a phone, then texts, and IDs of other rows last', () => {
    const column = (type: string, isKey = false) => ({ type, isKey, choices: [] });
    const columns = [column('uuid'), column('integer'), column('text'), column('jsonb'), column('bigint', true)];
    expect(getPhoneColumnOrder(columns)).toEqual([4, 2, 1, 0, 3]);
  });

  it.each([
    [
      'ALL',
      ['authenticated'],
      'a',
      'a',
      'Signed-in users can read and change rows that match this condition before and after a change:',
    ],
    ['SELECT', [], 'true', null, 'Everyone can read all rows.'],
    ['INSERT', ['clerk'], null, 'a', 'Clients with the role clerk can add rows that match this condition:'],
    [
      'UPDATE',
      ['anon', 'authenticated'],
      'true',
      'a',
      'Everyone can change all rows. Changed rows must match this condition:',
    ],
    [
      'UPDATE',
      ['authenticated', 'clerk'],
      'a',
      null,
      'Signed-in users and clients with the role clerk can change rows that match this condition before and after a change:',
    ],
  ])('describes a policy: %s', (command, roles, condition, check, label) => {
    expect(describePolicy({ command, roles, isPermissive: true, condition, check })).toBe(label);
  });

  it('states that a restrictive policy without a condition grants nothing', () => {
    const policy = { command: 'SELECT', roles: [], isPermissive: false, condition: 'true', check: null };
    expect(describePolicy(policy)).toBe(dataConnectMessages.itRestrictsNothing());
  });

  it('removes brackets around the complete condition', () => {
    expect(toWrittenCondition('(owner = ( SELECT auth.uid() AS uid))')).toBe('owner = (select auth.uid())');
    expect(toWrittenCondition('(a) OR (b)')).toBe('(a) OR (b)');
  });
});
