import { execFile, execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { mail } from '../../../services/mail/index.ts';
import { Settings } from '../../../services/mail/settings.ts';
import { SignIn } from '../../../services/mail/accept/sign-in.ts';
import { within } from '../../../services/mail/smtp/networks.ts';
import type { Refusal } from '../../../services/mail/smtp/refusal.ts';
import { openHouse } from '../../host/accounts/house.ts';
import { admin, openTestHost, type TestHost } from '../../support/host.ts';
import { lacks, lacksProgram } from '../../support/needs.ts';
import { createProbe, type Offers } from '../notify/support.ts';
import { Client } from './support.ts';

const run = promisify(execFile);
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

async function open(settings: Partial<Settings>): Promise<number> {
  const probe = createProbe(['notices']);
  offers = probe.offers;
  const configured = {
    ...mail,
    create: (context: Parameters<typeof mail.create>[0], given: Settings) =>
      mail.create(context, { ...given, logins: [{ name: 'nas', password: secret }], ...settings }),
  };
  host = await openTestHost({ services: [probe.descriptor, configured] });
  return host.port('mail');
}

const plain = (name: string, password: string): string =>
  `AUTH PLAIN ${Buffer.from(`\0${name}\0${password}`).toString('base64')}`;

async function greet(port: number): Promise<{ client: Client; extensions: string }> {
  const client = await Client.open(port);
  await client.reply();
  return { client, extensions: await client.command('EHLO test') };
}

describe('a sign-in', () => {
  it('is by a login of the settings or an account, and needed where it is asked for', async () => {
    const port = await open({ signIn: 'required' });
    const { client, extensions } = await greet(port);
    using _client = client;
    expect(extensions).toContain('AUTH PLAIN LOGIN');
    expect(await client.command('MAIL FROM:<a@b>')).toMatch(/^530 5\.7\.0 /);
    expect(await client.command(plain('nas', 'wrong'))).toMatch(/^535 5\.7\.8 /);
    expect(await client.command('AUTH PLAIN !!!')).toMatch(/^501 /);
    expect(await client.command('AUTH CRAM-MD5')).toMatch(/^504 /);
    expect(await client.command('AUTH LOGIN')).toMatch(/^334 /);
    expect(await client.command(Buffer.from('nas').toString('base64'))).toMatch(/^334 /);
    expect(await client.command(Buffer.from(secret).toString('base64'))).toMatch(/^235 2\.7\.0 /);
    expect(await client.command('MAIL FROM:<a@b>')).toMatch(/^250 /);
    const { client: second } = await greet(port);
    using _second = second;
    expect(await second.command(plain(admin.name, admin.password))).toMatch(/^235 /);
    expect(host?.log.join('\n')).not.toMatch(/correct horse|wrong/);
  });

  it('of an account reaches the recipients it was granted', async () => {
    const port = await open({ signIn: 'optional' });
    await offers.context?.accounts.create({
      name: 'cam',
      password: 'door door door',
      grants: [{ service: 'mail', resource: 'alerts*', permission: 'write' }],
    });
    const { client } = await greet(port);
    using _client = client;
    expect(await client.command(plain('cam', 'door door door'))).toMatch(/^235 /);
    await client.command('MAIL FROM:<a@b>');
    expect(await client.command('RCPT TO:<aggregator@x>')).toMatch(/^550 5\.7\.1 This account may not/);
    expect(await client.command('RCPT TO:<Alerts.failure@x>')).toMatch(/^250 /);
    const { client: nobody } = await greet(port);
    using _nobody = nobody;
    await nobody.command('MAIL FROM:<a@b>');
    expect(await nobody.command('RCPT TO:<aggregator@x>')).toMatch(/^250 /);
  });

  it('is guessed at only so often', async () => {
    const port = await open({ signIn: 'required' });
    const replies: string[] = [];
    for (let attempt = 0; attempt < 30 && !replies.some((reply) => reply.startsWith('454')); attempt += 1) {
      const { client } = await greet(port);
      replies.push(await client.command(plain(admin.name, `guess ${String(attempt)}`)));
      client[Symbol.dispose]();
    }
    expect(replies[0]).toMatch(/^535 /);
    expect(replies.at(-1)).toMatch(/^454 /);
  });
});

describe('a login of the settings', () => {
  it('is guessed at only so often too, from each place by itself, and opens again with time', async () => {
    await using house = await openHouse();
    const signIn = new SignIn(house.accounts, () => [{ name: 'nas', password: secret }]);
    const code = async (password: string, address: string): Promise<number> => {
      const checked = signIn.check('nas', password, address).then(
        () => 235,
        (error: unknown) => (error as Refusal).responseCode,
      );
      house.clock.advance(20_000);
      return checked;
    };
    for (const [attacker, other] of [
      ['10.0.0.9', '10.0.0.8'],
      ['2001:db8:1:2::7', '2001:db8:1:3::7'],
    ] as const) {
      const at = (address: string) => (_: unknown, guess: number) =>
        signIn
          .check('nas', `guess ${String(guess)}`, address)
          .catch((error: unknown) => (error as Refusal).responseCode);
      const guesses = Array.from({ length: 40 }, at(attacker));
      // Not even the right one: else to go on guessing would pay.
      expect(await code(secret, attacker)).toBe(454);
      expect(await code(secret, other)).toBe(235);
      house.clock.advance(60_000);
      const codes = await Promise.all(guesses);
      expect(codes.filter((each) => each === 535)).toHaveLength(5);
      expect(codes.filter((each) => each === 454)).toHaveLength(35);
      // With the time that it takes it is heard, and what was just right passes first.
      expect(await code(secret, attacker)).toBe(235);
      const more = Array.from({ length: 40 }, at(attacker));
      expect(await signIn.check('nas', secret, attacker)).toEqual({ login: 'nas' });
      house.clock.advance(60_000);
      await Promise.all(more);
    }
  });
});

describe('networks', () => {
  it('that are not named are turned away at the door', async () => {
    const port = await open({ clients: ['10.20.0.0/16'], signIn: 'required' });
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
  ])('%j and %s: %s', (networks, address, expected) => {
    expect(within(networks)(address)).toBe(expected);
  });

  it('are checked in the settings', () => {
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
    run('swaks', [
      ...['--server', `127.0.0.1:${String(port)}`, '--to', 'alerts@home', '--from', 'nas@home', '--data', message],
      ...['--auth-user', 'nas', '--auth-password', secret, ...more],
    ]);
  it.skipIf(lacksProgram('swaks'))('swaks signs in, both ways', async () => {
    const port = await open({ signIn: 'required' });
    for (const method of ['PLAIN', 'LOGIN']) {
      expect((await swaks(port, '--auth', method)).stdout).toMatch(/250 2\.0\.0 queued as/);
    }
    await expect(swaks(port, '--auth', 'PLAIN', '--auth-password', 'no')).rejects.toMatchObject({ code: 28 });
    await vi.waitFor(() => expect(offers.notices.size).toBe(2));
  });

  // Its encryption comes in a package of its own.
  it.skipIf(lacksProgram('swaks') || lacks(spawnSync('perl', ['-MNet::SSLeay', '-e', '1']).status === 0))(
    'swaks signs in after STARTTLS, and not without',
    async () => {
      const port = await open({ signIn: 'required', tls: 'required', certificateFile, keyFile });
      expect((await swaks(port, '--tls', '--auth', 'PLAIN')).stdout).toMatch(/250 2\.0\.0 queued as/);
      await expect(swaks(port, '--auth', 'PLAIN')).rejects.toMatchObject({ code: 28 });
      await vi.waitFor(() => expect(offers.notices.size).toBe(1));
    },
  );

  it.skipIf(lacksProgram('msmtp'))('msmtp signs in after STARTTLS, and over implicit TLS', async () => {
    for (const tls of ['starttls', 'implicit'] as const) {
      const port = await open({ signIn: 'required', tls, certificateFile, keyFile });
      const config = join(folder, 'msmtprc');
      const lines = [
        ...['account default', 'host localhost', `port ${String(port)}`, 'from nas@home', 'auth on', 'user nas'],
        ...[`password ${secret}`, 'tls on', `tls_starttls ${tls === 'implicit' ? 'off' : 'on'}`],
        `tls_trust_file ${certificateFile}`,
      ];
      writeFileSync(config, `${lines.join('\n')}\n`, { mode: 0o600 });
      const sending = run('msmtp', ['-C', config, 'alerts@home']);
      sending.child.stdin?.end(message);
      await sending;
      await vi.waitFor(() => expect(offers.notices.size).toBe(1));
      await host?.[Symbol.asyncDispose]();
      host = undefined;
    }
  });

  it.skipIf(lacksProgram('python3'))('Python’s smtplib signs in after STARTTLS and sends a file', async () => {
    const port = await open({ signIn: 'required', tls: 'starttls', certificateFile, keyFile });
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
    const { stdout } = await run('python3', ['-c', script, certificateFile, secret]);
    expect(stdout.trim()).toBe('550');
    await vi.waitFor(() => expect(offers.notices.size).toBe(1));
    const [offer] = [...offers.notices.values()];
    expect(offer?.notice.title).toBe('Grüße (nas@home)');
    expect(offer?.files?.map(({ name, type }) => [name, type])).toEqual([['log.csv', 'text/csv']]);
  });

  it('a sign-in in the clear is refused where encryption is there, and what was piped before it is not heard', async () => {
    const port = await open({ signIn: 'optional', tls: 'starttls', certificateFile, keyFile });
    const { client, extensions } = await greet(port);
    using _client = client;
    expect(extensions).toContain('STARTTLS');
    expect(await client.command(plain('nas', secret))).toMatch(/^538 /);
    client.write('STARTTLS\r\nMAIL FROM:<evil@x>\r\nRCPT TO:<alerts@x>\r\nDATA\r\n');
    expect(await client.reply()).toMatch(/^220 /);
    client[Symbol.dispose]();
    expect(offers.notices.size).toBe(0);
  });

  it('a certificate that cannot be used keeps the service from starting, and says why', async () => {
    const probe = createProbe([]);
    const broken = {
      ...mail,
      create: (context: Parameters<typeof mail.create>[0], given: Settings) =>
        mail.create(context, { ...given, tls: 'starttls' }),
    };
    host = await openTestHost({ services: [probe.descriptor, broken] });
    expect(host.host.failures()['mail']).toContain('Encryption needs the files of a certificate');
  });
});
