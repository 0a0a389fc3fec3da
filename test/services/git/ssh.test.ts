import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Sqlite from 'better-sqlite3';
import ssh2 from 'ssh2';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGitFixture, type GitFixture } from './git-fixture.ts';
import { makeKey, scanHostKey } from './ssh-key.ts';

let fixture: GitFixture;
let ssh: { readonly text: string; readonly command: string };
/** URL prefix `ssh://git@127.0.0.1:PORT`. */
let base: string;

beforeAll(async () => {
  fixture = await openGitFixture();
  const { ssh_url } = await fixture.create('demo');
  base = String(ssh_url).replace('/ada/demo.git', '');
  ssh = await makeKey(fixture, 'id_ada');
  expect((await fixture.api('POST', '/user/keys', { title: 'k', key: ssh.text })).status).toBe(201);
});
afterAll(() => fixture[Symbol.asyncDispose]());

const by = (command: string) => ({ environment: { GIT_SSH_COMMAND: command } });
/** Runs a command over SSH without git. */
const exec = (command: string, key = ssh.command) => {
  const { hostname, port } = new URL(base);
  const [program = '', ...args] = key.split(' ');
  return fixture.run(program, [...args, '-p', port, `git@${hostname}`, ...(command === '' ? [] : [command])], {
    mayFail: true,
  });
};

describe('git over SSH', () => {
  it('pushes and clones with ed25519, RSA and ECDSA keys, in both protocols', async () => {
    const cwd = await fixture.work('demo');
    await fixture.git(['push', '-q', `${base}/ada/demo.git`, 'main'], { cwd, ...by(ssh.command) });
    expect(await (await fixture.api('GET', '/repos/ada/demo')).json()).toMatchObject({ empty: false, branch_count: 1 });
    for (const type of ['rsa', 'ecdsa']) {
      const key = await makeKey(fixture, `id_${type}`, type);
      await fixture.api('POST', '/user/keys', { title: type, key: key.text });
      const version = type === 'rsa' ? '0' : '2';
      await fixture.git(
        ['-c', `protocol.version=${version}`, 'clone', '-q', `${base}/ada/demo`, type],
        by(key.command),
      );
      expect(readFileSync(join(fixture.folder, type, 'README.md'), 'utf8')).toBe('# demo\n');
    }
    await fixture.git(['commit', '-q', '--allow-empty', '-m', 'two'], { cwd });
    const { stderr } = await fixture.git(['push', `${base}/ada/demo.git`, 'main', 'main:other'], {
      cwd,
      ...by(ssh.command),
    });
    expect(stderr).toContain('main -> other');
    const { stdout } = await fixture.git(
      ['archive', '--remote', `${base}/ada/demo.git`, 'main', 'README.md'],
      by(ssh.command),
    );
    expect(stdout).toContain('# demo');
    // A push without changes succeeds.
    await fixture.git(['push', '-q', `${base}/ada/demo.git`, 'main'], { cwd, ...by(ssh.command) });
  });

  it('reports the account and provides no shell', async () => {
    const shell = await exec('');
    expect(shell.code).toBe(0);
    expect(shell.stderr).toContain("Hi there, ada! You've successfully authenticated with the key named k");
    for (const [command, output] of [
      ['ls /', 'Invalid repository path'],
      ["git-upload-pack 'ada/none.git'", 'Cannot find repository: ada/none'],
      ["git-upload-pack '../../etc'", 'Invalid repo name'],
      ["git-upload-pack '--upload-pack=touch /tmp/x'", 'Invalid repo name'],
      ["git-upload-pack 'ada/demo.git' --exec=x", 'Invalid repository path'],
      ["git-upload-pack 'ada/demo.git'; ls", 'Invalid'],
    ] as const) {
      const result = await exec(command);
      expect([command, result.code]).toEqual([command, 1]);
      expect(result.stderr).toContain(output);
    }
  });

  it('rejects unknown and removed keys, and enforces read-only keys', async () => {
    const stranger = await makeKey(fixture, 'id_stranger');
    expect((await exec('', stranger.command)).stderr).toContain('Permission denied (publickey)');
    const deploy = await fixture.api('POST', '/repos/ada/demo/keys', {
      title: 'ci',
      key: stranger.text,
      read_only: true,
    });
    expect(deploy.status).toBe(201);
    const { id } = (await deploy.json()) as { id: number };
    await fixture.git(['ls-remote', `${base}/ada/demo.git`], by(stranger.command));
    await fixture.create('hidden', { private: true });
    const hidden = await fixture.git(['ls-remote', `${base}/ada/hidden.git`], {
      ...by(stranger.command),
      mayFail: true,
    });
    expect(hidden.stderr).toContain('Cannot find repository');
    const cwd = await fixture.work('deploy');
    const push = await fixture.git(['push', `${base}/ada/demo.git`, 'main:y'], {
      cwd,
      ...by(stranger.command),
      mayFail: true,
    });
    expect(push.stderr).toContain('is not allowed to push');
    expect((await fixture.api('DELETE', `/repos/ada/demo/keys/${id}`)).status).toBe(204);
    expect((await exec('', stranger.command)).stderr).toContain('Permission denied (publickey)');
  });

  it('stores the host keys sealed in the database', () => {
    const database = new Sqlite(join(fixture.host.dataDir, 'git', 'db.sqlite'), { readonly: true });
    const rows = database.prepare('select name, sealed from host_keys order by name').all();
    database.close();
    expect(rows).toEqual(['ssh-ed25519', 'ssh-rsa'].map((name) => ({ name, sealed: expect.stringMatching(/^v1\./) })));
    expect(readdirSync(join(fixture.host.dataDir, 'git')).filter((name) => name.startsWith('ssh_host'))).toEqual([]);
  });
});

it('keeps the host key of an earlier version, which was stored in a file', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-host-key-'));
  try {
    const former = ssh2.utils.generateKeyPairSync('ed25519');
    mkdirSync(join(dataDir, 'git'), { recursive: true });
    const path = join(dataDir, 'git', 'ssh_host_ed25519_key');
    writeFileSync(path, former.private);
    for (const run of ['with the file', 'without the file']) {
      await using fixture = await openGitFixture({ dataDir });
      const { ssh_url } = await fixture.create(run.replaceAll(' ', '-'));
      expect(await scanHostKey(fixture, ssh_url), run).toBe(former.public.trim().split(' ').slice(0, 2).join(' '));
      expect(existsSync(path), run).toBe(false);
    }
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});

it('keeps the file of a host key that differs from the one of the other hosts', async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'homeport-host-key-'));
  try {
    let key: string;
    {
      await using fixture = await openGitFixture({ dataDir });
      key = await scanHostKey(fixture, (await fixture.create('first')).ssh_url);
    }
    const { private: text } = ssh2.utils.generateKeyPairSync('ed25519');
    const name = 'ssh_host_ed25519_key';
    writeFileSync(join(dataDir, 'git', name), text);
    await using fixture = await openGitFixture({ dataDir });
    expect(await scanHostKey(fixture, (await fixture.create('second')).ssh_url)).toBe(key);
    const names = readdirSync(join(dataDir, 'git')).filter((entry) => entry.startsWith(name));
    expect(names).toEqual([expect.stringMatching(/^ssh_host_ed25519_key\.replaced-\d+$/)]);
    expect(readFileSync(join(dataDir, 'git', names[0] ?? ''), 'utf8')).toBe(text);
    expect(fixture.host.log.join('\n')).toContain('ssh host key replaced');
  } finally {
    rmSync(dataDir, { recursive: true, force: true });
  }
});
