import { execFile, execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { SelfTest } from '../../../services/contracts/gateway/api.ts';
import { control } from '../../../services/control/index.ts';
import { gateway } from '../../../services/gateway/index.ts';
import { git } from '../../../services/git/index.ts';
import { inbox } from '../../../services/inbox/index.ts';
import { mail } from '../../../services/mail/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { push } from '../../../services/push/index.ts';
import { api, inbox as readInbox } from '../../support/api.ts';
import { secondMachine, type Machine } from '../../support/gateway/machine.ts';
import { sharing } from '../../support/gateway/phone.ts';
import { admin, adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { lacksProgram, needs } from '../../support/requirements.ts';

needs('curl', 'openssl', 'ssh client');

const folder = mkdtempSync(join(tmpdir(), 'gateway-ports-'));
const key = join(folder, 'id_laptop');
const login = { name: 'nas', password: 'correct horse 1' };
let machine: Machine;
let host: TestHost;

const test = (): Promise<SelfTest> => api<SelfTest>(host.url('control'), '/api/gateway/test', { method: 'POST' });
const change = async (section: string, settings: Readonly<Record<string, unknown>>): Promise<void> => {
  await api(host.url('control'), `/api/settings/${section}`, { method: 'PATCH', body: JSON.stringify(settings) });
  // The port of a restarted service is available after the gateway has checked it.
  await test();
};

beforeAll(async () => {
  machine = secondMachine();
  host = await openTestHost({
    services: [push, notify, mail, git, inbox, control, gateway],
    environment: sharing({ GATEWAY_ADDRESSES: machine.lan }),
  });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  machine[Symbol.dispose]();
  rmSync(folder, { recursive: true, force: true });
});

const shared = { sharedPorts: ['mail', 'git.ssh'], portNetworks: [] as string[] };
beforeEach(() => change('gateway', shared));
afterEach(() => change('mail', { clients: [], tls: 'off', signIn: 'off', logins: [] }));

const swaks = (port: number, subject: string, ...more: readonly string[]): Promise<string> =>
  machine.run('swaks', [
    ...['--server', machine.lan, '--port', String(port), '--local-interface', machine.address, '--timeout', '20'],
    ...['--to', 'alerts@home', '--from', 'nas@home', '--header', `Subject: ${subject}`, '--body', 'from afar', ...more],
  ]);
const arrives = (title: string): Promise<void> =>
  expect
    .poll(async () => (await readInbox(host.url('control'))).map((item) => item.title), { timeout: 30_000 })
    .toContainEqual(expect.stringContaining(title));

describe('mail client on another computer', () => {
  it.skipIf(lacksProgram('swaks'))('sends mail with its address as the client address', async () => {
    expect(await swaks(host.port('mail'), 'Disk is full')).toMatch(/250 2\.0\.0 queued as/);
    await arrives('Disk is full');
    // The network rules of mail apply: behind a relay every client would appear as this computer.
    await change('mail', { clients: [machine.address] });
    expect(await swaks(host.port('mail'), 'Fan stopped')).toMatch(/250 2\.0\.0 queued as/);
    const localArguments = [
      '--server',
      `127.0.0.1:${String(host.port('mail'))}`,
      '--to',
      'alerts@home',
      '--quit-after',
      'RCPT',
    ];
    const refused = { stdout: expect.stringContaining('554 5.7.1 Not from this network') as string };
    await expect(promisify(execFile)('swaks', localArguments)).rejects.toMatchObject(refused);
    await change('mail', { clients: ['192.0.2.1'] });
    await expect(swaks(host.port('mail'), 'Nobody')).rejects.toMatchObject(refused);
  });

  it.skipIf(lacksProgram('msmtp'))('signs in over STARTTLS when mail requires it', async () => {
    const [certificateFile, keyFile] = [join(folder, 'cert.pem'), join(folder, 'key.pem')];
    execFileSync(
      'openssl',
      [
        ...['req', '-x509', '-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:P-256', '-nodes', '-days', '2'],
        ...[
          '-keyout',
          keyFile,
          '-out',
          certificateFile,
          '-subj',
          '/CN=nas',
          '-addext',
          `subjectAltName=IP:${machine.lan}`,
        ],
      ],
      { stdio: 'pipe' },
    );
    await change('mail', { tls: 'required', signIn: 'required', certificateFile, keyFile, logins: [login] });
    const port = String(host.port('mail'));
    const send = async (name: string, ...lines: readonly string[]): Promise<void> => {
      const config = join(folder, name);
      const base = [
        'account default',
        `host ${machine.lan}`,
        `port ${port}`,
        'from nas@home',
        `source_ip ${machine.address}`,
      ];
      writeFileSync(config, `${[...base, ...lines].join('\n')}\n`, { mode: 0o600 });
      const sending = machine.start('msmtp', ['-C', config, 'alerts@home']);
      let errorText = '';
      sending.stderr.setEncoding('utf8').on('data', (text: string) => (errorText += text));
      sending.stdin.end('From: nas@home\nSubject: Signed and sealed\n\nfrom afar\n');
      const [code] = (await once(sending, 'close')) as [number];
      if (code !== 0) throw new Error(errorText);
    };
    const sealed = ['tls on', 'tls_starttls on', `tls_trust_file ${certificateFile}`];
    const signed = ['auth plain', `user ${login.name}`, `password ${login.password}`];
    await expect(send('bare', 'tls off', 'auth off')).rejects.toThrow(/530/);
    await expect(send('unsigned', ...sealed, 'auth off')).rejects.toThrow(/530/);
    await expect(send('wrong', ...sealed, 'auth plain', 'user nas', 'password no')).rejects.toThrow(/535/);
    await send('right', ...sealed, ...signed);
    await arrives('Signed and sealed');
    // An encrypted connection ends like any other.
    const headers = { Authorization: adminAuthorization };
    await expect
      .poll(async () => (await fetch(`${host.url('control')}/metrics`, { headers })).text())
      .toMatch(/^gateway_connections_open\{.*\} 0$/m);
  });
});

describe('Git client on another computer', () => {
  const ssh = (): string =>
    `ssh -F /dev/null -b ${machine.address} -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/` +
    `null -o LogLevel=ERROR -o IdentitiesOnly=yes -i ${key}`;
  const from = (...args: readonly string[]): Promise<string> =>
    machine.run('git', ['-c', 'user.name=Ada', '-c', 'user.email=ada@home', ...args], {
      ...{ HOME: folder, GIT_SSH_COMMAND: ssh(), GIT_TERMINAL_PROMPT: '0' },
    });

  it('pushes and clones over SSH at the address that the API returns', async () => {
    execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-C', 'laptop', '-f', key]);
    const post = (path: string, body: object): Promise<unknown> =>
      fetch(`${host.url('git')}/api/v1${path}`, {
        method: 'POST',
        headers: { Authorization: adminAuthorization, 'Content-Type': 'application/json' },
        body: JSON.stringify(body),
      });
    await post('/user/repos', { name: 'demo', default_branch: 'main' });
    await post('/user/keys', { title: 'laptop', key: readFileSync(`${key}.pub`, 'utf8') });
    // The web pages are shared as well, so that the laptop can send requests.
    await change('gateway', { ...shared, shared: ['git'] });
    const repositoryUrl = `https://${machine.lan}:${String(host.port('git'))}/api/v1/repos/ada/demo`;
    const curl = ['-sSk', '--interface', machine.address, '-u', `${admin.name}:${admin.password}`, repositoryUrl];
    const { ssh_url: url } = JSON.parse(await machine.run('curl', curl)) as { ssh_url: string };
    expect(url).toBe(`ssh://git@${machine.lan}:${String(host.port('git.ssh'))}/ada/demo.git`);
    const work = join(folder, 'work');
    await from('init', '-q', '-b', 'main', work);
    writeFileSync(join(work, 'lamp.txt'), 'on\n');
    await from('-C', work, 'add', '.');
    await from('-C', work, 'commit', '-q', '-m', 'one');
    await from('-C', work, 'push', '-q', url, 'main');
    await from('clone', '-q', url, join(folder, 'clone'));
    expect(readFileSync(join(folder, 'clone', 'lamp.txt'), 'utf8')).toBe('on\n');
    await change('gateway', { shared: [] });
  });

  it.skipIf(lacksProgram('swaks'))(
    'is disconnected before any data from an unlisted network, and cannot connect when the port is not shared',
    async () => {
      const list = (): Promise<string> =>
        from('ls-remote', `ssh://git@${machine.lan}:${String(host.port('git.ssh'))}/ada/demo.git`);
      await list();
      await change('gateway', { portNetworks: ['192.0.2.0/24'] });
      await expect(list()).rejects.toMatchObject({ stderr: expect.stringMatching(/closed|reset/i) as string });
      await expect(swaks(host.port('mail'), 'Nobody')).rejects.toMatchObject({
        stdout: expect.not.stringContaining('220 ') as string,
      });
      const { visitors } = await test();
      expect(visitors.find(({ address }) => address === machine.address)).toMatchObject({ letIn: false });
      await change('gateway', { sharedPorts: [], portNetworks: [] });
      await expect(list()).rejects.toMatchObject({ stderr: expect.stringContaining('refused') as string });
      await expect(swaks(host.port('mail'), 'Nobody')).rejects.toMatchObject({ code: 2 });
    },
  );
});
