// Sets up what `npm start` and `npm test` need. Plain JavaScript for any Node from 18 on, since it runs before the pinned Node is there.
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const purpose = process.argv[2] ?? 'start';
const windows = process.platform === 'win32';

const major = Number(process.versions.node.split('.')[0]);
if (major < 18) stop(`Homeport needs Node 18 or newer to set itself up; this is Node ${process.versions.node}.`);

function stop(message) {
  console.error(message);
  process.exit(1);
}

function run(command, args, options = {}) {
  const { quiet = false, ...rest } = options;
  const path = `${join(root, 'node_modules', '.bin')}${delimiter}${process.env.PATH}`;
  return spawnSync(command, args, {
    cwd: root,
    stdio: quiet ? ['ignore', 'pipe', 'pipe'] : ['ignore', 'inherit', 'inherit'],
    encoding: 'utf8',
    shell: windows,
    ...rest,
    env: { ...process.env, PATH: path, ...rest.env },
  });
}

function hashOf(paths) {
  const hash = createHash('sha256');
  const add = (path) => {
    const full = join(root, path);
    if (!existsSync(full)) return;
    if (statSync(full).isDirectory()) {
      for (const name of readdirSync(full).sort()) add(join(path, name));
    } else {
      hash.update(path).update('\0').update(readFileSync(full)).update('\0');
    }
  };
  for (const path of paths) add(path);
  return hash.digest('hex');
}

/** Runs a step only when its inputs are not those of its last success. */
function once(stampFile, inputs, step) {
  const wanted = hashOf(inputs);
  const stamp = join(root, stampFile);
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return;
  step();
  mkdirSync(join(stamp, '..'), { recursive: true });
  writeFileSync(stamp, wanted);
}

/** Two first starts at once would take each other's packages away. A lock whose process is gone counts for nothing. */
async function alone() {
  const lock = join(root, '.cache', 'bootstrap.lock');
  mkdirSync(join(root, '.cache'), { recursive: true });
  for (let told = false; ;) {
    try {
      writeFileSync(lock, String(process.pid), { flag: 'wx' });
      process.on('exit', () => rmSync(lock, { force: true }));
      for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => process.exit(1));
      return;
    } catch (error) {
      if (error.code !== 'EEXIST') throw error;
    }
    if (!isRunning(Number(readFileSync(lock, 'utf8')))) rmSync(lock, { force: true });
    else {
      if (!told) console.error('Another start is setting things up; waiting for it …');
      told = true;
      await new Promise((resolve) => setTimeout(resolve, 500));
    }
  }
}

function isRunning(pid) {
  try {
    return pid > 0 && process.kill(pid, 0);
  } catch (error) {
    return error.code === 'EPERM';
  }
}

await alone();
once('node_modules/.homeport-installed', ['package.json', 'package-lock.json', '.npmrc'], () => {
  console.error('Installing packages …');
  const npm = process.env.npm_execpath?.endsWith('.js') ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const result = run(npm[0], [...npm.slice(1), 'ci', '--no-audit', '--no-fund', '--loglevel', 'error'], {
    env: { npm_config_ignore_scripts: '' },
  });
  if (result.status !== 0) stop('`npm ci` failed; its reason is above.');
});

const pinned = run(join(root, 'node_modules', '.bin', windows ? 'node.cmd' : 'node'), ['--version'], { quiet: true });
if (pinned.status !== 0) {
  rmSync(join(root, 'node_modules', '.homeport-installed'), { force: true });
  stop(
    'The pinned Node did not arrive with the packages (its install script may have been blocked). Run `npm ci` and look at its messages.',
  );
}

once(
  'dist/renderer/.homeport-built',
  ['renderer', 'services/contracts', 'vite.config.ts', 'svelte.config.js', 'package-lock.json'],
  () => {
    console.error('Building the pages …');
    const result = run('vite', ['build', '--logLevel', 'warn']);
    if (result.status !== 0) stop('The pages could not be built; the reason is above.');
  },
);

// A folder that somebody brought along is used as it is; a zip is looked at before it is unpacked.
const brought = process.env.ELECTRON_OVERRIDE_DIST_PATH ? '' : (process.env.ELECTRON_OVERRIDE_DIST_ZIP ?? '');
if (brought !== '' && run('node', ['scripts/electron-zip.mjs', brought]).status !== 0)
  stop('Electron was not unpacked from the zip that ELECTRON_OVERRIDE_DIST_ZIP names; the reason is above.');
const electron = process.env.ELECTRON_OVERRIDE_DIST_PATH || join(root, 'node_modules', 'electron', 'dist');
if (purpose === 'start' && existsSync(electron))
  once(
    'dist/app/.homeport-built',
    ['main', 'services', 'dist/renderer', 'assets', 'tsconfig.app.json', 'scripts/build-app.mjs', 'package.json'],
    () => {
      console.error('Building the desktop app …');
      if (run('node', ['scripts/build-app.mjs']).status !== 0) stop('The desktop app could not be built.');
    },
  );

if (purpose === 'test')
  await import('./test-tools.mjs').then(({ installTestTools }) => installTestTools({ root, run, stop }));
