import { expect, it } from 'vitest';
import { admin, openRig } from './rig.ts';

it("counts under Homeport's and ntfy's names", async () => {
  await using rig = await openRig();
  const metric = async (name: string) => {
    const { text } = await rig.ask('GET', '/metrics');
    const line = text.split('\n').find((entry) => entry.startsWith(`${name} `));
    return line === undefined ? undefined : Number(line.slice(name.length + 1));
  };
  using _stream = await rig.listen('/a/json');
  await rig.publish('/a');
  await rig.publish('/b');
  await rig.ask('POST', '/c', {}, 'x');
  expect(await metric('push_messages_published_total')).toBe(2);
  expect(await metric('ntfy_messages_published_success')).toBe(2);
  expect(await metric('ntfy_messages_published_failure')).toBe(1);
  expect(await metric('ntfy_messages_cached_total')).toBe(2);
  expect(await metric('ntfy_subscribers_total')).toBe(1);
  expect(await metric('ntfy_topics_total')).toBe(2);
  expect(await metric('ntfy_users_total')).toBe(6);
  expect(await metric('ntfy_http_requests_total{http_code="200",http_method="POST"}')).toBe(2);
  expect(await metric('ntfy_http_requests_total{http_code="403",http_method="POST"}')).toBe(1);
});

it('returns server information to visitors', async () => {
  await using rig = await openRig();
  expect(JSON.parse((await rig.ask('GET', '/v1/info')).text)).toMatchObject({ api: 'ntfy', healthy: true });
  expect((await rig.ask('GET', '/v1/info', { authorization: admin })).status).toBe(200);
  expect((await rig.ask('GET', '/health', { authorization: 'Bearer tk_no' })).status).toBe(401);
});
