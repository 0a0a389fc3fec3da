import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { addons } from '../../services/addons/index.ts';
import { control } from '../../services/control/index.ts';
import { notify } from '../../services/notify/index.ts';
import { uptime } from '../../services/uptime/index.ts';
import { api } from '../support/api.ts';
import { createFakeClock } from '../support/clock.ts';
import { command } from '../support/host-process.ts';
import { openTestHost, testEnvironment } from '../support/host.ts';
import { buildConfig, makeUser, password as addonPassword } from '../services/addons/rig.ts';
import { openAuthFixture, type AuthFixture } from '../services/data/auth-fixture.ts';

const email = 'app-user@example.org';
const password = 'correct horse 1';
let fixture: AuthFixture;
beforeAll(async () => {
  fixture = await openAuthFixture({ services: [addons, notify, uptime] });
  await fixture.call('POST', '/signup', { email, password });
});
afterAll(() => fixture[Symbol.asyncDispose]());

const lines = (event: string): readonly string[] => fixture.host.log.filter((line) => line.includes(`event=${event} `));
const signIn = async (secret: string): Promise<number> =>
  (await fixture.call('POST', '/token?grant_type=password', { email, password: secret })).status;

describe('app users of Databases', () => {
  it('records sign-ins and failures with address and user', async () => {
    expect(await signIn(password)).toBe(200);
    expect(await signIn('not the password')).toBe(400);
    expect(lines('sign_in').join('\n')).toContain(
      `address=127.0.0.1 target=data account=${email} detail="app user, password"`,
    );
    const [failure = ''] = lines('sign_in_failed');
    expect(failure).toContain(`address=127.0.0.1 target=data account=${email}`);
    expect(fixture.host.log.join()).not.toContain('not the password');
  });

  it('records a wrong code of a mail', async () => {
    expect((await fixture.call('POST', '/verify', { type: 'email', email, token: '000000' })).status).toBe(403);
    expect(lines('sign_in_failed').join('\n')).toContain('detail="app user, otp"');
  });

  it('limits the lines of one address, whatever users are named', async () => {
    fixture.clock.advance(300_000);
    const before = lines('sign_in_failed').length;
    const guesses = Array.from({ length: 140 }, (_, index) =>
      fixture.call('POST', '/verify', { type: 'email', email: `u${String(index)}@example.org`, token: '000000' }),
    );
    await Promise.all(guesses);
    expect(lines('sign_in_failed').length - before).toBe(100);
    fixture.clock.advance(61_000);
    expect(await signIn('wrong again')).toBe(400);
    expect(lines('sign_in_failed').at(-1)).toMatch(/suppressed=\d+/);
  });
});

describe('exports', () => {
  it('records exports of destinations with secrets, and not of masked ones', async () => {
    const base = fixture.host.url('control');
    await fetch(`${fixture.host.url('notify')}/add/house`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ urls: 'json://u:hush-hush@198.51.100.1/' }),
    });
    await api(base, '/api/notify/keys/house/text');
    expect(lines('data_exported')).toEqual([]);
    await api(base, '/api/notify/keys/house/text?secrets=true');
    expect(lines('data_exported').join('\n')).toMatch(/target=control account=ada .*key house with secrets/);
  });

  it('records exports of monitors and of addon configurations with credentials', async () => {
    await api(fixture.host.url('control'), '/api/uptime/export');
    expect(lines('data_exported').join('\n')).toContain('detail="monitors and status pages"');
    const { uuid } = await makeUser(fixture.host, buildConfig([]));
    const address = `${fixture.host.url('addons')}/export?includeCredentials=true`;
    const credentials = Buffer.from(`${uuid}:${addonPassword}`).toString('base64');
    const exported = await fetch(address, { headers: { Authorization: `Basic ${credentials}` } });
    expect(exported.status).toBe(200);
    expect(lines('data_exported').join('\n')).toContain(`account=${uuid} detail="configuration with credentials"`);
  });

  it('records the export of the command line in the log of the data folder', async () => {
    const { dataDir } = fixture.host;
    const child = spawn(process.execPath, [command, 'config', 'export', '--secrets', '--data-dir', dataDir], {
      env: testEnvironment(dataDir),
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    expect(await once(child, 'exit')).toEqual([0, null]);
    const log = readFileSync(join(dataDir, 'logs', 'homeport.log'), 'utf8');
    expect(log).toMatch(/ INFO {2}security {2}data exported {2}event=data_exported .*\(command line\)".*with secrets/);
  });
});

describe('backups', () => {
  it('records backups that the schedule creates', async () => {
    const clock = createFakeClock(Date.now());
    const folder = mkdtempSync(join(tmpdir(), 'homeport-backups-'));
    const environment = { HOMEPORT_BACKUP_EVERY_DAYS: '1', HOMEPORT_BACKUP_FOLDER: folder };
    await using host = await openTestHost({ services: [control], clock, environment });
    clock.advance(60_000);
    await vi.waitFor(() => expect(host.log.join('\n')).toMatch(/event=backup_created .*, by schedule"/));
    rmSync(folder, { recursive: true, force: true });
  });
});
