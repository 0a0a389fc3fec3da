import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import { buildDeno } from '../../../services/downloads/engine/engines.ts';
import {
  createRuntimeSearch,
  selectJavaScriptRuntime,
  type RuntimeSearch,
} from '../../../services/downloads/engine/javascript-runtime.ts';
import type { Engine } from '../../../services/contracts/control/engines.ts';

const nothing: RuntimeSearch = { locate: () => Promise.resolve(undefined), readVersion: () => Promise.resolve('') };
const desktop = { execPath: '/opt/homeport/homeport', versions: { ...process.versions, electron: '45.4.1' } };

/** Runtimes in a folder outside of the PATH. */
function searchAmong(programs: Readonly<Record<string, string>>): RuntimeSearch {
  return {
    locate: (name) => Promise.resolve(programs[name] === undefined ? undefined : `/engines/${name}`),
    readVersion: (path) => Promise.resolve(programs[path.replace('/engines/', '')] ?? ''),
  };
}

it('runs the scripts of sites with the Node of this process', async () => {
  const { args, find } = selectJavaScriptRuntime(nothing);
  expect(args).toEqual(['--no-js-runtimes', '--js-runtimes', `node:${process.execPath}`]);
  expect(await find()).toBe(`node ${process.versions.node}`);
});

it.each([
  [{ deno: 'deno 2.9.6 (stable)\nv8 14.0', node: 'v24.1.0' }, 'deno 2.9.6'],
  [{ deno: 'deno 2.2.9', node: 'v22.0.0\n' }, 'node 22.0.0'],
  [{ node: 'v20.20.2', bun: '1.2.11' }, 'bun 1.2.11'],
  [{ node: 'v20.20.2' }, null],
  [{}, null],
])('uses in the desktop app a runtime that is new enough: %o', async (programs: Record<string, string>, runtime) => {
  const { find } = selectJavaScriptRuntime(searchAmong(programs), desktop);
  expect(await find()).toBe(runtime);
});

it('passes the path of the runtime to the extractor of the desktop app, whose PATH is short', async () => {
  const programs: Record<string, string> = {};
  const runtime = selectJavaScriptRuntime(searchAmong(programs), desktop);
  await runtime.find();
  expect(runtime.args).toEqual(['--no-js-runtimes']);
  // Deno was installed as an engine.
  programs['deno'] = 'deno 2.9.7';
  await runtime.find();
  expect(runtime.args).toEqual(['--no-js-runtimes', '--js-runtimes', 'deno:/engines/deno']);
});

describe('search of the desktop app', () => {
  const home = mkdtempSync(join(tmpdir(), 'javascript-'));
  afterEach(() => {
    vi.unstubAllEnvs();
    rmSync(home, { recursive: true, force: true });
  });

  function addProgram(name: string, version: string): string {
    const path = join(home, `.${name}`, 'bin', name);
    mkdirSync(join(path, '..'), { recursive: true });
    writeFileSync(path, `#!/bin/sh\necho '${version}'\n`);
    chmodSync(path, 0o755);
    return path;
  }

  const findNothing = async (name: string): Promise<Engine> => ({
    name,
    path: null,
    version: null,
    source: 'missing',
    remedy: null,
  });

  it.skipIf(process.platform === 'win32')('finds runtimes outside of the PATH, and prefers the engine', async () => {
    vi.stubEnv('HOME', home);
    vi.stubEnv('PATH', '/nowhere');
    const bun = addProgram('bun', '1.3.0');
    const withoutDeno = createRuntimeSearch({ find: findNothing });
    expect(await withoutDeno.locate('bun')).toBe(bun);
    expect(await withoutDeno.locate('deno')).toBeUndefined();
    const path = addProgram('deno', 'deno 2.9.7 (stable)');
    const search = createRuntimeSearch({ find: async (name) => ({ ...(await findNothing(name)), path }) });
    const runtime = selectJavaScriptRuntime(search, desktop);
    expect(await runtime.find()).toBe('deno 2.9.7');
    expect(runtime.args).toEqual(['--no-js-runtimes', '--js-runtimes', `deno:${path}`]);
  });

  it.skipIf(process.platform === 'win32')('reads the version once for each installed file', async () => {
    vi.stubEnv('HOME', home);
    vi.stubEnv('PATH', '/nowhere');
    const runs = join(home, 'runs');
    const install = (version: string): void => {
      // A new file replaces the old one, as with an update.
      rmSync(join(home, '.bun'), { recursive: true, force: true });
      addProgram('bun', `${version}'; echo run >> '${runs}`);
    };
    const countRuns = (): number => readFileSync(runs, 'utf8').trim().split('\n').length;
    install('1.3.0');
    const { find } = selectJavaScriptRuntime(createRuntimeSearch({ find: findNothing }), desktop);
    expect(await Promise.all([find(), find()])).toEqual(['bun 1.3.0', 'bun 1.3.0']);
    expect(await find()).toBe('bun 1.3.0');
    expect(countRuns()).toBe(1);
    install('1.3.10');
    expect(await find()).toBe('bun 1.3.10');
    expect(countRuns()).toBe(2);
  });

  it.skipIf(process.platform === 'win32')('asks a runtime again that did not answer', async () => {
    vi.stubEnv('HOME', home);
    vi.stubEnv('PATH', '/nowhere');
    const marker = join(home, 'answers');
    addProgram('bun', `'; [ -e '${marker}' ] && echo '1.3.0`);
    const { find } = selectJavaScriptRuntime(createRuntimeSearch({ find: findNothing }), desktop);
    expect(await find()).toBeNull();
    writeFileSync(marker, '');
    expect(await find()).toBe('bun 1.3.0');
  });

  it('requires the engine, which Node does not need', () => {
    expect(buildDeno(desktop.versions).optional).toBeUndefined();
    expect(buildDeno({ node: '24.0.0' }).optional).toBe(true);
  });
});
