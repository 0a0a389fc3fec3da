// Installs the packages and reports the progress, because a slow connection takes minutes.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { isWindows, root, run, stop } from './commands.mjs';

const modules = join(root, 'node_modules');
/** File that npm writes last. */
const finished = join(modules, '.package-lock.json');
const node = isWindows ? join(modules, 'node', 'bin', 'node.exe') : join(modules, '.bin', 'node');

/** Returns true if an installation was completed and is still present. */
export function packagesAreWhole() {
  return existsSync(finished) && existsSync(node);
}

/** Runs `npm ci` and verifies that it installed the pinned Node. */
export async function installPackages() {
  if (existsSync(modules) && !packagesAreWhole()) {
    console.error('Clearing packages that were not installed to the end …');
    rmSync(modules, { recursive: true, force: true });
  }
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const folders = Object.keys(lock.packages).filter((folder) => folder !== '');
  console.error(`Installing about ${folders.length} packages with npm, once; they take some 700 MB …`);
  const { npm_execpath: own = '' } = process.env;
  // The script may run without npm.
  const npm = basename(own) === 'npm-cli.js' ? [process.execPath, own] : ['npm'];
  const watch = setInterval(() => reportProgress(folders), 1000);
  const quietOptions = ['--no-audit', '--no-fund', '--no-progress', '--loglevel', 'error'];
  const result = await run(npm[0], [...npm.slice(1), 'ci', ...quietOptions], {
    env: { npm_config_ignore_scripts: '' },
  });
  clearInterval(watch);
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  if (result.missing) stop('Homeport installs its packages with npm, which is not there. It comes along with Node.');
  if (result.status !== 0) stop('The packages could not be installed; npm gave its reason above.');

  const pinned = await run(node, ['--version'], { quiet: true });
  if (pinned.status !== 0) {
    rmSync(finished, { force: true });
    stop(
      'The Node that Homeport is made for did not arrive with the packages; its install script may have been blocked. ' +
        pinned.stderr.trim(),
    );
  }
  // The scripts in package.json use "exec", so that npm waits for the program itself; the shell of Windows has no such command.
  if (isWindows) writeFileSync(join(modules, '.bin', 'exec.cmd'), '@%*\r\n');
}

/** Interval of progress lines in a log file, in milliseconds. */
const lineIntervalMs = 5000;
let lastText = '';
let reportedAt = -lineIntervalMs;

function reportProgress(folders) {
  // The file still belongs to the previous installation.
  if (existsSync(finished)) return;
  // npm first creates the folders of all packages for this platform and then fills them.
  const begun = folders.filter((folder) => existsSync(join(root, folder)));
  const done = begun.filter((folder) => existsSync(join(root, folder, 'package.json')));
  if (done.length === 0) return;
  const text =
    done.length < begun.length
      ? `${done.length} of ${begun.length} packages`
      : `${begun.length} packages are there; they set themselves up`;
  const { isTTY } = process.stderr;
  if (text === lastText || (!isTTY && performance.now() - reportedAt < lineIntervalMs)) return;
  lastText = text;
  reportedAt = performance.now();
  process.stderr.write(isTTY ? `\r\x1b[K  ${text} …` : `  ${text} …\n`);
}
