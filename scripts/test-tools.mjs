// Installs the real clients and programs of `npm run test:clients`. Debian packages need root on Debian or Ubuntu; elsewhere
// the missing ones are listed. Python packages and engines need no special rights.
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  mkdirSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { delimiter, join } from 'node:path';
import { aptDownload, aptInstall } from './apt.mjs';
import { isWindows, root, run, stop } from './commands.mjs';

/** Required command -> Debian package that contains it. */
const programs = {
  chromium: 'chromium',
  ffmpeg: 'ffmpeg',
  ffprobe: 'ffmpeg',
  swaks: 'swaks',
  msmtp: 'msmtp',
  curl: 'curl',
  python3: 'python3',
  git: 'git',
  'git-lfs': 'git-lfs',
  'ssh-keygen': 'openssh-client',
  dunst: 'dunst',
  Xvfb: 'xvfb',
  'dbus-run-session': 'dbus-daemon',
  'notify-send': 'libnotify-bin',
  ping: 'iputils-ping',
};

/** Optional commands that make tests faster, if the distribution has them. */
const optional = ['chromium-headless-shell'];

/** Program -> Debian package that is unpacked without installation. */
const unpacked = {
  caddy: 'caddy',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  'prometheus-alertmanager': 'prometheus-alertmanager',
};

/** Folder -> Python package. */
const pythonPackages = {
  'apprise-1': 'apprise==1.13.1',
  'apprise-2': 'apprise==2.2.0',
  'uptime-kuma-api2': 'uptime-kuma-api2==2.9.0',
  'py-gitea': 'py-gitea==0.2.10',
  'postgresql-18': 'embedded-postgres==18.6.3',
};

/** Program -> Go package that is built. */
const goPackages = {
  versitygw: 'github.com/versity/versitygw/cmd/versitygw@v1.8.0',
  'nats-server': 'github.com/nats-io/nats-server/v2@v2.15.3',
  pebble: 'github.com/letsencrypt/pebble/v2/cmd/pebble@v2.10.3',
  'pebble-challtestsrv': 'github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv@v2.10.3',
};

const tools = join(root, '.cache', 'tools');

/** Returns whether a command is on the path. */
function exists(command) {
  const endings = isWindows ? ['.exe', '.cmd', '.bat'] : [''];
  return (process.env.PATH ?? '')
    .split(delimiter)
    .some((folder) => endings.some((ending) => existsSync(join(folder, `${command}${ending}`))));
}

async function hasPip() {
  return (await run('python3', ['-m', 'pip', '--version'], { quiet: true })).status === 0;
}

function findMissing(commands) {
  return commands.filter((command) => !exists(command));
}

export async function installTestTools() {
  const isApt = exists('apt-get');
  const apt = isApt && process.getuid?.() === 0;
  const missing = findMissing(Object.keys(programs)).map((command) => programs[command]);
  if (!(await hasPip())) missing.push('python3-pip');
  // swaks needs this module for TLS.
  if ((await run('perl', ['-MNet::SSLeay', '-e', '1'], { quiet: true })).status !== 0) {
    missing.push('libnet-ssleay-perl');
  }
  const packages = [...new Set(missing)];
  if (packages.length > 0 && apt) {
    const result = await aptInstall(packages);
    if (result.status !== 0) console.error(result.stderr);
  }
  mkdirSync(tools, { recursive: true });
  // Deletes leftovers of an interrupted set-up.
  for (const name of readdirSync(tools).filter((each) => /\.(new|unpacking)$/.test(each))) {
    rmSync(join(tools, name), { recursive: true, force: true });
  }
  for (const name of optional) {
    const requestedFile = join(tools, `${name}.asked`);
    if (!apt || existsSync(requestedFile) || exists(name)) continue;
    await aptInstall([name]);
    writeFileSync(requestedFile, '');
  }
  for (const [program, source] of Object.entries(unpacked)) {
    if (apt && !existsSync(join(tools, program)) && !exists(program)) await unpack(program, source);
  }
  for (const [folder, source] of Object.entries(pythonPackages)) {
    if (!existsSync(join(tools, folder)) && (await hasPip())) await fetchPackage(folder, source);
  }
  for (const [program, source] of Object.entries(goPackages)) {
    if (!existsSync(join(tools, program)) && !exists(program) && exists('go')) await buildGoProgram(source);
  }
  const engines = await installEngines();

  const absent = findMissing(Object.keys(programs));
  for (const name of [...Object.keys(unpacked), ...Object.keys(goPackages)]) {
    if (!existsSync(join(tools, name)) && !exists(name)) absent.push(name);
  }
  absent.push(...Object.keys(pythonPackages).filter((name) => !existsSync(join(tools, name))));
  if (!engines) absent.push('yt-dlp');
  if (absent.length === 0) return;
  const sentence = `Programs that the tests use are missing: ${absent.join(', ')}.`;
  if (process.env.CI) stop(sentence);
  const remedy = isApt && !apt && packages.length > 0 ? ` As root: apt-get install ${packages.join(' ')}` : '';
  console.error(`${sentence} Tests that need them are left out.${remedy}`);
}

/** Extracts one program from its package, because installing the package would start a server. */
async function unpack(program, source) {
  const target = join(tools, program);
  const folder = `${target}.unpacking`;
  mkdirSync(folder);
  console.error(`Fetching ${program} …`);
  const fetched = await aptDownload(source, folder);
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
  const result = archive && (await run('dpkg', ['-x', archive, 'unpacked'], { quiet: true, cwd: folder }));
  if (result?.status === 0) {
    // Debian's Alertmanager requires its templates in this folder.
    const templates = join(folder, 'unpacked', 'usr', 'share', 'prometheus', 'alertmanager');
    if (existsSync(templates)) cpSync(templates, '/usr/share/prometheus/alertmanager', { recursive: true });
    copyFileSync(join(folder, 'unpacked', 'usr', 'bin', program), `${target}.new`);
    chmodSync(`${target}.new`, 0o755);
    renameSync(`${target}.new`, target);
  } else console.error((result ?? fetched).stderr.trim());
  rmSync(folder, { recursive: true, force: true });
}

/** Installs a client with its dependencies in a separate folder, so that two versions can coexist. */
async function fetchPackage(folder, source) {
  const target = join(tools, folder);
  console.error(`Fetching ${source} …`);
  const result = await run(
    'python3',
    [
      '-m',
      'pip',
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--root-user-action=ignore',
      '--target',
      `${target}.new`,
      source,
    ],
    { quiet: true },
  );
  if (result.status === 0) renameSync(`${target}.new`, target);
  else console.error(result.stderr.trim());
}

/** Builds a Go program. `go install` writes it under its name when it is complete. */
async function buildGoProgram(source) {
  console.error(`Building ${source} …`);
  const env = { ...process.env, GOBIN: tools };
  const result = await run('go', ['install', source], { quiet: true, env });
  if (result.status !== 0) console.error(result.stderr.trim());
}

/** Installs the engines into a folder that all tests share. Returns true on success. */
async function installEngines() {
  const home = join(root, '.cache', 'engines-home');
  if (!existsSync(join(home, 'engines', 'yt-dlp'))) console.error('Fetching yt-dlp …');
  const command = ['main/homeport.mjs', 'engines', 'install', '--data-dir', home];
  const { status, stdout, stderr } = await run('node', command, { quiet: true });
  if (status !== 0) console.error(`${stdout}${stderr}`.trim());
  return status === 0;
}
