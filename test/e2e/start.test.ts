import * as commandLine from '#messages/command-line';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { api } from '../support/api.ts';
import { openTestHost, testEnvironment } from '../support/host.ts';
import { command, startHostProcess } from '../support/host-process.ts';
import { makeSelfSigned } from '../support/self-signed.ts';
import { SmtpDialogue } from '../support/smtp.ts';

let dataDir: string;
beforeEach(() => {
  dataDir = mkdtempSync(join(tmpdir(), 'homeport-start-'));
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

function homeport(...args: string[]): { status: number | null; stdout: string; stderr: string } {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args], {
    env: testEnvironment(dataDir),
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

describe('starting', () => {
  it('prints one ready line with every address when all of them answer', async () => {
    await using host = await startHostProcess(dataDir);
    expect(host.output.filter((line) => line.startsWith('ready'))).toHaveLength(1);
    for (const service of ['downloads', 'notify', 'push', 'control']) {
      const reply = await fetch(host.url(service), { redirect: 'manual' });
      expect(reply.status).toBeLessThan(500);
    }
    expect(host.url('mail')).toMatch(/^smtp:\/\/127\.0\.0\.1:\d+$/);
    expect(await host.stop()).toBe(0);
  });

  it('lists a slow service as starting and reports when it is ready', async () => {
    const { key, cert } = makeSelfSigned();
    const [keyFile, certificateFile] = [join(dataDir, 'key.pem'), join(dataDir, 'cert.pem')];
    writeFileSync(keyFile, key);
    // Reading the named pipe takes until a writer opens it.
    spawnSync('mkfifo', [certificateFile]);
    const settings = `{ tls: starttls, certificateFile: ${certificateFile}, keyFile: ${keyFile} }`;
    writeFileSync(join(dataDir, 'homeport.yaml'), `version: 1\nservices:\n  mail: ${settings}\n`);
    const shortTimeoutScript =
      'const{setTimeout:t}=globalThis;globalThis.setTimeout=(f,ms,...a)=>t(f,ms===15000?500:ms,...a)';
    const environment = { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(shortTimeoutScript)}` };
    await using host = await startHostProcess(dataDir, { environment });
    expect(host.output).toContain(commandLine.serviceStarting({ service: 'mail' }));
    expect(host.output.filter((line) => line.includes('didn’t start'))).toEqual([]);
    const port = host.port('mail');
    await writeFile(certificateFile, cert);
    await vi.waitFor(() => expect(host.output).toContain(commandLine.serviceReady({ service: 'mail' })), {
      timeout: 15_000,
      interval: 20,
    });
    using smtp = await SmtpDialogue.open(port);
    expect(await smtp.command('EHLO test')).toMatch(/^250 /);
    expect(await smtp.command('STARTTLS')).toMatch(/^220 /);
  });

  it('reports the address of a running instance at a second start', async () => {
    await using host = await startHostProcess(dataDir);
    const second = homeport('--headless', '--data-dir', dataDir);
    expect(second).toMatchObject({ status: 0, stderr: '' });
    expect(second.stdout).toContain(`already running at ${host.url('control')}`);
    expect((await fetch(host.url('control'))).status).toBe(200);
  });

  it('refuses a second host on one data folder until the first is killed', async () => {
    await using host = await startHostProcess(dataDir);
    await expect(openTestHost({ dataDir })).rejects.toMatchObject({ code: 'host.data_folder_taken' });
    await host.kill();
    await using next = await openTestHost({ dataDir });
    expect(next.url('control')).toMatch(/^http/);
  });

  it('prints a set-up link that works once if there is no administrator', async () => {
    await using host = await startHostProcess(dataDir, { administrator: false });
    const link = host.output.find((line) => line.startsWith('First start:'))?.match(/http\S+/)?.[0] ?? '';
    const code = new URL(link).searchParams.get('code');
    const setup = (): Promise<Response> =>
      fetch(`${host.url('control')}/api/setup`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ code, name: 'ada', password: 'correct horse battery' }),
      });
    const first = await setup();
    expect(first.status).toBe(200);
    expect(first.headers.get('set-cookie')).toBeNull();
    expect((await setup()).status).toBe(409);
    expect(host.errors.join('\n')).not.toContain(code);
  });

  it.each([
    ['host:\n  stopTimeout: many\n', 'host.stopTimeout'],
    ['services: [\n', 'line'],
    ['services: many\n', 'services'],
  ])('enters safe mode with a malformed configuration and names the field: %s', async (text, where) => {
    writeFileSync(join(dataDir, 'homeport.yaml'), `version: 1\n${text}`);
    await using host = await startHostProcess(dataDir);
    expect(host.output.find((line) => line.startsWith('Safe mode:'))).toContain(where);
    expect(() => host.url('push')).toThrow();
    const session = await api<{ safeMode: boolean }>(host.url('control'), '/api/session');
    expect(session.safeMode).toBe(true);
    expect(readFileSync(join(dataDir, 'homeport.yaml'), 'utf8')).toContain(text);
  });

  it('reports an invalid setting of one service and starts all others', async () => {
    writeFileSync(join(dataDir, 'homeport.yaml'), 'version: 1\nservices:\n  inbox:\n    keepDays: many\n');
    await using host = await startHostProcess(dataDir, { environment: { HOMEPORT_PORT_PUSH: 'first' } });
    expect(host.output.filter((line) => / didn’t start: |^Settings|^Safe mode/.test(line))).toEqual([
      'push didn’t start: The settings aren’t valid. services.push.port: HOMEPORT_PORT_PUSH: Expected a whole number.',
      'inbox didn’t start: The settings aren’t valid. services.inbox.keepDays: line 4: Expected a number.',
    ]);
    expect(host.errors.join('\n')).toMatch(/setting refused.*services\.inbox\.keepDays/);
    expect(() => host.url('push')).toThrow();
    for (const service of ['downloads', 'notify', 'control']) {
      expect((await fetch(host.url(service), { redirect: 'manual' })).status).toBeLessThan(500);
    }
    expect((await api<{ safeMode: boolean }>(host.url('control'), '/api/session')).safeMode).toBe(false);
  });

  it('starts only the control service with --safe-mode', async () => {
    await using host = await startHostProcess(dataDir, { args: ['--safe-mode'] });
    expect(Object.keys(host.output.at(-1)?.split(' ') ?? [])).toHaveLength(2);
  });

  it('stops only the service whose port is in use, names the program and offers a working free port', async () => {
    const holder = createServer().listen(0, '127.0.0.1');
    await once(holder, 'listening');
    const { port } = holder.address() as { port: number };
    writeFileSync(join(dataDir, 'homeport.yaml'), `version: 1\nservices:\n  push:\n    port: ${port}\n`);
    try {
      await using host = await openTestHost({ dataDir, environment: { HOMEPORT_PORT_PUSH: '' } });
      const { services } = await api<{
        services: { id: string; state: string; reason: string; suggestedPort: number }[];
      }>(host.url('control'), '/api/services');
      const push = services.find(({ id }) => id === 'push');
      expect(push?.state).toBe('failed');
      expect(push?.reason).toContain(`Port ${port} is already in use by`);
      expect(push?.reason).toContain(String(process.pid));
      expect(services.filter(({ state }) => state === 'failed')).toHaveLength(1);
      await api(host.url('control'), '/api/settings/push', {
        method: 'PATCH',
        body: JSON.stringify({ port: push?.suggestedPort }),
      });
      expect((await fetch(`${host.url('push')}/v1/health`)).status).toBe(200);
    } finally {
      holder.close();
    }
  });

  it('explains the required version to an old Node', () => {
    writeFileSync(
      join(dataDir, 'old.cjs'),
      `Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.11.0' } });`,
    );
    const { status, stderr, stdout } = spawnSync(process.execPath, ['--require', join(dataDir, 'old.cjs'), command], {
      encoding: 'utf8',
    });
    expect({ status, stdout, stderr }).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Homeport needs Node 24 or newer; this is Node 20.11.0. "npm start" brings the right one along.\n',
    });
  });
});

