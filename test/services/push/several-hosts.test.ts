import { randomBytes } from 'node:crypto';
import { expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { push } from '../../../services/push/index.ts';
import { createFakeClock } from '../../support/clock.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { openPostgresDatabase } from '../../support/postgres.ts';
import { api } from '../../support/api.ts';

const headers = { authorization: adminAuthorization };
const waiting = { timeout: 60_000, interval: 50 };

async function readMessages(host: TestHost, topic: string): Promise<readonly string[]> {
  const reply = await fetch(`${host.url('push')}/${topic}/json?poll=1`, { headers });
  const lines = (await reply.text()).split('\n').filter((line) => line !== '');
  return lines.map((line) => (JSON.parse(line) as { message: string }).message);
}

it('publishes delayed and recurring messages once, also those that another host has accepted', async () => {
  await using database = await openPostgresDatabase();
  const clock = createFakeClock(Date.UTC(2026, 0, 1, 7, 59));
  const environment = {
    HOMEPORT_DATABASE_URL: database.url,
    HOMEPORT_VAULT_KEY: randomBytes(32).toString('base64'),
  };
  const open = (): Promise<TestHost> => openTestHost({ services: [push, control], clock, environment });
  const owner = await open();
  await using other = await open();
  const delay = async (message: string): Promise<void> => {
    const request = { method: 'POST', headers: { ...headers, In: '30s' }, body: message };
    expect((await fetch(`${other.url('push')}/delayed`, request)).status).toBe(200);
  };
  await delay('first');
  const schedule = { topic: 'recurring', message: 'Water the plants', rule: '0 8 * * *', zone: 'UTC' };
  const init = { method: 'POST', body: JSON.stringify(schedule) };
  await api(other.url('control'), '/api/push/schedules', init);
  await vi.waitUntil(async () => {
    clock.advance(2000);
    return (await readMessages(owner, 'delayed')).length > 0 && (await readMessages(other, 'recurring')).length > 0;
  }, waiting);

  await delay('second');
  await owner[Symbol.asyncDispose]();
  await vi.waitUntil(async () => {
    clock.advance(2000);
    return (await readMessages(other, 'delayed')).length > 1;
  }, waiting);
  expect(await readMessages(other, 'delayed')).toEqual(['first', 'second']);
  expect(await readMessages(other, 'recurring')).toEqual(['Water the plants']);
});
