import * as partsMessages from '#messages/parts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { controlApi, type ServiceState } from '../../../services/contracts/control/api.ts';
import type { HostActivityEvent, Machine, Pulse } from '../../../services/contracts/control/overview.ts';
import type { Counter } from '../../../services/contracts/metrics.ts';
import type { ServiceDescriptor } from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { createFakeClock } from '../../support/clock.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { admin, adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';

const hour = 3_600_000;

async function read<T>(host: TestHost, path: string, authorization = adminAuthorization): Promise<T> {
  const response = await fetch(`${host.url('control')}${path}`, { headers: { Authorization: authorization } });
  expect(response.status).toBe(200);
  return (await response.json()) as T;
}

const overview = (host: TestHost, authorization?: string) =>
  read<{ pulses: Pulse[]; activity: HostActivityEvent[]; machine: Machine | null }>(
    host,
    controlApi.overview.path,
    authorization,
  );

describe('overview', () => {
  let dataDir: string;
  beforeEach(() => {
    dataDir = mkdtempSync(join(tmpdir(), 'homeport-overview-'));
  });
  afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

  it("counts the manifest's metric by hour across restarts of service and host", async () => {
    const clock = createFakeClock();
    let counter: Counter | undefined;
    const busy: ServiceDescriptor<any, any> = {
      ...fixtureService('busy', ({ metrics }) => {
        counter = metrics.counter({ name: 'busy_ships_total', help: 'Ships.', labels: ['flag'] });
        return {};
      }),
      pulse: { counter: 'busy_ships_total', labels: { flag: 'nl' }, total: ({ count }) => `${String(count)} ships` },
    };
    const hours = async (host: TestHost): Promise<readonly number[]> =>
      (await overview(host)).pulses.find(({ service }) => service === 'busy')?.hours ?? [];
    {
      await using host = await openTestHost({ services: [busy, control], dataDir, clock });
      counter?.inc({ flag: 'nl' }, 3);
      await host.host.control.restart('busy');
      counter?.inc({ flag: 'nl' });
      // Another label than the declared one.
      counter?.inc({ flag: 'dk' }, 7);
      expect((await hours(host)).slice(-2)).toEqual([0, 4]);
      clock.advance(hour);
      counter?.inc({ flag: 'nl' }, 2);
      // No further check happens before the end.
    }
    clock.advance(hour);
    await using host = await openTestHost({ services: [busy, control], dataDir, clock });
    counter?.inc({ flag: 'nl' });
    expect((await hours(host)).slice(-4)).toEqual([0, 4, 2, 1]);
    clock.advance(23 * hour);
    expect((await hours(host)).filter((count) => count > 0)).toEqual([1]);
    const { pulses } = await overview(host);
    expect(pulses.find(({ service }) => service === 'busy')?.total).toBe('1 ships');
  });

  it('counts requests by default, visible only with access', async () => {
    await using host = await openTestHost({ services: [fixtureService('plain'), control], dataDir });
    for (let request = 0; request < 3; request += 1) await (await fetch(host.url('plain'))).text();
    const { pulses, machine } = await overview(host);
    const plainPulse = pulses.find(({ service }) => service === 'plain');
    expect(plainPulse?.total).toBe(partsMessages.requestsInDay({ count: 3 }));
    expect(plainPulse?.hours.at(-1)).toBe(3);
    expect(plainPulse?.hours).toHaveLength(24);
    expect(machine?.memory.total).toBeGreaterThan(machine?.memory.own ?? Infinity);
    expect(machine?.disk?.free).toBeGreaterThan(0);
    expect(machine?.cpu).toBeGreaterThanOrEqual(0);
    expect(machine?.cpu).toBeLessThanOrEqual(1);

    const created = await fetch(`${host.url('control')}/api/accounts`, {
      method: 'POST',
      headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
      body: JSON.stringify({ name: 'grace', password: admin.password }),
    });
    expect(created.status).toBe(200);
    const guest = `Basic ${Buffer.from(`grace:${admin.password}`).toString('base64')}`;
    expect(await overview(host, guest)).toEqual({ pulses: [], activity: [], machine: null, backup: null });
  });

  it('lists the latest events of all services for their reader, without a service that fails', async () => {
    const readers: (string | undefined)[] = [];
    const event = (id: string, time: number) => ({ id, title: `Event ${id}`, detail: '', to: '/busy', time });
    const busy = fixtureService('busy', () => ({
      recentActivity: ({ identity, limit }) => {
        readers.push(identity?.account);
        return Promise.resolve(Array.from({ length: limit }, (_, index) => event(String(index), 100 - 10 * index)));
      },
    }));
    const late = fixtureService('late', () => ({ recentActivity: () => Promise.resolve([event('late', 95)]) }));
    const broken = fixtureService('broken', () => ({ recentActivity: () => Promise.reject(new Error('no disk')) }));
    await using host = await openTestHost({ services: [busy, late, broken, control], dataDir });
    const { activity } = await overview(host);
    expect(activity.slice(0, 3).map(({ service, id }) => [service, id])).toEqual([
      ['busy', '0'],
      ['late', 'late'],
      ['busy', '1'],
    ]);
    expect(activity).toHaveLength(8);
    expect(readers).toEqual([admin.name]);
    expect(host.log.filter((line) => line.includes('recent activity unavailable'))).toHaveLength(1);
  });

  it('shows remedy, first step and work of a service until it stops', async () => {
    const texts = {
      remedy: { label: 'See the ships', to: '/busy' },
      begin: { label: 'Send a ship', to: '/busy', post: { path: '/api/busy', body: {} } },
      running: [{ title: 'A ship', to: '/busy/1', percent: 40 }],
    };
    const busy = fixtureService('busy', () => ({
      health: () => Promise.resolve({ state: 'up', detail: '1 ship is late', ...texts }),
    }));
    await using host = await openTestHost({ services: [busy, control], dataDir });
    const state = async (): Promise<ServiceState | undefined> =>
      (await read<{ services: ServiceState[] }>(host, controlApi.services.path)).services.find(
        ({ id }) => id === 'busy',
      );
    expect(await state()).toMatchObject({ state: 'up', detail: '1 ship is late', ...texts });
    await host.host.control.changeSettings('busy', { enabled: false });
    const off = await state();
    expect([off?.state, off?.remedy, off?.begin, off?.running]).toEqual(['off', undefined, undefined, undefined]);
  });
});
