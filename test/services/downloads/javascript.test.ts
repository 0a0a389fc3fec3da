import { expect, it } from 'vitest';
import { selectJavaScriptRuntime } from '../../../services/downloads/engine/javascript-runtime.ts';

it('runs the scripts of sites with the Node of this process', async () => {
  const { args, find } = selectJavaScriptRuntime();
  expect(args).toEqual(['--no-js-runtimes', '--js-runtimes', `node:${process.execPath}`]);
  expect(await find()).toBe(`node ${process.versions.node}`);
});

const desktop = { execPath: '/opt/homeport/homeport', versions: { ...process.versions, electron: '45.4.1' } };

it('lets the extractor select a runtime in the desktop app, which cannot run as Node', () => {
  expect(selectJavaScriptRuntime(desktop).args).toEqual([
    '--no-js-runtimes',
    ...['--js-runtimes', 'deno', '--js-runtimes', 'node', '--js-runtimes', 'bun'],
  ]);
});

it.each([
  [{ deno: 'deno 2.9.6 (stable)\nv8 14.0', node: 'v24.1.0' }, 'deno 2.9.6'],
  [{ deno: 'deno 2.2.9', node: 'v22.0.0\n' }, 'node 22.0.0'],
  [{ node: 'v20.20.2', bun: '1.2.11' }, 'bun 1.2.11'],
  [{ node: 'v20.20.2' }, null],
  [{}, null],
])('uses a runtime of the system that is new enough: %o', async (programs: Record<string, string>, runtime) => {
  const { find } = selectJavaScriptRuntime(desktop, (name) => Promise.resolve(programs[name] ?? ''));
  expect(await find()).toBe(runtime);
});
