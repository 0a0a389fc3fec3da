import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { api } from '../../support/api.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { createProbe, type Offers } from './support.ts';

const secret = 'correct-horse-1';
const sign = (text: string, key = secret): string => createHmac('sha256', key).update(text).digest('hex');
const json = { 'content-type': 'application/json' };
const form = { 'content-type': 'application/x-www-form-urlencoded' };
const push = JSON.stringify({
  ...{ ref: 'refs/heads/main', compare_url: 'http://git/x/compare', commits: [{ id: 'abc', message: 'Mend' }] },
  ...{ repository: { full_name: 'ada/x', html_url: 'http://git/x' }, pusher: { login: 'ada', username: 'ada' } },
});

let host: TestHost;
let offers: Offers;

beforeAll(async () => {
  const probe = createProbe(['inbox', 'push']);
  offers = probe.offers;
  host = await openTestHost({ services: [probe.descriptor, notify, control] });
  await setSecret(secret);
});
afterAll(() => host[Symbol.asyncDispose]());

const setSecret = (value: string | null, key = 'aggregator') =>
  api(host.url('control'), `/api/notify/keys/${key}/secret`, {
    method: 'PUT',
    body: JSON.stringify({ secret: value }),
  });

async function post(body: string | FormData, headers: Record<string, string>) {
  const before = offers.inbox.size;
  const reply = await fetch(`${host.url('notify')}/notify/aggregator`, { method: 'POST', headers, body });
  return { status: reply.status, text: await reply.text(), taken: offers.inbox.size - before };
}

describe('a key with a secret', () => {
  it.each([
    ['Gitea', { 'x-gitea-event': 'push', 'x-gitea-signature': sign(push) }],
    ['Forgejo', { 'x-forgejo-event': 'push', 'x-forgejo-signature': sign(push) }],
    ['GitHub', { 'x-github-event': 'push', 'x-hub-signature-256': `sha256=${sign(push)}` }],
    ['GitLab', { 'x-gitlab-event': 'Push Hook', 'x-gitlab-token': secret }],
    ['Grafana', { 'x-grafana-alerting-signature': sign(push) }],
    ['an account', { authorization: adminAuthorization }],
  ])('accepts a signature of %s', async (_case, headers) => {
    expect(await post(push, { ...json, ...headers })).toMatchObject({ status: 200, taken: 1 });
  });

  it('accepts a form with a signature of its JSON, as Gitea sends it, or of the body, as GitHub does', async () => {
    const body = new URLSearchParams({ payload: push }).toString();
    expect(await post(body, { ...form, 'x-gitea-signature': sign(push) })).toMatchObject({ status: 200, taken: 1 });
    const hub = { 'x-hub-signature-256': `sha256=${sign(body)}` };
    expect(await post(body, { ...form, ...hub })).toMatchObject({ status: 200, taken: 1 });
  });

  it.each([
    [{}, 401],
    [{ 'x-gitea-signature': sign(push, 'another secret') }, 403],
    [{ 'x-gitea-signature': sign(`${push} `) }, 403],
    [{ 'x-hub-signature-256': sign(push) }, 403],
    [{ 'x-gitlab-token': `${secret}x` }, 403],
    [{ 'x-hub-signature': 'sha1=abc' }, 401],
  ])('refuses %j with %i and the reason', async (headers, status) => {
    const reply = await post(push, { ...json, ...headers });
    expect(reply).toMatchObject({ status, taken: 0 });
    expect(JSON.parse(reply.text)).toMatchObject({ error: expect.stringContaining('secret') as string });
  });

  it('refuses an unsigned multipart form, and keeps none of its files', async () => {
    const parts = new FormData();
    parts.set('body', 'x');
    parts.set('file', new Blob(['abc']), 'a.txt');
    expect(await post(parts, {})).toMatchObject({ status: 401, taken: 0 });
  });

  it('shows only that it exists, and keeps the secret out of responses, logs and the database file', async () => {
    const keys = await api(host.url('control'), '/api/notify/keys');
    expect(keys).toMatchObject({ keys: [{ key: 'aggregator', signed: true }] });
    const stored = readFileSync(join(host.dataDir, 'notify', 'db.sqlite')).toString('latin1');
    const log = readFileSync(join(host.dataDir, 'notify', 'db.sqlite-wal')).toString('latin1');
    for (const text of [JSON.stringify(keys), host.log.join('\n'), stored, log]) expect(text).not.toContain(secret);
  });

  it('keeps it when its destinations or name change, and accepts all clients after it was removed', async () => {
    const base = host.url('control');
    const sendRequest = (method: string, path: string, body: unknown) =>
      api(base, `/api/notify/keys/${path}`, { method, body: JSON.stringify(body) });
    await sendRequest('PUT', 'aggregator/text', { text: 'inbox://\n' });
    await sendRequest('POST', 'aggregator/rename', { to: 'other' });
    await sendRequest('POST', 'other/rename', { to: 'aggregator' });
    expect(await post(push, json)).toMatchObject({ status: 401 });
    await setSecret(null);
    expect(await post(push, json)).toMatchObject({ status: 200, taken: 1 });
  });

  it.each(['short', 'with a space in it', 'ünïcödé-secret'])('refuses %s as a secret', async (value) => {
    await expect(setSecret(value)).rejects.toThrow(/Enter|Use/);
  });
});
