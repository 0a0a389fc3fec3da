import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { engineProgress, type Engine, type EngineWork } from '../../../services/contracts/control/engines.ts';
import type { Context, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { git } from '../../../services/git/index.ts';
import { api } from '../../support/api.ts';
import { createFakeClock } from '../../support/clock.ts';
import { adminAuthorization, openTestHost, type TestHost } from '../../support/host.ts';
import { needs } from '../../support/requirements.ts';

needs('POSIX shell');

let folder: string;
beforeEach(() => (folder = mkdtempSync(join(tmpdir(), 'late-engine-'))));
afterEach(() => rmSync(folder, { recursive: true, force: true }));

/** Computer without git, on which the page Engines installs, updates and removes it. */
class EngineStandIn {
  path: string | null = null;
  work: EngineWork | undefined;
  #context: Context | undefined;

  /** Returns the service, which finds no other engine than this one. */
  observe(): ServiceDescriptor<any, any> {
    const { loadOnDemand: _, ...descriptor } = git;
    return {
      ...descriptor,
      create: (context, settings) => {
        this.#context = context;
        const engines = { ...context.engines, find: async () => this.#find(), working: () => this.work };
        return git.create({ ...context, engines }, settings);
      },
    };
  }

  /** Changes the engine as an installation or a removal does. */
  change(change: { readonly path?: string | null; readonly work?: EngineWork }): void {
    if (change.path !== undefined) this.path = change.path;
    this.work = change.work;
    this.#context?.bus.publish(engineProgress, { name: 'git', work: change.work ?? null });
  }

  #find(): Engine {
    const mend = { label: 'Install git', to: '/settings/engines', adminOnly: true } as const;
    return this.path === null
      ? { name: 'git', path: null, version: null, source: 'missing', remedy: 'Run "engines install git".', mend }
      : { name: 'git', path: this.path, version: '2.56.0', source: 'data', remedy: null };
  }
}

function addGit(name: string): { readonly path: string; readonly wasUsed: () => boolean } {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\ntouch '${path}.used'\nexec git "$@"\n`);
  chmodSync(path, 0o755);
  return { path, wasUsed: () => existsSync(`${path}.used`) };
}

async function getHealth(host: TestHost): Promise<Record<string, unknown>> {
  const { services } = await api<{ services: Record<string, unknown>[] }>(host.url('control'), '/api/services');
  return services.find(({ id }) => id === 'git') ?? {};
}

function create(host: TestHost, name: string): Promise<Response> {
  return fetch(`${host.url('control')}/api/git/repositories`, {
    method: 'POST',
    headers: { authorization: adminAuthorization, 'content-type': 'application/json' },
    body: JSON.stringify({ name, description: '', private: false }),
  });
}

it('uses an engine that is installed, updated, removed and installed again while the service runs', async () => {
  const engine = new EngineStandIn();
  await using host = await openTestHost({ services: [engine.observe(), control] });
  await expect
    .poll(() => getHealth(host))
    .toMatchObject({
      state: 'degraded',
      reason: 'Git is not on this computer. Run "engines install git".',
      remedy: { label: 'Install git', to: '/settings/engines' },
    });
  expect((await create(host, 'none')).status).toBe(503);

  engine.change({ work: { step: 'Downloading the release archive', percent: 40 } });
  await expect.poll(() => getHealth(host)).toMatchObject({ state: 'up', detail: 'Git is being installed' });

  const first = addGit('git-1');
  engine.change({ path: first.path });
  await expect.poll(() => getHealth(host)).toMatchObject({ state: 'up', detail: 'no repositories yet' });
  expect((await create(host, 'one')).status).toBe(200);
  expect(first.wasUsed()).toBe(true);

  // The second update removes the first version.
  const second = addGit('git-2');
  engine.change({ path: second.path });
  rmSync(first.path);
  expect((await create(host, 'two')).status).toBe(200);
  expect(second.wasUsed()).toBe(true);

  engine.change({ path: null });
  await expect.poll(() => getHealth(host)).toMatchObject({ state: 'degraded' });
  const refused = await create(host, 'three');
  expect([refused.status, await refused.json()]).toEqual([
    503,
    { error: expect.objectContaining({ code: 'git.missing' }) },
  ]);

  engine.change({ path: second.path });
  await expect.poll(() => getHealth(host)).toMatchObject({ state: 'up', detail: '2 repositories' });
});

it('finds a program that was installed by other means within half a minute', async () => {
  const engine = new EngineStandIn();
  const clock = createFakeClock();
  await using host = await openTestHost({ services: [engine.observe(), control], clock });
  await expect.poll(() => getHealth(host)).toMatchObject({ state: 'degraded' });
  engine.path = addGit('git-3').path;
  clock.advance(31_000);
  await expect
    .poll(() => {
      // The host reads the health every ten seconds.
      clock.advance(10_000);
      return getHealth(host);
    })
    .toMatchObject({ state: 'up' });
});
