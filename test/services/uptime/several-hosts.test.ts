import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { systemClock } from '../../../main/host/runtime/clock.ts';
import type { Clock } from '../../../services/contracts/service.ts';
import type { Monitor } from '../../../services/contracts/uptime/views.ts';
import { openPostgresDatabase } from '../../support/postgres.ts';
import { openTarget, openUptime, type SentEvent, type Target, type UptimeRig } from './rig.ts';

const waiting = { timeout: 60_000, interval: 50 };
const files = new AsyncDisposableStack();
const vaultKey = randomBytes(32).toString('base64');
let url: string;

beforeAll(async () => {
  url = files.use(await openPostgresDatabase()).url;
});
afterAll(() => files.disposeAsync());

/** Clock of a computer whose time is an hour ahead. */
const fastClock: Clock = { ...systemClock, now: () => systemClock.now() + 3_600_000 };

const openOn = (aggregator: Target, clock: Clock = systemClock): Promise<UptimeRig> =>
  openUptime({ aggregator, clock, environment: { HOMEPORT_DATABASE_URL: url, HOMEPORT_VAULT_KEY: vaultKey } });

async function readStatus(rig: UptimeRig, { id }: Monitor): Promise<unknown> {
  const { items } = await rig.call<{ items: Monitor[] }>('GET', '/api/monitors');
  return items.find((each) => each.id === id)?.state.status;
}

it('checks monitors on one of several hosts with different clocks, and continues on another', async () => {
  const sent: SentEvent[] = [];
  await using aggregator = await openTarget((request, response) => {
    let text = '';
    request.on('data', (part: Buffer) => (text += part.toString()));
    request.on('end', () => {
      sent.push(JSON.parse(text) as SentEvent);
      response.end('{}');
    });
  });
  let isUp = true;
  await using target = await openTarget((_request, response) => response.writeHead(isUp ? 200 : 500).end());
  await using stack = new AsyncDisposableStack();
  const first = await openOn(aggregator);
  const fast = await openOn(aggregator, fastClock);
  const last = stack.use(await openOn(aggregator));

  // Added on a host that does not check it.
  const monitor = await fast.add({ type: 'http', name: 'web', url: target.url, interval: 1 });
  await vi.waitUntil(async () => (await readStatus(last, monitor)) === 1, waiting);
  await vi.waitUntil(async () => (await last.beats(monitor.id)).length >= 5, waiting);
  // The second check follows the first one at the phase of the monitor.
  const gaps = (await first.beats(monitor.id)).slice(2).map(({ duration }) => duration);
  expect(gaps.filter((seconds) => seconds < 1)).toEqual([]);

  await first[Symbol.asyncDispose]();
  isUp = false;
  await vi.waitUntil(async () => (await readStatus(last, monitor)) === 0, waiting);
  await vi.waitUntil(() => sent.length > 0, waiting);
  // The other host, or this one, whose clock is behind the latest heartbeat in the first case.
  await fast[Symbol.asyncDispose]();
  isUp = true;
  await vi.waitUntil(async () => (await readStatus(last, monitor)) === 1, waiting);
  await vi.waitUntil(() => sent.length > 1, waiting);
  expect(sent.map(({ event }) => event.kind)).toEqual(['down', 'up']);
});

it('passes reports, changes and checks to the host that checks the monitors', async () => {
  await using aggregator = await openTarget();
  await using owner = await openOn(aggregator);
  await using other = await openOn(aggregator);
  await using target = await openTarget();
  const push = await other.add({ type: 'push', name: 'job', interval: 3600 });
  const { pushPath } = await other.call<{ pushPath: string }>('GET', `/api/monitors/${String(push.id)}/facts`);
  await other.call('GET', `${pushPath}?msg=${encodeURIComponent('first run')}`);
  const messages = async (rig: UptimeRig): Promise<readonly string[]> =>
    (await rig.beats(push.id)).map(({ msg }) => msg);
  await vi.waitUntil(async () => (await readStatus(owner, push)) !== undefined, waiting);
  await vi.waitUntil(async () => (await messages(owner)).includes('first run'), waiting);
  expect((await messages(other)).filter((msg) => msg === 'first run')).toHaveLength(1);

  const web = await other.add({ type: 'http', name: 'rare', url: target.url, interval: 3600 });
  await vi.waitUntil(() => target.requests.length === 1, waiting);
  await vi.waitUntil(async () => (await readStatus(other, web)) === 1, waiting);
  target.handler = (_request, response) => response.writeHead(500).end();
  const checked = await other.call<{ status: number }>('POST', `/api/monitors/${String(web.id)}/check`);
  expect(checked.status).toBe(0);

  await other.call('DELETE', `/api/monitors/${String(web.id)}`);
  await vi.waitUntil(async () => (await readStatus(owner, web)) === undefined, waiting);
});
