import { fork, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { registerForkedProcess } from '../../services/kit/forked-processes.ts';
import { openAccessHost, type AccessHost } from '../support/access.ts';
import { needs } from '../support/requirements.ts';

needs('rclone');

let host: AccessHost;
let folder: string;
const key = 'household';
const secretUrl = 'json://user:hidden-password@192.0.2.1/hook';

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'own-listeners-'));
  host = await openAccessHost({ sender: [{ service: 'notify', resource: '*', permission: 'write' }] });
  const added = await host.call('anonymous', 'notify', 'POST', `/add/${key}`, { urls: secretUrl, format: 'text' });
  expect(added.status).toBe(200);
});
afterAll(async () => {
  await host[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

async function urlsOfKey(): Promise<string> {
  const response = await host.call('admin', 'notify', 'GET', `/json/urls/${key}?privacy=0`);
  expect(response.status).toBe(200);
  return await response.text();
}

async function downloads(): Promise<unknown> {
  const response = await host.call('admin', 'downloads', 'GET', '/history');
  const { done, queue, pending } = (await response.json()) as Record<string, unknown[]>;
  return { done, queue, pending };
}

const emptyState = { done: [], queue: [], pending: [] };

describe('a destination that leads back to Homeport', () => {
  const hosts = ['127.0.0.1', 'localhost', '0.0.0.0', '[::1]', '127.0.0.1.', '2130706433'];

  it.each(hosts)('cannot change or remove a key by the host %s', async (name) => {
    const base = `json://${name}:${String(host.rig.port('notify'))}`;
    for (const url of [`${base}/add/${key}/?:urls=json://192.0.2.9/x`, `${base}/del/${key}/`])
      await host.call('sender', 'notify', 'POST', '/notify', { body: 'x', urls: url });
    expect(await urlsOfKey()).toContain('192.0.2.1');
    expect(await urlsOfKey()).not.toContain('192.0.2.9');
  });

  it.each(hosts)('cannot start a download by the host %s', async (name) => {
    const url = `json://${name}:${String(host.rig.port('downloads'))}/add/?:url=http://192.0.2.9/v&:quality=best`;
    await host.call('sender', 'notify', 'POST', '/notify', { body: 'x', urls: url });
    expect(await downloads()).toEqual(emptyState);
  });
});

describe('a program that Homeport started', () => {
  it('does not count as a program on this computer', async () => {
    const url = `${host.rig.url('notify')}/json/urls/${key}?privacy=0`;
    const body = { fs: folder, remote: 'stolen.json', url };
    const response = await host.call('admin', 'sync', 'POST', '/operations/copyurl', body);
    expect(await response.text()).toMatch(/40[13]/);
    expect(readdirSync(folder)).toEqual([]);
  });
});

describe('a process that Homeport forked', () => {
  const script = join(import.meta.dirname, '..', 'support', 'forked-request.mjs');
  const request = async (register: (child: ChildProcess) => void): Promise<number> => {
    const child = fork(script, [`${host.rig.url('notify')}/json/urls/${key}?privacy=0`]);
    register(child);
    const answer = once(child, 'message') as Promise<[number]>;
    child.send('start');
    const [status] = await answer;
    child.kill();
    return status;
  };

  it('does not count as a program on this computer once it is registered', async () => {
    expect(await request(registerForkedProcess)).toBe(401);
    expect(await request(() => undefined)).toBe(200);
  });
});

describe('a process that Homeport forked and that closes its connection immediately', () => {
  it('does not count as a program on this computer', async () => {
    const script = join(import.meta.dirname, '..', 'support', 'forked-send.mjs');
    // A running child that has nothing to do with the connection.
    const waiting = fork(script, []);
    registerForkedProcess(waiting);
    for (let attempt = 0; attempt < 5; attempt += 1) {
      const child = fork(script, [host.rig.url('notify'), `sent-${String(attempt)}`]);
      registerForkedProcess(child);
      child.send('start');
      await once(child, 'exit');
    }
    const keys = await host.call('admin', 'control', 'GET', '/api/notify/keys');
    waiting.kill();
    expect(await keys.text()).not.toContain('sent-');
  });
});

describe('another program on this computer', () => {
  it('reads a key without a sign-in, as Apprise clients do', async () => {
    const response = await host.call('anonymous', 'notify', 'GET', `/json/urls/${key}?privacy=0`);
    expect(response.status).toBe(200);
    expect((await host.call('anonymous', 'downloads', 'GET', '/history')).status).toBe(200);
  });
});
