import * as hostProblems from '#messages/host-problems';
import * as commandLineMessages from '#messages/command-line';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import {
  chmodSync,
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import { api } from '../support/api.ts';
import { openTestHost, testEnvironment } from '../support/host.ts';
import { command, startHostProcess } from '../support/host-process.ts';

let used: string;
let folder: string;
let dataDir: string;
beforeAll(async () => {
  used = mkdtempSync(join(tmpdir(), 'homeport-used-'));
  await using _host = await openTestHost({ dataDir: used });
});
afterAll(() => rmSync(used, { recursive: true, force: true }));
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'homeport-folder-'));
  dataDir = join(folder, 'data');
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

interface Ran {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

function homeport(args: readonly string[], environment: Readonly<Record<string, string>> = {}): Ran {
  const { status, stdout, stderr } = spawnSync(process.execPath, [command, ...args, '--data-dir', dataDir], {
    env: { ...testEnvironment(dataDir), ...environment },
    cwd: folder,
    encoding: 'utf8',
  });
  return { status, stdout, stderr };
}

const garbage = 'This is no database. '.repeat(500);
const oneSentence = /^[A-Z/][^\n]*\.\n$/;
/** Returns the output for the user, without log lines. */
const getOutput = ({ stderr }: Ran): string => stderr.replace(/^\d{4}-\d\d-\d\dT.*\n/gm, '');

describe('an unusable data folder', () => {
  it('ends the start with one sentence if it is a file or below a file', () => {
    writeFileSync(dataDir, '');
    const start = homeport(['--headless']);
    expect(start).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(oneSentence) as string });
    expect(start.stderr).toContain(hostProblems.reasonFile());
    const below = spawnSync(process.execPath, [command, '--headless', '--data-dir', join(dataDir, 'below')], {
      env: testEnvironment(folder),
      encoding: 'utf8',
    });
    expect(below).toMatchObject({ status: 1, stdout: '', stderr: expect.stringMatching(oneSentence) as string });
  });

  it.each([
    ['missing', (file: string) => rmSync(file)],
    ['damaged', (file: string) => writeFileSync(file, 'x')],
    ['doesn’t match', (file: string) => writeFileSync(file, Buffer.alloc(32, 7).toString('base64'))],
  ])('ends the start with one sentence if the vault key is %s', (what, corrupt) => {
    cpSync(used, dataDir, { recursive: true });
    corrupt(join(dataDir, 'vault.key'));
    const start = homeport(['--headless']);
    expect(start).toMatchObject({ status: 1, stdout: '' });
    expect(getOutput(start)).toMatch(oneSentence);
    expect(getOutput(start)).toContain(what);
  });

  it('names the damaged file of the accounts', () => {
    cpSync(used, dataDir, { recursive: true });
    writeFileSync(join(dataDir, 'host', 'db.sqlite'), garbage);
    const start = homeport(['--headless']);
    expect(start).toMatchObject({ status: 1, stdout: '' });
    expect(getOutput(start)).toContain(`${join(dataDir, 'host', 'db.sqlite')}: ${hostProblems.databaseDamaged()}`);
  });
});

describe('damaged data of one service', () => {
  it('stops only that service, and a backup fails with the name of the file', async () => {
    cpSync(used, dataDir, { recursive: true });
    const damaged = join(dataDir, 'push', 'db.sqlite');
    writeFileSync(damaged, garbage);
    {
      await using host = await openTestHost({ dataDir });
      const { services } = await api<{ services: ServiceState[] }>(host.url('control'), '/api/services');
      const failed = services.filter(({ state }) => state === 'failed');
      expect(failed.map(({ id }) => id)).toEqual(['push']);
      expect(failed[0]?.reason).toContain(hostProblems.databaseDamaged());
      expect((await fetch(`${host.url('downloads')}/status`)).status).toBe(200);
    }
    const backup = homeport(['backup', 'backup.tar.gz']);
    expect(backup).toMatchObject({ status: 1, stdout: '' });
    expect(backup.stderr).toContain(damaged);
    expect(readdirSync(folder)).toEqual(['data']);
    expect(homeport(['config', 'export'])).toMatchObject({
      status: 1,
      stderr: expect.stringMatching(/^push: /) as string,
    });
  });

  it('is replaced if it is a lock file that a faulty disk damaged', async () => {
    mkdirSync(dataDir);
    writeFileSync(join(dataDir, 'lock.sqlite'), garbage);
    await using _host = await openTestHost({ dataDir });
    expect(homeport(['restore', 'nothing.tar.gz']).stderr).toContain('is using');
  });
});

