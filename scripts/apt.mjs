// Runs apt-get, which only one program may use at a time: on a fresh computer the system's own updates often hold the lock.
import { run } from './commands.mjs';

const retryIntervalMs = 1000;
/** Maximum wait for the lock: the duration of a large system update. */
const lockTimeoutMs = 20 * 60_000;

const isLocked = /Could not get lock|Unable to lock directory|Unable to acquire the dpkg/;
const wasInterrupted = /dpkg was interrupted/;

let waiting = false;
let indexed = false;

/** Runs apt-get when its lock is free and finishes an interrupted installation first. Returns the result of `run`. */
async function aptGet(args, options = {}) {
  // Error messages must be in English to be recognized.
  const env = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C', ...options.env };
  const deadline = Date.now() + lockTimeoutMs;
  for (let isRepaired = false; ;) {
    // apt-get itself waits for only one of its three locks.
    const result = await run('apt-get', args, { quiet: true, ...options, env });
    if (result.status === 0) return result;
    if (wasInterrupted.test(result.stderr) && !isRepaired) {
      isRepaired = true;
      console.error('Finishing an installation that was cut off …');
      await run('dpkg', ['--configure', '-a'], { quiet: true, env });
    } else if (isLocked.test(result.stderr) && Date.now() < deadline) {
      if (!waiting)
        console.error(`Another program is installing packages; waiting for it … ${findHolder(result.stderr)}`);
      waiting = true;
      await new Promise((resolve) => setTimeout(resolve, retryIntervalMs));
    } else return result;
  }
}

/** Returns "It is held by process 123 (apt-get)" if the message contains it. */
function findHolder(text) {
  return /It is held by process [^\n]*/.exec(text)?.[0] ?? '';
}

async function update() {
  if (indexed) return;
  console.error('Reading the lists of packages …');
  const { status, stderr } = await aptGet(['update', '-qq']);
  if (status !== 0) console.error(stderr.trim());
  indexed = true;
}

/** Installs packages and returns the result of `run`. */
export async function aptInstall(packages) {
  await update();
  console.error(`Installing ${packages.join(', ')} …`);
  return aptGet(['install', '-y', '-qq', '--no-install-recommends', ...packages]);
}

/** Downloads a package file into a folder without installing it. */
export async function aptDownload(name, folder) {
  await update();
  return aptGet(['download', '-qq', name], { cwd: folder, env: { APT_CONFIG: '' } });
}
