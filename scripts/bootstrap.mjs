// Sets up what `npm start` and `npm test` need. Other purposes: `packages` and `host` (the build of the program) run a single
// step, `build` all of them, and `clients` also installs the real clients of `npm run test:clients`. Plain JavaScript for
// Node 18 and newer, because it runs before the pinned Node is installed.
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { acquireFileLock } from './file-lock.mjs';
import { endOnSignals, root, run, stop } from './commands.mjs';
import { installPackages, packagesAreWhole } from './packages.mjs';

const purpose = process.argv[2] ?? 'start';

const major = Number(process.versions.node.split('.')[0]);
if (major < 18) stop(`Homeport needs Node 18 or newer to set itself up; this is Node ${process.versions.node}.`);

// Steps. A step is done if its stamp contains the hash of its current inputs.
const packages = {
  what: 'its packages are',
  stamp: 'node_modules/.homeport-installed',
  inputs: ['package.json', 'package-lock.json', '.npmrc'],
  isWhole: packagesAreWhole,
  work: installPackages,
};
/** Catalogs without the modules that are generated from them. */
const catalogs = ['messages/format.ts', 'messages/language.ts', 'messages/runtime.ts', ...listCatalogFolders()];
const messages = {
  what: 'its messages are',
  stamp: 'messages/generated/.homeport-built',
  inputs: [...catalogs, 'scripts/messages.ts', 'scripts/message-catalogs.ts', 'scripts/message-syntax.ts'],
  async work() {
    const { status } = await run('node', ['scripts/messages.ts']);
    if (status !== 0) stop('The messages could not be generated; the reason is above.');
  },
};
const pages = {
  what: 'its pages are',
  stamp: 'dist/renderer/.homeport-built',
  inputs: ['renderer', 'services/contracts', ...catalogs, 'vite.config.ts', 'svelte.config.js', 'package-lock.json'],
  async work() {
    console.error('Building the pages …');
    const { status } = await run('vite', ['build', '--logLevel', 'warn']);
    if (status !== 0) stop('The pages could not be built; the reason is above.');
  },
};
/** Inputs of the bundles, which contain the packages of the lock file. */
const programInputs = [
  ...catalogs,
  'main',
  'services',
  'scripts/bundle.mjs',
  'scripts/third-party-licenses.mjs',
  'package.json',
  'package-lock.json',
];
/** The program itself. Its sources run only in development. */
const hostBuild = {
  what: 'the program is',
  stamp: 'dist/host/.homeport-built',
  inputs: [...programInputs, 'scripts/build-host.mjs'],
  async work() {
    console.error('Building the program …');
    const { status } = await run('node', ['scripts/build-host.mjs']);
    if (status !== 0) stop('The program could not be built; the reason is above.');
  },
};
/** Step that applies only if Electron is installed. */
const desktopApp = {
  what: 'the desktop app is',
  stamp: 'dist/app/.homeport-built',
  inputs: [...programInputs, 'dist/renderer', 'assets', 'scripts/build-app.mjs'],
  async work() {
    console.error('Building the desktop app …');
    const { status } = await run('node', ['scripts/build-app.mjs']);
    if (status !== 0) stop('The desktop app could not be built.');
  },
};

/** Returns the folders with the catalog of each language. */
function listCatalogFolders() {
  const entries = readdirSync(join(root, 'messages'), { withFileTypes: true });
  const folders = entries.filter((entry) => entry.isDirectory() && entry.name !== 'generated');
  return folders.map(({ name }) => `messages/${name}`).sort();
}

function computeHash(paths) {
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

function isDone({ stamp, inputs, isWhole = () => true }) {
  const file = join(root, stamp);
  return existsSync(file) && isWhole() && readFileSync(file, 'utf8') === computeHash(inputs);
}

async function runStep({ stamp, inputs, work }) {
  const hash = computeHash(inputs);
  const file = join(root, stamp);
  // An interrupted step must not count as done.
  rmSync(file, { force: true });
  await work();
  mkdirSync(join(file, '..'), { recursive: true });
  writeFileSync(file, hash);
}

/** Explains a write-protected folder or a full disk in one sentence; other errors are thrown. */
function explain(error, subject) {
  const reasons = { EROFS: 'it is write-protected', EACCES: 'this user may not', EPERM: 'this user may not' };
  const reason = reasons[error.code];
  if (error.code === 'ENOSPC' || error.code === 'EDQUOT')
    stop(`The disk is full: ${subject} not set up in ${root} yet.`);
  if (reason === undefined) throw error;
  stop(
    `Nothing can be written to ${root} (${reason}) and ${subject} not set up there yet: ` +
      'start it once as somebody who may write there, or from a copy elsewhere.',
  );
}

let subject = 'what the tests need is';
let lock;

/** Waits for the lock once and holds it until the process ends. */
function acquireLock() {
  lock ??= acquireFileLock(join(root, '.cache', 'bootstrap.lock'), (text) => console.error(text));
  return lock;
}

/** Runs the steps that are not done. Writes nothing to a complete checkout, which may be write-protected. */
async function complete(steps) {
  for (const step of steps) {
    subject = step.what;
    if (isDone(step)) continue;
    await acquireLock();
    if (!isDone(step)) await runStep(step);
  }
}

/** Unpacks a local Electron archive after a checksum verification. A local Electron folder is used unchanged. */
async function unpackElectron() {
  const zip = process.env.ELECTRON_OVERRIDE_DIST_PATH ? '' : (process.env.ELECTRON_OVERRIDE_DIST_ZIP ?? '');
  if (zip === '') return;
  const { status } = await run('node', ['scripts/electron-zip.mjs', zip]);
  if (status !== 0)
    stop('Electron was not unpacked from the zip that ELECTRON_OVERRIDE_DIST_ZIP names; the reason is above.');
}

endOnSignals();
try {
  if (purpose === 'packages') await complete([packages, messages]);
  else if (purpose === 'host') await complete([messages, hostBuild]);
  else await complete([packages, messages, pages, hostBuild]);
  if (purpose === 'start') {
    await unpackElectron();
    const electron = process.env.ELECTRON_OVERRIDE_DIST_PATH || join(root, 'node_modules', 'electron', 'dist');
    if (existsSync(electron)) await complete([desktopApp]);
  }
  subject = 'what the tests need is';
  if (purpose === 'clients') {
    await acquireLock();
    await import('./test-tools.mjs').then(({ installTestTools }) => installTestTools());
  }
} catch (error) {
  explain(error, subject);
}