describe('kill -9', () => {
  it('leaves a usable data folder at any moment of a first start', async () => {
    for (const wait of [60, 160, 240, 320, 400, 480]) {
      const child = spawn(process.execPath, [command, '--headless', '--data-dir', dataDir], {
        env: testEnvironment(dataDir),
        stdio: 'ignore',
      });
      await new Promise((resolve) => setTimeout(resolve, wait));
      child.kill('SIGKILL');
      await once(child, 'exit');
    }
    await using host = await startHostProcess(dataDir);
    expect(host.output.filter((line) => /didn’t start|Safe mode/.test(line))).toEqual([]);
    await api(host.url('control'), '/api/services');
  });
});

describe('a command', () => {
  it('does not create a mistyped folder when it only reads', () => {
    const missing = { status: 1, stdout: '', stderr: expect.stringMatching(oneSentence) as string };
    expect(homeport(['config', 'export'])).toMatchObject(missing);
    expect(homeport(['backup', 'backup.tar.gz'])).toMatchObject(missing);
    expect(homeport(['engines', 'list'])).toMatchObject({ status: 0 });
    expect(homeport(['config', 'check'])).toMatchObject({ status: 0 });
    expect(readdirSync(folder)).toEqual([]);
  });

  it('names the file that it cannot read or write, and accepts relative paths', () => {
    cpSync(used, dataDir, { recursive: true });
    const refused = { status: 1, stdout: '', stderr: expect.stringMatching(/^\S*nowhere\S* [^\n]*\.\n$/) as string };
    expect(homeport(['config', 'import', 'nowhere.yaml'])).toMatchObject(refused);
    expect(homeport(['config', 'check', 'nowhere.yaml'])).toMatchObject(refused);
    expect(homeport(['restore', 'nowhere.tar.gz', '--force'])).toMatchObject(refused);
    writeFileSync(join(folder, 'nowhere'), '');
    expect(homeport(['config', 'export', 'nowhere/export.yaml'])).toMatchObject(refused);
    expect(homeport(['config', 'export', 'export.yaml'])).toMatchObject({ status: 0, stdout: '', stderr: '' });
    expect(existsSync(join(folder, 'export.yaml'))).toBe(true);
  });

  it('does not write secrets into a file that other users can read', () => {
    cpSync(used, dataDir, { recursive: true });
    const file = join(folder, 'export.yaml');
    writeFileSync(file, '');
    chmodSync(file, 0o644);
    expect(homeport(['config', 'export', '--secrets', 'export.yaml'])).toMatchObject({ status: 0 });
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it('survives a closed pipe and fails when the disk accepts no data', () => {
    cpSync(used, dataDir, { recursive: true });
    const run = (stdout: number | 'pipe'): number | null =>
      spawnSync(process.execPath, [command, 'config', 'export', '--data-dir', dataDir], {
        env: testEnvironment(dataDir),
        stdio: ['ignore', stdout, 'pipe'],
      }).status;
    const piped = spawnSync(
      'sh',
      ['-c', `("${process.execPath}" "${command}" config export --data-dir "${dataDir}"; echo "$?" >&2) | head -c 0`],
      { env: testEnvironment(dataDir), encoding: 'utf8' },
    );
    expect(piped).toMatchObject({ stdout: '', stderr: '0\n' });
    if (existsSync('/dev/full')) expect(run(openSync('/dev/full', 'w'))).toBe(1);
  });

  it('produces the same export after an import on another host, including accounts and tokens', async () => {
    cpSync(used, dataDir, { recursive: true });
    {
      await using host = await openTestHost({ dataDir });
      const base = host.url('control');
      const post = (body: unknown): RequestInit => ({ method: 'POST', body: JSON.stringify(body) });
      await api(base, '/api/accounts', post({ name: 'grace', password: 'hopper hopper' }));
      await api(base, '/api/accounts/grace/tokens', post({ label: 'phone' }));
      await api(base, '/api/settings/inbox', { method: 'PATCH', body: JSON.stringify({ keepDays: 42 }) });
      await fetch(`${host.url('notify')}/add/home`, {
        method: 'POST',
        body: new URLSearchParams({ urls: 'json://user:geheim@127.0.0.1:9/path' }),
      });
      const secondProcess = homeport(['engines', 'list']);
      expect(secondProcess).toMatchObject({ status: 0, stderr: '' });
    }
    expect(homeport(['config', 'export', '--secrets', 'first.yaml'])).toMatchObject({ status: 0 });
    dataDir = join(folder, 'elsewhere');
    expect(homeport(['config', 'import', 'first.yaml'])).toMatchObject({ status: 0 });
    expect(homeport(['config', 'export', '--secrets', 'second.yaml'])).toMatchObject({ status: 0 });
    const [first, second] = ['first', 'second'].map((name) => readFileSync(join(folder, `${name}.yaml`), 'utf8'));
    expect(first).toContain('keepDays: 42');
    expect(second).toBe(first);
  });

  it('keeps the settings when a part of an import is invalid', () => {
    cpSync(used, dataDir, { recursive: true });
    writeFileSync(
      join(folder, 'bad.yaml'),
      'version: 1\nservices:\n  inbox:\n    keepDays: 7\nportable:\n  notify: wrong\n',
    );
    expect(homeport(['config', 'import', 'bad.yaml'])).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringMatching(/^portable\.notify: /) as string,
    });
    expect(homeport(['config', 'export']).stdout).not.toContain('keepDays');
  });

  it('never touches the tables in the folder when the database address is wrong', () => {
    cpSync(used, dataDir, { recursive: true });
    const wrong = homeport(['config', 'export'], { HOMEPORT_DATABASE_URL: 'mysql://me:geheim@127.0.0.1/x' });
    expect(wrong).toMatchObject({ status: 1, stdout: '' });
    expect(getOutput(wrong)).toMatch(/HOMEPORT_DATABASE_URL/);
    expect(wrong.stderr).not.toContain('geheim');
  });

  it('reports that a backup and a restore do not include tables in PostgreSQL', () => {
    cpSync(used, dataDir, { recursive: true });
    const url = { HOMEPORT_DATABASE_URL: 'postgres://me:geheim@127.0.0.1:1/x' };
    const backup = homeport(['backup', 'backup.tar.gz'], url);
    expect(backup).toMatchObject({ status: 0, stderr: '' });
    expect(backup.stdout).toContain(commandLineMessages.backupWithoutTables());
    const restored = homeport(['restore', 'backup.tar.gz', '--force']);
    expect(restored.stdout).toContain(commandLineMessages.restoredWithoutTables());
    expect(homeport(['backup', 'again.tar.gz']).stdout).not.toContain('PostgreSQL');
  });

  it('finishes an interrupted restore before it exports', () => {
    cpSync(used, dataDir, { recursive: true });
    const staging = join(dataDir, '.restoring');
    mkdirSync(join(staging, 'content'), { recursive: true });
    cpSync(used, join(staging, 'content'), { recursive: true, filter: (path) => !/lock\.sqlite|logs/.test(path) });
    writeFileSync(join(staging, 'content', 'homeport.yaml'), 'version: 1\nservices:\n  inbox:\n    keepDays: 42\n');
    writeFileSync(join(staging, 'complete'), '');
    expect(homeport(['config', 'export']).stdout).toContain('keepDays: 42');
    expect(existsSync(staging)).toBe(false);
  });
});
