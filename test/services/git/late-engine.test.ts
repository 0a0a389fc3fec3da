import * as gitTexts from '#messages/git-texts';
import * as gitProblems from '#messages/git-problems';
import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { getLocale } from '../../../messages/language.ts';
import { engineProgress, type Engine, type EngineWork } from '../../../services/contracts/control/engines.ts';
import type { Context, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { git } from '../../../services/git/index.ts';
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
  getRemedy = (): string => 'Run "engines install git".';
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
    const { getRemedy, path } = this;
    if (path !== null) return { name: 'git', path, version: '2.56.0', source: 'data', remedy: null };
    const mend = { label: 'Install git', to: '/settings/engines', adminOnly: true } as const;
    return {
      ...{ name: 'git', path, version: null, source: 'missing', mend },
      // As for an engine, the remedy is that of the current language whenever it is read.
      get remedy() {
        return getRemedy();
      },
    };
  }
}

function addGit(name: string): { readonly path: string; readonly wasUsed: () => boolean } {
  const path = join(folder, name);
  writeFileSync(path, `#!/bin/sh\ntouch '${path}.used'\nexec git "$@"\n`);
  chmodSync(path, 0o755);
  return { path, wasUsed: () => existsSync(`${path}.used`) };
}

async function getHealth(host: TestHost, language = 'en'): Promise<Record<string, unknown>> {
  const headers = { authorization: adminAuthorization, 'accept-language': language };
  const response = await fetch(`${host.url('control')}/api/services`, { headers });
  const { services } = (await response.json()) as { services: Record<string, unknown>[] };
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
      reason: gitProblems.gitMissing({ remedy: 'Run "engines install git".' }),
      remedy: { label: 'Install git', to: '/settings/engines' },
    });
  expect((await create(host, 'none')).status).toBe(503);

  engine.change({ work: { step: 'Downloading the release archive', percent: 40 } });
  await expect.poll(() => getHealth(host)).toMatchObject({ state: 'up', detail: gitTexts.gitIsBeingInstalled() });

  const first = addGit('git-1');
  engine.change({ path: first.path });
  await expect.poll(() => getHealth(host)).toMatchObject({ state: 'up', detail: gitTexts.noRepositories() });
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

it('reports a missing git with the remedy in the language of each reader', async () => {
  const engine = new EngineStandIn();
  engine.getRemedy = getLocale;
  await using host = await openTestHost({ services: [engine.observe(), control] });
  await expect.poll(() => getHealth(host)).toMatchObject({ state: 'degraded' });
  for (const language of ['en-GB', 'en-IE']) {
    expect(await getHealth(host, language)).toMatchObject({
      reason: gitProblems.gitMissing({ remedy: language }),
    });
  }
});
