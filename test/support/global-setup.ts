import { spawnSync } from 'node:child_process';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statfsSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const memory = '/dev/shm';
/** Minimum free space for a run with two PostgreSQL servers and two Chromium processes, in bytes. */
const minFreeBytes = 3 * 1024 ** 3;
const named = /^homeport-run-(\d+)-/;

/**
 * Runs before the first worker. Temporary files of a run are in a separate folder, in memory if there is room, since
 * tests create thousands of small databases. `HOMEPORT_TEST_TMPDIR` selects another location. The folder is deleted at
 * the end, together with leftovers of killed tests and programs.
 */
export default function setUp(): () => void {
  buildHost();
  const parentFolder = chosen();
  for (const name of readdirSync(parentFolder)) {
    const pid = Number(named.exec(name)?.[1]);
    // A killed run leaves its memory file system behind.
    if (pid > 0 && !isRunning(pid)) clear(join(parentFolder, name));
  }
  const folder = mkdtempSync(join(parentFolder, `homeport-run-${process.pid}-`));
  // PostgreSQL runs as another user where the tests run as root.
  if (process.getuid?.() === 0) chmodSync(folder, 0o711);
  process.env['TMPDIR'] = folder;
  if (process.env['CI']) reserveFixedPorts();
  return () => rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
}

/** Brings the build that end-to-end tests start up to date. */
function buildHost(): void {
  const bootstrap = fileURLToPath(new URL('../../scripts/bootstrap.mjs', import.meta.url));
  const { status } = spawnSync(process.execPath, [bootstrap, 'host'], { stdio: 'inherit' });
  if (status !== 0) throw new Error('The program could not be built.');
}

/** Deletes the leftovers of a killed run after unmounting the small disks that its tests had mounted. */
function clear(folder: string): void {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8').split('\n') : [];
  const below = mounts.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${folder}/`));
  for (const path of below.toReversed()) spawnSync('umount', ['-l', path]);
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    // Another run may delete it at the same time; the remainder only uses memory.
    console.warn(`Left of an earlier run: ${folder}`, error);
  }
}

/**
 * The sign-in to a remote requires port 53682 (tests take turns with the help of the port before it). Both are
 * ephemeral ports, which any other server of a run could receive; in CI they are reserved.
 */
function reserveFixedPorts(): void {
  const reserved = '/proc/sys/net/ipv4/ip_local_reserved_ports';
  try {
    accessSync(reserved, constants.W_OK);
    const before = readFileSync(reserved, 'utf8').trim();
    writeFileSync(reserved, [before, '53681-53682'].filter((ports) => ports !== '').join());
  } catch (error) {
    console.warn('Ports 53681 and 53682 are not kept back, so that another test may happen to hold them.', error);
  }
}

function chosen(): string {
  const override = process.env['HOMEPORT_TEST_TMPDIR'];
  if (override !== undefined) return override;
  if (process.platform !== 'linux' || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < minFreeBytes ? tmpdir() : memory;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
