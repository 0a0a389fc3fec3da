import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import type { Context } from '../../../services/contracts/service.ts';
import { mail } from '../../../services/mail/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import type { Settings } from '../../../services/mail/settings.ts';
import { push } from '../../../services/push/index.ts';
import { control } from '../../../services/control/index.ts';
import { SmtpDialogue } from '../../support/smtp.ts';
import { admin, openRig, type Rig } from '../push/rig.ts';

/** Mail to topic addresses with the grants of a token, from socket to topic. */
describe('mail to a topic', () => {
  let rig: Rig;
  let token: string;
  beforeAll(async () => {
    rig = await openRig({
      services: [push, inbox, control, mail],
      environment: { NTFY_SMTP_SERVER_DOMAIN: 'ntfy.example.org', NTFY_SMTP_SERVER_ADDR_PREFIX: 'ntfy-' },
    });
    const grants = [{ service: 'push', resource: '*-backup', permission: 'write' as const }];
    await rig.context.accounts.create({ name: 'nas', password: 'a long password', role: 'user', grants });
    token = (await rig.context.accounts.createToken('nas', { label: 'mail', expiresAt: null })).text;
  });
  afterAll(() => rig[Symbol.asyncDispose]());

  async function sendMail(to: string, subject = 'Nightly', body = 'done'): Promise<string> {
    using dialogue = await SmtpDialogue.open(rig.host.port('mail'));
    return await dialogue.send(to, subject, body);
  }
  const newest = async (topic: string) => (await rig.poll(`/${topic}/json?poll=1`)).at(-1);

  it('is published with the subject as the title', async () => {
    expect(await sendMail(`ntfy-DB-backup+${token}@ntfy.example.org`)).toMatch(/^250 2.0.0 queued/);
    await vi.waitFor(async () => {
      expect(await newest('DB-backup')).toMatchObject({ event: 'message', title: 'Nightly', message: 'done' });
    });
    expect(await newest('DB-backup')).not.toHaveProperty('priority');
  });

  it('is published as its subject without text', async () => {
    await sendMail(`ntfy-empty-backup+${token}@ntfy.example.org`, 'only this', '');
    await vi.waitFor(async () => expect(await newest('empty-backup')).toMatchObject({ message: 'only this' }));
    expect(await newest('empty-backup')).not.toHaveProperty('title');
  });

  it.each([
    ['without a token', () => 'ntfy-db-backup@ntfy.example.org', /^550 5\.7\.1 Not allowed/],
    ['with a wrong token', () => `ntfy-db-backup+tk_${'a'.repeat(29)}@ntfy.example.org`, /^550 5\.7\.1 The token/],
    ['to a topic it has no grant for', () => `ntfy-door+${token}@ntfy.example.org`, /^550 5\.7\.1 Not allowed/],
    ['without the word in front', () => `db-backup+${token}@ntfy.example.org`, /^550 5\.1\.1/],
    ['at another domain', () => `ntfy-db-backup+${token}@example.org`, /^550 5\.1\.1/],
    ['to no topic', () => `ntfy-a.b+${token}@ntfy.example.org`, /^550 5\.1\.1/],
  ])('is refused %s', async (_case, to, reply) => {
    expect(await sendMail(to())).toMatch(reply);
  });

  it('needs no other sign-in when one is required', async () => {
    const strict = {
      ...mail,
      create: (context: Context, _settings: Settings) => mail.create(context, { ..._settings, signIn: 'required' }),
    };
    await using strictRig = await openRig({
      services: [push, inbox, control, strict],
      environment: { NTFY_SMTP_SERVER_DOMAIN: 'ntfy.example.org' },
    });
    await strictRig.context.accounts.create({ name: 'nas', role: 'admin' });
    const { text } = await strictRig.context.accounts.createToken('nas', { label: 'mail', expiresAt: null });
    using dialogue = await SmtpDialogue.open(strictRig.host.port('mail'));
    expect(await dialogue.send('alerts@ntfy', 'a', 'b')).toMatch(/^530 /);
    await dialogue.command('RSET');
    expect(await dialogue.send(`door+${text}@ntfy.example.org`, 'a', 'b')).toMatch(/^250 /);
  });

  it('does not reveal the token', async () => {
    const response = await fetch(`${rig.host.url('control')}/api/mail/messages`, { headers: { authorization: admin } });
    const listed = await response.text();
    expect(listed).toContain('ntfy-DB-backup@ntfy.example.org');
    expect(listed).not.toContain(token);
    expect(rig.host.log.join('\n')).not.toContain(token);
  });
});
