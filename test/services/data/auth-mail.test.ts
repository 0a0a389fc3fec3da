import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { notify } from '../../../services/notify/index.ts';
import { openMailServer } from '../../support/mail-server.ts';
import { openAuthFixture, type AuthFixture } from './auth-fixture.ts';

/** Mails through a mail server, remote clients, and an unavailable database. */
let mails: Awaited<ReturnType<typeof openMailServer>>;
let fixture: AuthFixture;
const password = 'correct horse 1';

beforeAll(async () => {
  mails = await openMailServer({ password: 'of the server' });
  fixture = await openAuthFixture({
    services: [notify],
    environment: {
      DATA_AUTOCONFIRM: 'false',
      DATA_SMTP_HOST: '127.0.0.1',
      DATA_SMTP_PORT: String(mails.port),
      DATA_SMTP_USER: 'app',
      DATA_SMTP_PASS: 'of the server',
      DATA_SMTP_ADMIN_EMAIL: 'app@example.com',
      DATA_SMTP_SENDER_NAME: 'The App',
      DATA_SMTP_MODE: 'insecure',
      HOMEPORT_TRUSTED_PROXIES: '127.0.0.1/32',
    },
  });
});
afterAll(async () => {
  await fixture[Symbol.asyncDispose]();
  await mails[Symbol.asyncDispose]();
});

async function until<T>(kind: () => T | undefined | Promise<T | undefined>): Promise<T> {
  for (let remaining = 300; remaining > 0; remaining -= 1) {
    const result = await kind();
    if (result !== undefined) return result;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error('it did not happen');
}

test('sends a link through the mail server and not to the inbox', async () => {
  const email = 'by-mail@example.com';
  expect((await fixture.client().auth.signUp({ email, password })).error).toBeNull();
  const mail = await until(() => mails.taken.find(({ to }) => to.includes(email)));
  expect([mail.from, mail.user]).toEqual(['app@example.com', 'app']);
  const source = mail.source.toString().replaceAll('=\r\n', '').replaceAll('=3D', '=');
  expect(source).toContain('From: The App <app@example.com>');
  const link = /http:\/\/\S+\/verify\?\S+/.exec(source)?.[0] ?? '';
  const reply = await fetch(link, { redirect: 'manual' });
  expect(reply.headers.get('location')).toContain('#access_token=');
  expect((await fixture.client().auth.signInWithPassword({ email, password })).error).toBeNull();
});

test('logs no link, code, token or address', async () => {
  const email = 'unlogged@example.com';
  await fixture.client().auth.signUp({ email, password });
  const mail = await until(() => mails.taken.find(({ to }) => to.includes(email)));
  const source = mail.source.toString().replaceAll('=\r\n', '').replaceAll('=3D', '=');
  const token = /[?&]token=([\da-f]{56})/.exec(source)?.[1] ?? 'no token';
  await fixture.call('POST', '/verify', { type: 'signup', token_hash: 'x'.repeat(56) });
  const verified: any = await (await fixture.call('POST', '/verify', { type: 'signup', token_hash: token })).json();
  const log = fixture.host.log.join('\n');
  for (const secret of [
    token,
    verified.access_token,
    verified.refresh_token,
    fixture.serviceKey,
    password,
    'of the server',
  ]) {
    expect(log).not.toContain(secret);
  }
});

test('limits remote addresses but not loopback clients', async () => {
  const from = (address: string) => (path: string, body: unknown) =>
    fixture.call('POST', path, body, { 'x-forwarded-for': address });
  const statuses = async (call: ReturnType<typeof from>): Promise<Set<number>> => {
    const replies: number[] = [];
    for (let index = 0; index < 31; index += 1)
      replies.push((await call('/verify', { type: 'signup', token_hash: 'x' })).status);
    expect(new Set(replies.slice(0, 30))).toEqual(new Set([403]));
    return new Set(replies.slice(30));
  };
  expect(await statuses(from('192.168.7.7'))).toEqual(new Set([429]));
  expect(await statuses(from('192.168.7.8'))).toEqual(new Set([429]));
  expect(await statuses((path, body) => fixture.call('POST', path, body))).toEqual(new Set([403]));
  fixture.clock.advance(300_000);
  expect((await from('192.168.7.7')('/verify', { type: 'signup', token_hash: 'x' })).status).toBe(403);
});

test('keeps users signed in when PostgreSQL is killed: answers 503 and recovers', async () => {
  const email = 'stays@example.com';
  const admin = fixture.client({ key: fixture.serviceKey }).auth.admin;
  expect((await admin.createUser({ email, password, email_confirm: true })).error).toBeNull();
  const client = fixture.client();
  expect((await client.auth.signInWithPassword({ email, password })).error).toBeNull();
  const { data } = await client.auth.getSession();
  const [{ pid }] = await fixture.sql('select pg_backend_pid() as pid');
  const server = Number(execFileSync('ps', ['-o', 'ppid=', '-p', String(pid)], { encoding: 'utf8' }));
  const headers = { Authorization: `Bearer ${data.session?.access_token}` };
  const request = Array.from({ length: 20 }, () => fixture.call('GET', '/user', undefined, headers));
  process.kill(server, 'SIGKILL');
  const statuses = new Set((await Promise.all(request)).map(({ status }) => status));
  expect([200, 503]).toEqual(expect.arrayContaining([...statuses]));
  const refreshed = await until(async () => {
    const { data: updated, error } = await client.auth.refreshSession();
    // The failure must be an error that clients retry, which keeps the session.
    if (error !== null) expect([error.name, error.status]).toEqual(['AuthRetryableFetchError', 503]);
    return updated.session ?? undefined;
  });
  expect(refreshed.user.email).toBe(email);
  expect((await client.auth.getUser()).error).toBeNull();
});
