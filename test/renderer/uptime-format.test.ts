import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { compareUrgency } from '../../renderer/src/pages/uptime/list/attention.ts';
import { buildStatusHistory } from '../../renderer/src/pages/uptime/details/status-history.ts';
import { getStatusGroup } from '../../renderer/src/pages/uptime/monitors/monitor-filter.ts';
import { formatPercent } from '../../renderer/src/pages/uptime/monitors/monitor-format.ts';
import { compareStart, getWindowStatus } from '../../renderer/src/pages/uptime/maintenance/maintenance-format.ts';
import type { Maintenance } from '../../services/contracts/uptime/maintenance.ts';
import type { Heartbeat, MonitorRow } from '../../services/contracts/uptime/views.ts';

it('sorts monitors by urgency and then by name, with numbers by value', () => {
  const build = (name: string, status: 0 | 1, id: number): MonitorRow =>
    ({ id, name, active: true, target: '', state: { status, msg: '' } }) as unknown as MonitorRow;
  const names = ['Machine 10', 'Machine 2', 'machine 1', 'Machine 100'];
  const rows = [...names.map((name, id) => build(name, 1, id)), build('Zebra', 0, 9), build('Lamp 10', 0, 10)];
  expect(rows.toSorted(compareUrgency).map(({ name }) => name)).toEqual([
    'Lamp 10',
    'Zebra',
    'machine 1',
    'Machine 2',
    'Machine 10',
    'Machine 100',
  ]);
});

it('sorts names by one rule on all pages', () => {
  const folder = fileURLToPath(new URL('../../renderer/src', import.meta.url));
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) =>
    /\.(ts|svelte)$/.test(name),
  );
  expect(files.filter((name) => readFileSync(`${folder}/${name}`, 'utf8').includes('.localeCompare('))).toEqual([]);
});

it('formats a share with two digits and never rounds up to 100%', () => {
  expect([1, 0.99999, 0.998, 0, null].map(formatPercent)).toEqual(['100%', '99.99%', '99.80%', '0.00%', '']);
});

it('assigns paused and unchecked monitors to their own groups', () => {
  const getGroup = (active: boolean, status: 0 | 1 | null) => getStatusGroup({ active, state: { status } as never });
  expect([getGroup(true, 0), getGroup(true, 1), getGroup(false, 0), getGroup(true, null)]).toEqual([
    'down',
    'up',
    'paused',
    'unknown',
  ]);
});

it('starts the current status before the first heartbeat unless that was a change', () => {
  const beat = (status: 0 | 1, time: string): Heartbeat => ({ status, msg: '', time }) as Heartbeat;
  const parseTime = (time: string): number => Date.parse(`2026-11-27T${time}Z`);
  const first = beat(1, '2026-11-27 12:00:00');
  expect(buildStatusHistory([first], parseTime('03:00:00'))).toMatchObject([
    { status: 1, began: parseTime('03:00:00'), until: undefined },
  ]);
  expect(buildStatusHistory([first, beat(0, '2026-11-27 11:00:00')], parseTime('03:00:00'))).toMatchObject([
    { status: 1, began: parseTime('12:00:00') },
    { status: 0, began: parseTime('11:00:00'), until: parseTime('12:00:00') },
  ]);
  expect(buildStatusHistory([], null)).toEqual([]);
});

it('formats the start of maintenance by calendar days, the next first', () => {
  const now = new Date(2026, 10, 27, 18).getTime();
  const starting = (
    title: string,
    day: number,
    hour: number,
    status: Maintenance['status'] = 'scheduled',
  ): Maintenance =>
    ({ title, status, upcoming: [{ startDate: new Date(2026, 10, day, hour).toISOString() }] }) as never;
  const windows = [
    starting('over', 26, 1, 'ended'),
    starting('late', 30, 23),
    starting('paused', 27, 19, 'inactive'),
    starting('early', 30, 3),
    starting('tonight', 28, 3),
    starting('tomorrow', 28, 20),
  ];
  const labels = windows
    .toSorted(compareStart)
    .map((window) => `${window.title}: ${getWindowStatus(window, now).text}`);
  expect(labels).toEqual([
    'tonight: Starts in 9 h',
    'tomorrow: Starts tomorrow',
    'early: Starts in 3 days',
    'late: Starts in 3 days',
    'paused: Paused',
    'over: Ended',
  ]);
});
