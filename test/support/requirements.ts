import { spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const cache = fileURLToPath(new URL('../../.cache/', import.meta.url));

/** Returns whether a program is on the path. */
function isOnPath(name: string): boolean {
  const endings = process.platform === 'win32' ? ['.exe', '.cmd', '.bat'] : [''];
  const folders = (process.env['PATH'] ?? '').split(delimiter);
  return folders.some((folder) => endings.some((ending) => existsSync(join(folder, `${name}${ending}`))));
}

/** Returns whether `scripts/test-tools.mjs` unpacked a program, or it is on the path. */
function isTool(name: string): boolean {
  return existsSync(join(cache, 'tools', name)) || isOnPath(name);
}

function isEngine(name: string): boolean {
  return existsSync(join(cache, 'engines-home', 'engines', name)) || isOnPath(name);
}

/** Path of the complete Chromium. */
export const chromiumPath = process.env['CHROMIUM'] ?? '/usr/bin/chromium';

/**
 * Everything that test files may require in addition to Node, npm and git, with a check of its presence. Files that
 * require a real client (`clients`) are not part of the fast suite.
 */
const clients = {
  chromium: () => existsSync(chromiumPath),
  'yt-dlp': () => isEngine('yt-dlp') && isOnPath('python3'),
  rclone: () => isEngine('rclone'),
  ffmpeg: () => isOnPath('ffmpeg') && isOnPath('ffprobe'),
  swaks: () => isOnPath('swaks'),
  msmtp: () => isOnPath('msmtp'),
  curl: () => isOnPath('curl'),
  openssl: () => isOnPath('openssl'),
  python3: () => isOnPath('python3'),
  'git-lfs': () => isOnPath('git-lfs'),
  'ssh client': () => isOnPath('ssh') && isOnPath('ssh-keygen'),
  caddy: () => isTool('caddy'),
  prometheus: () => isTool('prometheus'),
  promtool: () => isTool('promtool'),
  versitygw: () => isTool('versitygw'),
  'nats-server': () => isTool('nats-server'),
  pebble: () => isTool('pebble') && isTool('pebble-challtestsrv'),
  'Apprise library': () => existsSync(join(cache, 'tools', 'apprise-2')) && isOnPath('python3'),
  'py-gitea': () => existsSync(join(cache, 'tools', 'py-gitea')) && isOnPath('python3'),
  'uptime-kuma-api': () => existsSync(join(cache, 'tools', 'uptime-kuma-api2')) && isOnPath('python3'),
};

/** Features of the operating system, which the fast suite uses where they exist. */
const features = {
  // Test repositories, launchers and fake programs are shell scripts.
  'POSIX shell': () => process.platform !== 'win32' && isOnPath('sh'),
  'process tools': () => isOnPath('ps') && isOnPath('pgrep'),
};

export type Requirement = keyof typeof clients | keyof typeof features;

const checks: Readonly<Record<string, () => boolean>> = { ...clients, ...features };
const results = new Map<string, boolean>();

/** Returns whether a requirement is met on this computer. @throws Error for an unknown name. */
export function isPresent(name: string): boolean {
  const check = checks[name];
  if (check === undefined) throw new Error(`Unknown requirement: ${name}`);
  const result = results.get(name) ?? check();
  results.set(name, result);
  return result;
}

/** Returns whether files with this requirement belong to the suite of real clients. */
export function isClient(name: string): boolean {
  return Object.hasOwn(clients, name);
}

/**
 * Declares what a test file needs, or a module of the tests and thereby each file that imports it. `vitest.config.ts`
 * reads the declarations from the sources (`test-suites.ts`): it assigns the files to the projects, and leaves out
 * those whose requirements are missing. With `CI` set no file is left out, and the call fails.
 */
export function needs(...names: readonly Requirement[]): void {
  if (process.env['VITEST'] === undefined) return;
  const missing = names.filter((name) => !isPresent(name));
  if (missing.length > 0) throw new Error(`Required by this test and missing: ${missing.join(', ')}.`);
}

/**
 * Returns whether a single test may be skipped because a requirement is missing. Never with `CI` set: the test runs and
 * fails.
 */
export function isMissing(isHere: boolean): boolean {
  return !isHere && process.env['CI'] === undefined;
}

/** Returns whether a single test may be skipped because a program is missing on the path. */
export function lacksProgram(name: string): boolean {
  return isMissing(spawnSync(name, ['--version']).error === undefined);
}
