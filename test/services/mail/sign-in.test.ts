import * as problems from '#messages/mail-problems';
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { connect as connectTls } from 'node:tls';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { mail } from '../../../services/mail/index.ts';
import { Settings } from '../../../services/mail/settings.ts';
import { SignIn } from '../../../services/mail/accept/sign-in.ts';
import { createNetworkFilter } from '../../../services/mail/smtp/networks.ts';
import type { Refusal } from '../../../services/mail/accept/refusal.ts';
import { openAccountsFixture } from '../../host/accounts/accounts-fixture.ts';
import { admin, openTestHost, type TestHost } from '../../support/host.ts';
import { isMissing, lacksProgram, needs } from '../../support/requirements.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { Client } from './support.ts';

needs('openssl');

const execute = promisify(execFile);
const folder = mkdtempSync(join(tmpdir(), 'mail-tls-'));
const [certificateFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
const secret = 'correct horse 1';
const message = 'From: nas@home\r\nSubject: signed in\r\n\r\nx\r\n';

let host: TestHost | undefined;
let offers: Offers;

beforeAll(() => {
  execFileSync('openssl', [
    ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
    ...[
      '-keyout',
      keyFile,
      '-out',
      certificateFile,
      '-subj',
      '/CN=localhost',
      '-addext',
      'subjectAltName=DNS:localhost',
    ],
  ]);
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));
afterEach(async () => {
  await host?.[Symbol.asyncDispose]();
  host = undefined;
});

async function openMail(settings: Partial<Settings>): Promise<number> {
  const probe = createProbe(['notices']);
  offers = probe.offers;
  const configured = {
    ...mail,
    create: (context: Parameters<typeof mail.create>[0], _settings: Settings) =>
      mail.create(context, { ..._settings, logins: [{ name: 'nas', password: secret }], ...settings }),
  };
  host = await openTestHost({ services: [probe.descriptor, configured] });
  return host.port('mail');
}

const encodePlain = (name: string, password: string): string =>
  `AUTH PLAIN ${Buffer.from(`\0${name}\0${password}`).toString('base64')}`;

async function openSession(port: number): Promise<{ client: Client; extensions: string }> {
  const client = await Client.open(port);
  await client.reply();
  return { client, extensions: await client.command('EHLO test') };
}

describe('sign-in', () => {
  it('accepts a login of the settings or an account, when required', async () => {
    const port = await openMail({ signIn: 'required' });
    const { client, extensions } = await openSession(port);
    using _client = client;
    expect(extensions).toContain('AUTH PLAIN LOGIN');
    expect(await client.command('MAIL FROM:<a@b>')).toMatch(/^530 5\.7\.0 /);
    expect(await client.command(encodePlain('nas', 'wrong'))).toMatch(/^535 5\.7\.8 /);
    expect(await client.command('AUTH PLAIN !!!')).toMatch(/^501 /);
    expect(await client.command('AUTH CRAM-MD5')).toMatch(/^504 /);
    expect(await client.command('AUTH LOGIN')).toMatch(/^334 /);
    expect(await client.command(Buffer.from('nas').toString('base64'))).toMatch(/^334 /);
    expect(await client.command(Buffer.from(secret).toString('base64'))).toMatch(/^235 2\.7\.0 /);
    expect(await client.command('MAIL FROM:<a@b>')).toMatch(/^250 /);
    const { client: second } = await openSession(port);
    using _second = second;
    expect(await second.command(encodePlain(admin.name, admin.password))).toMatch(/^235 /);
    expect(host?.log.join('\n')).not.toMatch(/correct horse|wrong/);
  });

  it('allows an account granted recipients only', async () => {
    const port = await openMail({ signIn: 'optional' });
    await offers.context?.accounts.create({
      name: 'cam',
      password: 'door door door',
      grants: [{ service: 'mail', resource: 'alerts*', permission: 'write' }],
    });
    const { client } = await openSession(port);
    using _client = client;
    expect(await client.command(encodePlain('cam', 'door door door'))).toMatch(/^235 /);
    await client.command('MAIL FROM:<a@b>');
    expect(await client.command('RCPT TO:<aggregator@x>')).toMatch(/^550 5\.7\.1 This account may not/);
    expect(await client.command('RCPT TO:<Alerts.failure@x>')).toMatch(/^250 /);
    const { client: unauthenticated } = await openSession(port);
    using _nobody = unauthenticated;
    await unauthenticated.command('MAIL FROM:<a@b>');
    expect(await unauthenticated.command('RCPT TO:<aggregator@x>')).toMatch(/^250 /);
  });

  it('is limited after repeated failures', async () => {
    const port = await openMail({ signIn: 'required' });
    const replies: string[] = [];
    for (let attempt = 0; attempt < 30 && !replies.some((reply) => reply.startsWith('454')); attempt += 1) {
      const { client } = await openSession(port);
      replies.push(await client.command(encodePlain(admin.name, `guess ${String(attempt)}`)));
      client[Symbol.dispose]();
    }
    expect(replies[0]).toMatch(/^535 /);
    expect(replies.at(-1)).toMatch(/^454 /);
  });
});

describe('login of the settings', () => {
  it('is limited per client address, and allowed again later', async () => {
    await using byLogin = await openAccountsFixture();
    const signIn = new SignIn(byLogin.accounts, () => [{ name: 'nas', password: secret }]);
    const code = async (password: string, address: string): Promise<number> => {
      const checked = signIn.check('nas', password, address).then(
        () => 235,
        (error: unknown) => (error as Refusal).responseCode,
      );
      byLogin.clock.advance(20_000);
      return checked;
    };
    for (const [attacker, otherAddress] of [
      ['10.0.0.9', '10.0.0.8'],
      ['2001:db8:1:2::7', '2001:db8:1:3::7'],
    ] as const) {
      const attemptFrom = (address: string) => (_: unknown, guess: number) =>
        signIn
          .check('nas', `guess ${String(guess)}`, address)
          .catch((error: unknown) => (error as Refusal).responseCode);
      const guesses = Array.from({ length: 40 }, attemptFrom(attacker));
      // The correct password is refused, too; otherwise guessing would continue to pay off.
      expect(await code(secret, attacker)).toBe(454);
      expect(await code(secret, otherAddress)).toBe(235);
      byLogin.clock.advance(60_000);
      const codes = await Promise.all(guesses);
      expect(codes.filter((entry) => entry === 535)).toHaveLength(5);
      expect(codes.filter((entry) => entry === 454)).toHaveLength(35);
      // Later it is accepted again, and recently correct passwords pass first.
      expect(await code(secret, attacker)).toBe(235);
      const more = Array.from({ length: 40 }, attemptFrom(attacker));
      expect(await signIn.check('nas', secret, attacker)).toEqual({ login: 'nas' });
      byLogin.clock.advance(60_000);
      await Promise.all(more);
    }
  });
});

describe('client networks', () => {
  it('refuses addresses outside of the setting', async () => {
    const port = await openMail({ clients: ['10.20.0.0/16'], signIn: 'required' });
    using client = await Client.open(port);
    expect(await client.reply()).toMatch(/^554 5\.7\.1 Not from this network/);
    expect(await client.reply()).toBe('');
  });

  it.each([
    [[], '127.0.0.1', true],
    [[], '::1', true],
    [[], '::ffff:192.168.1.7', true],
    [[], 'fe80::1%eth0', true],
    [[], '8.8.8.8', false],
    [[], '2001:db8::1', false],
    [['192.168.1.0/24'], '192.168.1.9', true],
    [['192.168.1.0/24'], '192.168.2.9', false],
    [['192.168.1.0/24'], '127.0.0.1', false],
    [['2001:db8::/32'], '2001:db8::1', true],
    [[], '', false],
  ])('matches %j with %s: %s', (networks, address, expected) => {
    expect(createNetworkFilter(networks)(address)).toBe(expected);
  });

  it('are validated in the settings', () => {
    const check = (network: string) => Settings.safeParse({ clients: [network] }).success;
    expect(['10.0.0.0/8', '::1', '10.0.0.0/33', 'host', '10.0.0.0/8/1'].map(check)).toEqual([
      true,
      true,
      false,
      false,
      false,
    ]);
  });
});

describe('real clients', () => {
  const swaks = (port: number, ...more: readonly string[]) =>
    execute('swaks', [
      ...['--server', `127.0.0.1:${String(port)}`, '--to', 'alerts@home', '--from', 'nas@home', '--data', message],
      ...['--auth-user', 'nas', '--auth-password', secret, ...more],
    ]);
  it.skipIf(lacksProgram('swaks'))('swaks signs in with both methods', async () => {
    const port = await openMail({ signIn: 'required' });
    for (const method of ['PLAIN', 'LOGIN']) {
      expect((await swaks(port, '--auth', method)).stdout).toMatch(/250 2\.0\.0 queued as/);
    }
    await expect(swaks(port, '--auth', 'PLAIN', '--auth-password', 'no')).rejects.toMatchObject({ code: 28 });
    await vi.waitFor(() => expect(offers.notices.size).toBe(2));
  });

  // Encryption of swaks requires a separate package.
  it.skipIf(lacksProgram('swaks') || isMissing(spawnSync('perl', ['-MNet::SSLeay', '-e', '1']).status === 0))(
    'swaks signs in only after STARTTLS',
    async () => {
      const port = await openMail({ signIn: 'required', tls: 'required', certificateFile, keyFile });
      expect((await swaks(port, '--tls', '--auth', 'PLAIN')).stdout).toMatch(/250 2\.0\.0 queued as/);
      await expect(swaks(port, '--auth', 'PLAIN')).rejects.toMatchObject({ code: 28 });
      await vi.waitFor(() => expect(offers.notices.size).toBe(1));
    },
  );

  it.skipIf(lacksProgram('msmtp'))('lets msmtp sign in after STARTTLS, and over implicit TLS', async () => {
    for (const tls of ['starttls', 'implicit'] as const) {
      const port = await openMail({ signIn: 'required', tls, certificateFile, keyFile });
      const config = join(folder, 'msmtprc');
      const lines = [
        ...['account default', 'host localhost', `port ${String(port)}`, 'from nas@home', 'auth on', 'user nas'],
        ...[`password ${secret}`, 'tls on', `tls_starttls ${tls === 'implicit' ? 'off' : 'on'}`],
        `tls_trust_file ${certificateFile}`,
      ];
      writeFileSync(config, `${lines.join('\n')}\n`, { mode: 0o600 });
      const sending = execute('msmtp', ['-C', config, 'alerts@home']);
      sending.child.stdin?.end(message);
      await sending;
      await vi.waitFor(() => expect(offers.notices.size).toBe(1));
      await host?.[Symbol.asyncDispose]();
      host = undefined;
    }
  });

  it.skipIf(lacksProgram('python3'))('lets Python’s smtplib sign in after STARTTLS and send a file', async () => {
    const port = await openMail({ signIn: 'required', tls: 'starttls', certificateFile, keyFile });
    const script = `
import smtplib, ssl, sys
from email.message import EmailMessage
mail = EmailMessage()
mail['From'], mail['To'], mail['Subject'] = 'nas@home', 'alerts@home', 'Gr\\u00fc\\u00dfe'
mail.set_content('text')
mail.add_attachment('a,b', subtype='csv', filename='log.csv')
with smtplib.SMTP('localhost', ${String(port)}) as smtp:
    smtp.starttls(context=ssl.create_default_context(cafile=sys.argv[1]))
    smtp.login('nas', sys.argv[2])
    smtp.send_message(mail)
    try:
        smtp.sendmail('a@b', ['nobody@home'], 'x')
    except smtplib.SMTPRecipientsRefused as error:
        print(error.recipients['nobody@home'][0])
`;
    const { stdout } = await execute('python3', ['-c', script, certificateFile, secret]);
    expect(stdout.trim()).toBe('550');
    await vi.waitFor(() => expect(offers.notices.size).toBe(1));
    const [offer] = [...offers.notices.values()];
    expect(offer?.notice.title).toBe('Grüße (nas@home)');
    expect(offer?.files?.map(({ name, type }) => [name, type])).toEqual([['log.csv', 'text/csv']]);
  });

  it('refuses an unencrypted sign-in when encryption is available, and ignores commands sent before it', async () => {
    const port = await openMail({ signIn: 'optional', tls: 'starttls', certificateFile, keyFile });
    const { client, extensions } = await openSession(port);
    using _client = client;
    expect(extensions).toContain('STARTTLS');
    expect(await client.command(encodePlain('nas', secret))).toMatch(/^538 /);
    client.write('STARTTLS\r\nMAIL FROM:<evil@x>\r\nRCPT TO:<alerts@x>\r\nDATA\r\n');
    expect(await client.reply()).toMatch(/^220 /);
    client[Symbol.dispose]();
    expect(offers.notices.size).toBe(0);
  });

  it.each<[Pick<Settings, 'signIn' | 'tls'>, boolean, boolean | undefined]>([
    [{ signIn: 'off', tls: 'off' }, false, undefined],
    [{ signIn: 'optional', tls: 'off' }, true, undefined],
    [{ signIn: 'required', tls: 'off' }, true, undefined],
    [{ signIn: 'off', tls: 'starttls' }, false, false],
    [{ signIn: 'optional', tls: 'starttls' }, false, true],
    [{ signIn: 'required', tls: 'starttls' }, false, true],
    [{ signIn: 'optional', tls: 'required' }, false, true],
    [{ signIn: 'required', tls: 'required' }, false, true],
  ])('offers AUTH only where a password is encrypted or cannot be: %j', async (settings, isOffered, isOfferedLater) => {
    const port = await openMail({ ...settings, certificateFile, keyFile });
    const listExtensions = async (socket: Socket): Promise<readonly string[]> => {
      socket.write('EHLO test\r\n');
      let text = '';
      while (!/^250 .*\r\n$/m.test(text)) text += String((await once(socket, 'data'))[0]);
      return text.split('\r\n').map((line) => line.slice(4));
    };
    const offersSignIn = (extensions: readonly string[]): boolean =>
      extensions.some((entry) => entry.startsWith('AUTH'));
    const socket = connect(port, '127.0.0.1');
    await once(socket, 'data');
    const extensions = await listExtensions(socket);
    expect([offersSignIn(extensions), extensions.includes('STARTTLS')]).toEqual([isOffered, settings.tls !== 'off']);
    if (isOfferedLater !== undefined) {
      socket.write('STARTTLS\r\n');
      expect(String((await once(socket, 'data'))[0])).toMatch(/^220 /);
      const secured = connectTls({ socket, servername: 'localhost', ca: readFileSync(certificateFile) });
      await once(secured, 'secureConnect');
      const laterExtensions = await listExtensions(secured);
      expect([offersSignIn(laterExtensions), laterExtensions.includes('STARTTLS')]).toEqual([isOfferedLater, false]);
      secured.destroy();
    }
    socket.destroy();
  });

  it('does not start with an invalid certificate, and reports why', async () => {
    const probe = createProbe([]);
    const broken = {
      ...mail,
      create: (context: Parameters<typeof mail.create>[0], _settings: Settings) =>
        mail.create(context, { ..._settings, tls: 'starttls' }),
    };
    host = await openTestHost({ services: [probe.descriptor, broken] });
    expect(host.host.failures()['mail']).toContain(problems.certificateMissing());
  });
});
