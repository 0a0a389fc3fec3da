import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { inbox } from '../../../services/inbox/index.ts';
import { mail } from '../../../services/mail/index.ts';
import { notify } from '../../../services/notify/index.ts';
import { openTestHost, type TestHost } from '../../support/host.ts';
import { lacksProgram, needs } from '../../support/requirements.ts';
import { createProbe, type Offers } from '../notify/support.ts';

needs('swaks', 'msmtp', 'curl');

const execute = promisify(execFile);

let host: TestHost;
let offers: Offers;
const folder = mkdtempSync(join(tmpdir(), 'homeport-clients-'));

beforeAll(async () => {
  const probe = createProbe(['push']);
  offers = probe.offers;
  host = await openTestHost({ services: [probe.descriptor, notify, mail, inbox] });
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

describe('real mail clients', () => {
  it.skipIf(lacksProgram('swaks'))('swaks sends through all services', async () => {
    const { stdout } = await execute('swaks', [
      ...['--server', `127.0.0.1:${host.port('mail')}`, '--to', 'alerts.warning@home', '--from', 'nas@home'],
      ...['--header', 'Subject: Disk', '--body', 'almost full', '--attach-name', 'a.txt', '--attach', 'text'],
    ]);
    expect(stdout).toMatch(/250 2\.0\.0 queued as/);
    await vi.waitFor(() =>
      expect([...offers.push.values()].at(-1)).toMatchObject({ title: 'Disk (nas@home)', priority: 4 }),
    );
    expect([...offers.push.values()].at(-1)).toMatchObject({
      topic: 'homeport',
      source: 'mail',
      message: 'almost full\n\n[attachment: a.txt]',
    });
  });

  it.skipIf(lacksProgram('swaks'))('swaks receives the refusal of an unknown recipient', async () => {
    const attempt = execute('swaks', [
      '--server',
      `127.0.0.1:${host.port('mail')}`,
      '--to',
      'nobody@home',
      '--from',
      'nas@home',
    ]);
    await expect(attempt).rejects.toMatchObject({ code: 24, stdout: expect.stringContaining('550 5.1.1') });
  });

  it.skipIf(lacksProgram('msmtp'))('accepts a cron mail from msmtp', async () => {
    const config = join(folder, 'msmtprc');
    writeFileSync(
      config,
      `account default\nhost 127.0.0.1\nport ${host.port('mail')}\nfrom root@host\nauth off\ntls off\n`,
      { mode: 0o600 },
    );
    const sending = execute('msmtp', ['-C', config, 'aggregator@home']);
    sending.child.stdin?.end('From: root@host (Cron Daemon)\nTo: root\nSubject: Cron <root@host> backup\n\nfailed\n');
    await sending;
    await vi.waitFor(() => expect([...offers.push.values()].at(-1)).toMatchObject({ title: 'Cron on host: backup' }));
  });

  it.skipIf(lacksProgram('curl'))('accepts a file from curl', async () => {
    const file = join(folder, 'mail.eml');
    writeFileSync(file, 'From: watch@host\r\nSubject: Updated\r\n\r\n1 container\r\n');
    await execute('curl', [
      '-sS',
      `smtp://127.0.0.1:${host.port('mail')}`,
      '--mail-from',
      'watch@host',
      '--mail-rcpt',
      'alerts@x',
      '-T',
      file,
    ]);
    await vi.waitFor(() =>
      expect([...offers.push.values()].at(-1)).toMatchObject({ title: 'Updated (watch@host)', message: '1 container' }),
    );
  });
});
