import { afterAll, beforeAll, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { push } from '../../../services/push/index.ts';
import { createFakeClock } from '../../support/clock.ts';
import { fixtureService } from '../../support/fixture-service.ts';
import { openHome, type Home } from '../../support/gateway/phone.ts';
import { openTestHost } from '../../support/host.ts';
import { startPostgres } from '../../support/postgres.ts';

let home: Home;
beforeAll(async () => {
  home = await openHome({ services: [push, control, gateway], environment: { GATEWAY_SHARED: 'push' } });
});
afterAll(() => home[Symbol.asyncDispose]());

const paths = ['/health/live', '/health/ready'];

it.each(paths)('answers %s without a sign-in, also to HEAD', async (path) => {
  const response = await fetch(home.host.url('control') + path);
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'application/json']);
  expect(response.headers.get('cache-control')).toBe('no-store');
  expect(await response.json()).toEqual({ status: path.slice('/health/'.length) });
  expect((await fetch(home.host.url('control') + path, { method: 'HEAD' })).status).toBe(200);
});

it.each(paths)('refuses POST of %s', async (path) => {
  expect((await fetch(home.host.url('control') + path, { method: 'POST' })).status).toBe(405);
});

it.each(['https://nas.local', 'https://127.0.0.2', 'https://push.nas.local'])(
  'answers load balancers at %s without a sign-in',
  async (origin) => {
    const { status, body } = await home.ask(`${origin}/.homeport/health/ready`);
    expect([status, JSON.parse(body)]).toEqual([200, { status: 'ready' }]);
    expect((await home.ask(`${origin}/.homeport/health/live`, { method: 'HEAD' })).status).toBe(200);
  },
);

it('keeps the health check of the ntfy protocol', async () => {
  expect(await (await fetch(`${home.host.url('push')}/v1/health`)).json()).toEqual({ healthy: true });
});

it('is live but not ready while a service has failed', async () => {
  const broken = fixtureService('broken', () => ({ start: () => Promise.reject(new Error('secret detail')) }));
  await using host = await openTestHost({ services: [control, broken] });
  const ready = await fetch(`${host.url('control')}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'unavailable', reason: 'services' }]);
  expect((await fetch(`${host.url('control')}/health/live`)).status).toBe(200);
});

it('is not ready until all services have started', async () => {
  const released = Promise.withResolvers<void>();
  const slow = fixtureService('slow', () => ({ start: () => released.promise }));
  const clock = createFakeClock();
  let isOpen = false;
  const opening = openTestHost({ services: [control, slow], clock }).finally(() => (isOpen = true));
  // The host reports that it is open although a service takes longer than the limit.
  await vi.waitFor(() => {
    clock.advance(20_000);
    expect(isOpen).toBe(true);
  });
  await using host = await opening;
  const ready = await fetch(`${host.url('control')}/health/ready`);
  expect([ready.status, await ready.json()]).toEqual([503, { status: 'unavailable', reason: 'starting' }]);
  released.resolve();
  await expect.poll(() => host.host.control.readiness()).toEqual({ status: 'ready' });
});

it('is not ready while the database does not respond', async () => {
  await using server = await startPostgres();
  await using host = await openTestHost({ services: [control], environment: { HOMEPORT_DATABASE_URL: server.url } });
  const readStatus = async (): Promise<unknown> => (await fetch(`${host.url('control')}/health/ready`)).json();
  expect(await readStatus()).toEqual({ status: 'ready' });
  await server.kill();
  await vi.waitFor(async () => expect(await readStatus()).toEqual({ status: 'unavailable', reason: 'database' }), {
    timeout: 10_000,
  });
  expect((await fetch(`${host.url('control')}/health/live`)).status).toBe(200);
  await server.restart();
  await vi.waitFor(async () => expect(await readStatus()).toEqual({ status: 'ready' }), { timeout: 10_000 });
});