describe('commands', () => {
  it('prints help and version, and rejects unknown commands with a sentence', () => {
    expect(homeport('--help').stdout).toContain('--safe-mode');
    expect(homeport('--version').stdout).toMatch(/^\d+\.\d+\.\d+\n$/);
    expect(homeport('--colour')).toMatchObject({ status: 2, stdout: '' });
    expect(homeport('config', 'check', '/nowhere')).toMatchObject({ status: 1, stdout: '' });
  });

  it('moves all settings from one computer to another', async () => {
    const exported = join(dataDir, 'export.yaml');
    const from = join(dataDir, 'from');
    const to = join(dataDir, 'to');
    {
      await using host = await startHostProcess(from);
      await api(host.url('control'), '/api/accounts', {
        method: 'POST',
        body: JSON.stringify({
          name: 'grace',
          password: 'hopper hopper',
          grants: [{ service: 'push', resource: 'ships-*', permission: 'read' }],
        }),
      });
      await api(host.url('control'), '/api/settings/inbox', {
        method: 'PATCH',
        body: JSON.stringify({ keepDays: 42 }),
      });
      await fetch(`${host.url('notify')}/add/home`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ urls: 'json://user:geheim@127.0.0.1:9/path' }),
      });
      expect(homeport('config', 'export', exported, '--data-dir', from)).toMatchObject({ status: 0 });
      expect(readFileSync(exported, 'utf8')).not.toContain('geheim');
      expect(homeport('config', 'export', exported, '--secrets', '--data-dir', from)).toMatchObject({ status: 0 });
      expect(homeport('config', 'import', exported, '--data-dir', from).stderr).toContain('is using');
    }
    expect(homeport('config', 'check', exported, '--data-dir', to)).toMatchObject({ status: 0 });
    expect(homeport('config', 'import', exported, '--data-dir', to)).toMatchObject({ status: 0 });
    await using host = await startHostProcess(to);
    const { accounts } = await api<{ accounts: { name: string; grants: unknown[] }[] }>(
      host.url('control'),
      '/api/accounts',
    );
    expect(accounts.find(({ name }) => name === 'grace')?.grants).toEqual([
      { service: 'push', resource: 'ships-*', permission: 'read' },
    ]);
    const urls = await (await fetch(`${host.url('notify')}/json/urls/home`)).text();
    expect(urls).toContain('geheim');
  });

  it('backs up a running host into one file and restores it on another host', async () => {
    const file = join(dataDir, 'backup.tar.gz');
    const from = join(dataDir, 'from');
    const to = join(dataDir, 'to');
    {
      await using host = await startHostProcess(from);
      await fetch(`${host.url('notify')}/notify/aggregator`, {
        method: 'POST',
        body: new URLSearchParams({ title: 'kept', body: 'text' }),
      });
      expect(homeport('backup', file, '--data-dir', from)).toMatchObject({ status: 0, stderr: '' });
    }
    expect(homeport('restore', file, '--data-dir', to)).toMatchObject({ status: 0, stderr: '' });
    expect(homeport('restore', file, '--data-dir', to)).toMatchObject({ status: 1, stdout: '' });
    await using host = await startHostProcess(to);
    const { items } = await api<{ items: { title: string }[] }>(host.url('control'), '/api/inbox');
    expect(items.map(({ title }) => title)).toEqual(['kept']);
  });
});
