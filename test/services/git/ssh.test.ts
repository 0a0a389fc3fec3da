import { readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { makeKey, openGitRoom, type GitRoom } from './git-fixture.ts';

let room: GitRoom;
let ssh: { readonly text: string; readonly command: string };
/** URL prefix `ssh://git@127.0.0.1:PORT`. */
let base: string;

beforeAll(async () => {
  room = await openGitRoom();
  const { ssh_url } = await room.create('demo');
  base = String(ssh_url).replace('/ada/demo.git', '');
  ssh = await makeKey(room, 'id_ada');
  expect((await room.api('POST', '/user/keys', { title: 'k', key: ssh.text })).status).toBe(201);
});
afterAll(() => room[Symbol.asyncDispose]());

const by = (command: string) => ({ environment: { GIT_SSH_COMMAND: command } });
/** Runs a command over SSH without git. */
const exec = (command: string, key = ssh.command) => {
  const { hostname, port } = new URL(base);
  const [program = '', ...args] = key.split(' ');
  return room.run(program, [...args, '-p', port, `git@${hostname}`, ...(command === '' ? [] : [command])], {
    mayFail: true,
  });
};

describe('git over SSH', () => {
  it('pushes and clones with ed25519, RSA and ECDSA keys, in both protocols', async () => {
    const cwd = await room.work('demo');
    await room.git(['push', '-q', `${base}/ada/demo.git`, 'main'], { cwd, ...by(ssh.command) });
    expect(await (await room.api('GET', '/repos/ada/demo')).json()).toMatchObject({ empty: false, branch_count: 1 });
    for (const type of ['rsa', 'ecdsa']) {
      const key = await makeKey(room, `id_${type}`, type);
      await room.api('POST', '/user/keys', { title: type, key: key.text });
      const version = type === 'rsa' ? '0' : '2';
      await room.git(['-c', `protocol.version=${version}`, 'clone', '-q', `${base}/ada/demo`, type], by(key.command));
      expect(readFileSync(join(room.folder, type, 'README.md'), 'utf8')).toBe('# demo\n');
    }
    await room.git(['commit', '-q', '--allow-empty', '-m', 'two'], { cwd });
    const { stderr } = await room.git(['push', `${base}/ada/demo.git`, 'main', 'main:other'], {
      cwd,
      ...by(ssh.command),
    });
    expect(stderr).toContain('main -> other');
    const { stdout } = await room.git(
      ['archive', '--remote', `${base}/ada/demo.git`, 'main', 'README.md'],
      by(ssh.command),
    );
    expect(stdout).toContain('# demo');
    // A push without changes succeeds.
    await room.git(['push', '-q', `${base}/ada/demo.git`, 'main'], { cwd, ...by(ssh.command) });
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
    const stranger = await makeKey(room, 'id_stranger');
    expect((await exec('', stranger.command)).stderr).toContain('Permission denied (publickey)');
    const deploy = await room.api('POST', '/repos/ada/demo/keys', { title: 'ci', key: stranger.text, read_only: true });
    expect(deploy.status).toBe(201);
    const { id } = (await deploy.json()) as { id: number };
    await room.git(['ls-remote', `${base}/ada/demo.git`], by(stranger.command));
    await room.create('hidden', { private: true });
    const hidden = await room.git(['ls-remote', `${base}/ada/hidden.git`], { ...by(stranger.command), mayFail: true });
    expect(hidden.stderr).toContain('Cannot find repository');
    const cwd = await room.work('deploy');
    const push = await room.git(['push', `${base}/ada/demo.git`, 'main:y'], {
      cwd,
      ...by(stranger.command),
      mayFail: true,
    });
    expect(push.stderr).toContain('may not push');
    expect((await room.api('DELETE', `/repos/ada/demo/keys/${id}`)).status).toBe(204);
    expect((await exec('', stranger.command)).stderr).toContain('Permission denied (publickey)');
  });

  it('protects the host key files', () => {
    for (const kind of ['ed25519', 'rsa']) {
      const path = join(room.host.dataDir, 'git', `ssh_host_${kind}_key`);
      expect(statSync(path).mode & 0o777).toBe(0o600);
    }
  });
});
