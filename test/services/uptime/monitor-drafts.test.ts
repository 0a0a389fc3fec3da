import * as problems from '#messages/uptime-problems';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { TestResult } from '../../../services/contracts/uptime/views.ts';
import { openTarget, openUptime, type UptimeRig } from './rig.ts';

let rig: UptimeRig;
beforeAll(async () => {
  rig = await openUptime();
});
afterAll(() => rig[Symbol.asyncDispose]());

it('tests a configuration without storing it or its result', async () => {
  await using target = await openTarget((request, response) => {
    response.writeHead(request.url === '/up' ? 200 : 503).end();
  });
  const test = (config: object, id?: number) => rig.call<TestResult>('POST', '/api/monitors/test', { config, id });
  const config = { type: 'http', name: 'Shop', url: `${target.url}/up` };
  expect(await test(config)).toMatchObject({ status: 1, msg: '200 - OK', ping: expect.any(Number) });
  expect(await test({ ...config, url: `${target.url}/down` })).toMatchObject({ status: 0, ping: null });
  expect(await rig.call('GET', '/api/monitors')).toMatchObject({ total: 0 });
  // A stored monitor provides the missing fields and keeps its own.
  const { id } = await rig.add({ ...config, interval: 86_400 });
  await rig.until(id, 1);
  expect(await test({ url: `${target.url}/down` }, id)).toMatchObject({ status: 0 });
  expect(await rig.beats(id)).toHaveLength(1);
  expect(await rig.call('GET', `/api/monitors/${String(id)}`)).toMatchObject({ url: `${target.url}/up` });
});

it('rejects a test of an invalid configuration or of a type without a check', async () => {
  const missing = await rig.raw('POST', '/api/monitors/test', { config: { type: 'http', name: 'Shop' } });
  expect([missing.status, await missing.json()]).toEqual([
    400,
    expect.objectContaining({ issues: [{ path: ['url'], message: problems.fieldMissing() }] }),
  ]);
  const unsupported = await rig.raw('POST', '/api/monitors/test', { config: { type: 'manual', name: 'Lamp' } });
  expect([unsupported.status, JSON.stringify(await unsupported.json())]).toEqual([
    400,
    expect.stringContaining(problems.testUnsupported()),
  ]);
});

it('duplicates a monitor with its secrets and without its push token', async () => {
  await using target = await openTarget((request, response) => {
    response.writeHead(request.headers.authorization === undefined ? 401 : 200).end();
  });
  const { id } = await rig.add({
    type: 'http',
    name: 'Cellar',
    url: target.url,
    authMethod: 'bearer',
    bearer_token: 'open sesame',
    interval: 86_400,
  });
  const copy = await rig.call<{ id: number }>('POST', `/api/monitors/${String(id)}/duplicate`);
  expect(copy).toMatchObject({ name: problems.copyName({ name: 'Cellar' }), active: false, secrets: ['bearer_token'] });
  await rig.call('POST', `/api/monitors/${String(copy.id)}/resume`);
  await rig.until(copy.id, 1);
  const job = await rig.add({ type: 'push', name: 'Backup', interval: 86_400 });
  const jobCopy = await rig.call<{ id: number }>('POST', `/api/monitors/${String(job.id)}/duplicate`);
  const path = async (one: number) =>
    (await rig.call<{ pushPath: string }>('GET', `/api/monitors/${String(one)}/facts`)).pushPath;
  expect(await path(jobCopy.id)).not.toBe(await path(job.id));
});
