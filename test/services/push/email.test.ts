import PostalMime from 'postal-mime';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { control } from '../../../services/control/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { push } from '../../../services/push/index.ts';
import { openMailServer } from '../../support/mail-server.ts';
import { admin, openRig, type Rig } from './rig.ts';

const services = [push, inbox, notify, control];
type MailServer = Awaited<ReturnType<typeof openMailServer>>;

function toEnvironment(server: MailServer): Record<string, string> {
  return {
    NTFY_SMTP_SENDER_ADDR: `127.0.0.1:${String(server.port)}`,
    NTFY_SMTP_SENDER_FROM: 'ntfy@example.org',
    NTFY_BASE_URL: 'https://push.example.org',
  };
}

async function getCode(answer: ReturnType<Rig['ask']>): Promise<number> {
  return (JSON.parse((await answer).text) as { code: number }).code;
}

describe('messages as mail', () => {
  let server: MailServer;
  let rig: Rig;
  beforeAll(async () => {
    server = await openMailServer();
    rig = await openRig({ services, environment: toEnvironment(server) });
  });
  afterAll(async () => {
    await rig[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });
  const next = async () => {
    await vi.waitFor(() => expect(server.taken).not.toEqual([]), { timeout: 20_000 });
    const [mail] = server.taken.splice(0);
    const { subject, text, from } = await PostalMime.parse(mail?.source ?? '');
    return { envelope: { from: mail?.from, to: mail?.to }, subject, text: text?.trim(), from };
  };

  it("are sent to the address of the parameter with ntfy's text", async () => {
    const { time } = await rig.publish('/db-info-backup', 'Nightly\nrun failed', {
      Title: 'Backup',
      Tags: 'warning,nas',
      Priority: 'high',
      Email: 'me@example.com',
    });
    expect(await next()).toMatchObject({
      envelope: { from: 'ntfy@example.org', to: ['me@example.com'] },
      from: { name: 'push.example.org/db-info-backup', address: 'ntfy@example.org' },
      subject: '⚠️ Backup',
      text:
        'Nightly\nrun failed\n\nTags: nas\nPriority: high\n\n--\nThis message was sent by 127.0.0.1 at ' +
        `${new Date(time * 1000).toUTCString().replace('GMT', 'UTC')} via https://push.example.org/` +
        'db-info-backup',
    });
  });

  it('uses the text as the subject without title, also from JSON', async () => {
    const body = JSON.stringify({ topic: 'g', message: 'two\nlines', email: 'you@example.com' });
    expect((await rig.ask('POST', '/', { authorization: admin }, body)).status).toBe(200);
    expect(await next()).toMatchObject({ subject: 'two lines', envelope: { to: ['you@example.com'] } });
  });

  it.each([
    ['two addresses', { Email: 'a@example.com,b@example.com' }, 40050],
    ['no address', { Email: 'me' }, 40050],
    ['the own address, which accounts do not have', { Email: 'yes' }, 40052],
    ['a delay', { Email: 'a@example.com', In: '1h' }, 40003],
  ])('are refused for %s', async (_case, headers, expected) => {
    expect(await getCode(rig.ask('POST', '/g', { authorization: admin, ...headers }, 'x'))).toBe(expected);
  });

  it('are reported in the account and the configuration', async () => {
    const account = JSON.parse((await rig.ask('GET', '/v1/account', { authorization: admin })).text);
    expect(account).toMatchObject({ limits: { emails: 24 }, stats: { emails: 2, emails_remaining: 22 } });
    expect(JSON.parse((await rig.ask('GET', '/v1/config')).text)).toMatchObject({ enable_emails: true });
  });

  it('are not sent again for a poll, or without the parameter', async () => {
    await rig.publish('/g', 'x', { 'X-Poll-ID': 'abc', Email: 'a@example.com' });
    await rig.publish('/g', 'last', { Email: 'last@example.com' });
    expect(await next()).toMatchObject({ subject: 'last' });
    expect(server.taken).toEqual([]);
  });
});

describe('limits of mail', () => {
  it("applies limits to accounts when accounts are limited, with ntfy's code", async () => {
    await using server = await openMailServer();
    await using rig = await openRig({
      services,
      environment: {
        ...toEnvironment(server),
        NTFY_VISITOR_EMAIL_LIMIT_BURST: '1',
        PUSH_LIMIT_ACCOUNTS: 'true',
        NTFY_VISITOR_REQUEST_LIMIT_EXEMPT_HOSTS: '192.0.2.1',
      },
    });
    await rig.publish('/g', 'one', { Email: 'a@example.com' });
    expect(await getCode(rig.ask('POST', '/g', { authorization: admin, Email: 'a@example.com' }, 'two'))).toBe(42902);
    await rig.publish('/g', 'three');
  });
});

describe('mail without a mail server or the notify service', () => {
  it("is refused with ntfy's code", async () => {
    await using rig = await openRig({ services });
    expect(await getCode(rig.ask('POST', '/g', { authorization: admin, Email: 'a@example.com' }, 'x'))).toBe(40001);
    await using server = await openMailServer();
    await using secondRig = await openRig({ environment: toEnvironment(server) });
    expect(await getCode(secondRig.ask('POST', '/g', { authorization: admin, Email: 'a@example.com' }, 'x'))).toBe(
      40001,
    );
  });
});
