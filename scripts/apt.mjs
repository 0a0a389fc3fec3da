// apt-get, which one program at a time may use: on a fresh machine the system's own updates are often at it.
import { run } from './commands.mjs';

const againMs = 1000;
/** As long as a large update of the system may take. */
const patienceMs = 20 * 60_000;

const isLocked = /Could not get lock|Unable to lock directory|Unable to acquire the dpkg/;
const wasInterrupted = /dpkg was interrupted/;

let waiting = false;
let indexed = false;

/** Runs apt-get as soon as nobody else does; answers as `run` does. What an installation that was cut off left is finished first. */
async function aptGet(args, options = {}) {
  // Its words for what is wrong must be those we know.
  const env = { DEBIAN_FRONTEND: 'noninteractive', LC_ALL: 'C', ...options.env };
  const until = Date.now() + patienceMs;
  for (let mended = false; ;) {
    // It can wait by itself for one of its three locks only.
    const result = await run('apt-get', args, { quiet: true, ...options, env });
    if (result.status === 0) return result;
    if (wasInterrupted.test(result.stderr) && !mended) {
      mended = true;
      console.error('Finishing an installation that was cut off …');
      await run('dpkg', ['--configure', '-a'], { quiet: true, env });
    } else if (isLocked.test(result.stderr) && Date.now() < until) {
      if (!waiting) console.error(`Another program is installing packages; waiting for it … ${holder(result.stderr)}`);
      waiting = true;
      await new Promise((resolve) => setTimeout(resolve, againMs));
    } else return result;
  }
}

/** "It is held by process 123 (apt-get)", where apt knows. */
function holder(text) {
  return /It is held by process [^\n]*/.exec(text)?.[0] ?? '';
}

async function update() {
  if (indexed) return;
  console.error('Reading the lists of packages …');
  const { status, stderr } = await aptGet(['update', '-qq']);
  if (status !== 0) console.error(stderr.trim());
  indexed = true;
}

/** Installs packages; answers as `run` does. */
export async function aptInstall(packages) {
  await update();
  console.error(`Installing ${packages.join(', ')} …`);
  return aptGet(['install', '-y', '-qq', '--no-install-recommends', ...packages]);
}

/** Fetches a package's file into a folder without installing it. */
export async function aptDownload(name, folder) {
  await update();
  return aptGet(['download', '-qq', name], { cwd: folder, env: { APT_CONFIG: '' } });
}
