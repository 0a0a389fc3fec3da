// Replaces Electron's program: finds the app, evaluates its entry, becomes ready, and starts its processes as Electron
// does (lib/browser/init.ts and default_app/main.ts of Electron), with the fake of its modules.
import { fork } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { createRequire, registerHooks } from 'node:module';
import { join, resolve } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { FakeElectron, menuTree } from '../electron.ts';

const [appFolder = '', ...argv] = process.argv.slice(2);
const electron = new FakeElectron();
const pids: number[] = [];

const app = resolve(appFolder);
const manifest = JSON.parse(readFileSync(join(app, 'package.json'), 'utf8')) as Record<string, string>;
// A packed app is addressed by the unchanged path in package.json; a folder is resolved as Node does.
const entry = join(app, manifest['main'] ?? 'index.js');
if (!existsSync(entry)) throw new Error(`Unable to find Electron app at ${app}: ${entry} is not there`);
const resolved = createRequire(import.meta.url).resolve(app);
if (resolved !== entry) throw new Error(`${resolved} is not ${entry}`);
if (manifest['type'] !== 'module') throw new Error('the app is not one of modules');

/** Maps Chromium's V8 switch to Node's flags. */
const nodeFlags = (execArgv: readonly string[] = []): string[] =>
  execArgv.flatMap((flag) => (flag.startsWith('--js-flags=') ? flag.slice('--js-flags='.length).split(' ') : []));
electron.fork = (file, args, { execArgv = [], serviceName = '' }) => {
  const shim = pathToFileURL(fileURLToPath(new URL('parent-port.mjs', import.meta.url))).href;
  const child = fork(file, [...args], {
    execArgv: [...nodeFlags(execArgv), '--import', shim],
    serialization: 'advanced',
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  });
  if (child.pid !== undefined) pids.push(child.pid);
  process.send?.({ forked: child.pid, serviceName, execArgv });
  return {
    get pid() {
      return child.exitCode === null && child.signalCode === null ? child.pid : undefined;
    },
    postMessage: (message: never) => void child.send(message, () => undefined),
    on: ((name: string, listener: (value: unknown) => void) => child.on(name, listener)) as never,
  };
};

const parts = {
  ...electron.parts,
  app: {
    ...electron.parts.app,
    getAppPath: () => app,
    isPackaged: false,
    getPath: (name: string) => electron.paths[name] ?? join(app, 'nowhere'),
    getVersion: () => manifest['version'],
    exit(code = 0) {
      electron.parts.app.exit(code);
      process.send?.({ exit: code }, () => process.exit(code));
    },
  },
  ipcMain: { ...electron.parts.ipcMain, on: () => undefined },
  // Throws before the app is ready, as in Electron.
  session: electron.parts.session,
};
Object.assign(globalThis, { electronParts: parts });
const names = Object.keys(parts).map((name) => `export const ${name} = parts.${name};`);
const source = `const parts = globalThis.electronParts; export default parts; ${names.join('\n')}`;
registerHooks({
  resolve: (specifier, context, next) =>
    specifier === 'electron'
      ? { url: 'electron:main', format: 'module', shortCircuit: true }
      : next(specifier, context),
  load: (url, context, next) =>
    url === 'electron:main' ? { format: 'module', source, shortCircuit: true } : next(url, context),
});

Object.defineProperty(process, 'defaultApp', { value: true });
Object.defineProperty(process, 'resourcesPath', { value: join(app, '..') });
process.argv = [process.execPath, app, ...argv];

process.on('message', (command: { readonly does: string; readonly id: number }) => {
  const answers: Readonly<Record<string, () => unknown>> = {
    state: () => ({
      pids,
      addresses: electron.window?.addresses ?? [],
      notices: electron.window?.notices ?? [],
      visible: electron.window?.visible ?? false,
      tip: electron.tray?.tip ?? null,
      menu: menuTree(electron.tray?.menu ?? []),
      popups: electron.notifications.map(({ options }) => options.title),
      errors: electron.errors,
    }),
    session: () => electron.call('session', undefined, { url: electron.window?.addresses.at(-1) ?? '', parent: null }),
    second: () => electron.secondInstance(['electron', app]),
    again: () => electron.click(/^Restart services now$/),
    quit: () => electron.parts.app.quit(),
  };
  void Promise.resolve(answers[command.does]?.()).then((value) =>
    process.send?.({ id: command.id, value: value ?? null }),
  );
});

await import(pathToFileURL(entry).href);
process.send?.({ evaluated: true });
// Becomes ready only now, so that an entry that awaits readiness during its evaluation never continues.
electron.becomeReady();
