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
/** What a run may come to hold at once, with two PostgreSQL and two Chromium in it, bytes. */
const wanted = 3 * 1024 ** 3;
const named = /^homeport-run-(\d+)-/;

/**
 * Before the first worker: temporary files of a run lie in a folder of its own, in memory where there is room, since tests
 * make thousands of small databases that nobody reads after them. `HOMEPORT_TEST_TMPDIR` names another place. Removed at the
 * end, with what tests and programs that were killed have left behind.
 */
export default function setUp(): () => void {
  buildHost();
  const place = chosen();
  for (const name of readdirSync(place)) {
    const pid = Number(named.exec(name)?.[1]);
    // A run that was killed could not clean up, and memory is dear.
    if (pid > 0 && !isRunning(pid)) clear(join(place, name));
  }
  const folder = mkdtempSync(join(place, `homeport-run-${process.pid}-`));
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

/** Removes what a killed run left; small disks that its tests had mounted are taken away first. */
function clear(folder: string): void {
  const mounts = existsSync('/proc/mounts') ? readFileSync('/proc/mounts', 'utf8').split('\n') : [];
  const below = mounts.map((line) => line.split(' ')[1] ?? '').filter((path) => path.startsWith(`${folder}/`));
  for (const path of below.toReversed()) spawnSync('umount', ['-l', path]);
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 3 });
  } catch (error) {
    // Another run that starts may be clearing it too; what is left costs memory and breaks nothing.
    console.warn(`Left of an earlier run: ${folder}`, error);
  }
}

/**
 * A remote is signed in to on port 53682 and no other (tests take turns by the one before it). Both lie among those that the
 * system gives to whoever asks for any, so any other server of a run could hold them; a machine of CI keeps them back.
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
  const given = process.env['HOMEPORT_TEST_TMPDIR'];
  if (given !== undefined) return given;
  if (process.platform !== 'linux' || !existsSync(memory)) return tmpdir();
  const { bavail, bsize } = statfsSync(memory);
  return bavail * bsize < wanted ? tmpdir() : memory;
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM';
  }
}
