// Installs the packages, and tells how far it is: on a slow line it takes minutes.
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { root, run, stop } from './commands.mjs';

const modules = join(root, 'node_modules');
const windows = process.platform === 'win32';
/** npm writes it last. */
const finished = join(modules, '.package-lock.json');
const node = join(modules, '.bin', windows ? 'node.cmd' : 'node');

/** Whether an installation was brought to its end and is still whole as far as a look tells. */
export function packagesAreWhole() {
  return existsSync(finished) && existsSync(node);
}

/** Runs `npm ci`, and sees that the pinned Node came with it. */
export async function installPackages() {
  if (existsSync(modules) && !packagesAreWhole()) {
    console.error('Clearing packages that were not installed to the end …');
    rmSync(modules, { recursive: true, force: true });
  }
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8'));
  const places = Object.keys(lock.packages).filter((place) => place !== '');
  console.error(`Installing about ${places.length} packages with npm, once; they take some 700 MB …`);
  const { npm_execpath: own = '' } = process.env;
  // Another program than npm may have started us.
  const npm = basename(own) === 'npm-cli.js' ? [process.execPath, own] : ['npm'];
  const watch = setInterval(() => tellProgress(places), 1000);
  const quietly = ['--no-audit', '--no-fund', '--no-progress', '--loglevel', 'error'];
  const result = await run(npm[0], [...npm.slice(1), 'ci', ...quietly], { env: { npm_config_ignore_scripts: '' } });
  clearInterval(watch);
  if (process.stderr.isTTY) process.stderr.write('\r\x1b[K');
  if (result.missing) stop('Homeport installs its packages with npm, which is not there. It comes along with Node.');
  if (result.status !== 0) stop('The packages could not be installed; npm gave its reason above.');

  const pinned = await run(node, ['--version'], { quiet: true });
  if (pinned.status !== 0) {
    rmSync(finished, { force: true });
    stop(
      `The Node that Homeport is made for did not arrive with the packages; its install script may have been blocked. ${pinned.stderr.trim()}`,
    );
  }
  // "exec" in the scripts of package.json lets npm wait for the program itself; this shell has no such word.
  if (windows) writeFileSync(join(modules, '.bin', 'exec.cmd'), '@%*\r\n');
}

/** In a log file a line each second would be too many; ms. */
const linesEveryMs = 5000;
let told = '';
let toldAt = -linesEveryMs;

function tellProgress(places) {
  // Still those of before.
  if (existsSync(finished)) return;
  // npm makes all folders at once, those of other systems' packages left out, and then fills them.
  const begun = places.filter((place) => existsSync(join(root, place)));
  const done = begun.filter((place) => existsSync(join(root, place, 'package.json')));
  if (done.length === 0) return;
  const text =
    done.length < begun.length
      ? `${done.length} of ${begun.length} packages`
      : `${begun.length} packages are there; they set themselves up`;
  const { isTTY } = process.stderr;
  if (text === told || (!isTTY && performance.now() - toldAt < linesEveryMs)) return;
  told = text;
  toldAt = performance.now();
  process.stderr.write(isTTY ? `\r\x1b[K  ${text} …` : `  ${text} …\n`);
}
