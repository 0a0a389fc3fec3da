import { expect, it } from 'vitest';
import { selectJavaScriptRuntime, type RuntimeSearch } from '../../../services/downloads/engine/javascript-runtime.ts';

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
