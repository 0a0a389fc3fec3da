import * as addonsTexts from '#messages/addons-texts';
import * as dataTexts from '#messages/data-texts';
import * as gitTexts from '#messages/git-texts';
import * as syncTexts from '#messages/sync-texts';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { connect } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { ServiceState } from '../../services/contracts/control/api.ts';
import { api } from '../support/api.ts';
import { startHostProcess, type HostProcess } from '../support/host-process.ts';

describe('host with unused services', () => {
  let dataDir: string;
  let host: HostProcess;
  beforeAll(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'homeport-unused-'));
    host = await startHostProcess(dataDir);
  });
  afterAll(async () => {
    await host[Symbol.asyncDispose]();
    rmSync(dataDir, { recursive: true, force: true });
  });

  const getServices = async (): Promise<readonly ServiceState[]> =>
    (await api<{ services: ServiceState[] }>(host.url('control'), '/api/services')).services;

  it('reports the health of all services', async () => {
    const services = await getServices();
    const details = Object.fromEntries(services.map(({ id, state, detail }) => [id, `${state}: ${detail}`]));
    expect(details).toMatchObject({
      addons: `up: ${addonsTexts.notConfigured()}`,
      data: `up: ${dataTexts.idle()}`,
      git: `up: ${gitTexts.noRepositories()}`,
      sync: `up: ${syncTexts.healthUnused()}`,
    });
  });

  it.skipIf(process.platform !== 'linux')('runs no thread that reads databases for its health checks', async () => {
    await getServices();
    const tasks = `/proc/${String(host.child.pid)}/task`;
    const names = readdirSync(tasks).map((task) => readFileSync(join(tasks, task, 'comm'), 'utf8').trim());
    expect(names).toContain('MainThread');
    expect(names).not.toContain('reads');
  });

  it('answers the first request to each service that is loaded on demand', async () => {
    const addons = await fetch(`${host.url('addons')}/api/v1/status`);
    const data = await fetch(`${host.url('data')}/auth/v1/health`);
    const git = await fetch(`${host.url('git')}/api/v1/version`);
    const sync = await fetch(`${host.url('sync')}/rc/noop`, { method: 'POST' });
    expect([addons.status, data.status, git.status, sync.status]).toEqual([200, 401, 200, 401]);
    expect(await git.json()).toEqual({ version: expect.stringMatching(/^\d/) as string });
  });

  it('greets the first SSH client', async () => {
    const socket = connect(host.port('git.ssh'), '127.0.0.1');
    const [greeting] = (await once(socket, 'data')) as [Buffer];
    socket.destroy();
    expect(greeting.toString()).toMatch(/^SSH-2\.0-/);
  });
});
