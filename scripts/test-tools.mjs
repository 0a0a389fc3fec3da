// The real clients and programs the tests speak to. Needs root on Debian or Ubuntu to install; elsewhere it says what is missing.
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
import { join } from 'node:path';
import { aptDownload, aptInstall } from './apt.mjs';
import { root, run, stop } from './commands.mjs';

/** Command to look for -> Debian package that brings it. */
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

/** The same, where the distribution has them; the tests do without, and are slower. */
const optional = ['chromium-headless-shell'];

/** Program -> Debian package it is unpacked from. */
const unpacked = {
  caddy: 'caddy',
  prometheus: 'prometheus',
  promtool: 'prometheus',
  'prometheus-alertmanager': 'prometheus-alertmanager',
};

/** Folder -> the Python package in it. */
const pythonPackages = {
  'apprise-1': 'apprise==1.13.1',
  'apprise-2': 'apprise==2.2.0',
  'uptime-kuma-api2': 'uptime-kuma-api2==2.9.0',
  'py-gitea': 'py-gitea==0.2.10',
  'postgresql-18': 'embedded-postgres==18.6.3',
};

const tools = join(root, '.cache', 'tools');

async function found(command) {
  return (await run('sh', ['-c', `command -v ${command}`], { quiet: true })).status === 0;
}

async function pip() {
  return (await run('python3', ['-m', 'pip', '--version'], { quiet: true })).status === 0;
}

async function missingAmong(commands) {
  const answers = await Promise.all(commands.map(async (command) => ((await found(command)) ? [] : [command])));
  return answers.flat();
}

export async function installTestTools() {
  const isApt = await found('apt-get');
  const apt = isApt && process.getuid?.() === 0;
  const missing = (await missingAmong(Object.keys(programs))).map((command) => programs[command]);
  if (!(await pip())) missing.push('python3-pip');
  // swaks encrypts with it.
  if ((await run('perl', ['-MNet::SSLeay', '-e', '1'], { quiet: true })).status !== 0) {
    missing.push('libnet-ssleay-perl');
  }
  const packages = [...new Set(missing)];
  if (packages.length > 0 && apt) {
    const result = await aptInstall(packages);
    if (result.status !== 0) console.error(result.stderr);
  }
  mkdirSync(tools, { recursive: true });
  // What an earlier set-up was interrupted at.
  for (const name of readdirSync(tools).filter((each) => /\.(new|unpacking)$/.test(each))) {
    rmSync(join(tools, name), { recursive: true, force: true });
  }
  for (const name of optional) {
    const asked = join(tools, `${name}.asked`);
    if (!apt || existsSync(asked) || (await found(name))) continue;
    await aptInstall([name]);
    writeFileSync(asked, '');
  }
  for (const [program, source] of Object.entries(unpacked)) {
    if (apt && !existsSync(join(tools, program)) && !(await found(program))) await unpack(program, source);
  }
  for (const [folder, source] of Object.entries(pythonPackages)) {
    if (!existsSync(join(tools, folder)) && (await pip())) await fetchPackage(folder, source);
  }
  const engines = await installEngines();

  const absent = await missingAmong(Object.keys(programs));
  for (const name of Object.keys(unpacked)) {
    if (!existsSync(join(tools, name)) && !(await found(name))) absent.push(name);
  }
  absent.push(...Object.keys(pythonPackages).filter((name) => !existsSync(join(tools, name))));
  if (!engines) absent.push('yt-dlp');
  if (absent.length === 0) return;
  const sentence = `The tests speak to programs that are missing here: ${absent.join(', ')}.`;
  if (process.env.CI) stop(sentence);
  const remedy = isApt && !apt && packages.length > 0 ? ` As root: apt-get install ${packages.join(' ')}` : '';
  console.error(`${sentence} Tests that need them are skipped.${remedy}`);
}

/** A single program out of its package: installing that would start a server. */
async function unpack(program, source) {
  const target = join(tools, program);
  const folder = `${target}.unpacking`;
  mkdirSync(folder);
  console.error(`Fetching ${program} …`);
  const fetched = await aptDownload(source, folder);
  const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
  const result = archive && (await run('dpkg', ['-x', archive, 'unpacked'], { quiet: true, cwd: folder }));
  if (result?.status === 0) {
    // Debian's Alertmanager does not start without its templates, which it looks for here alone.
    const templates = join(folder, 'unpacked', 'usr', 'share', 'prometheus', 'alertmanager');
    if (existsSync(templates)) cpSync(templates, '/usr/share/prometheus/alertmanager', { recursive: true });
    copyFileSync(join(folder, 'unpacked', 'usr', 'bin', program), `${target}.new`);
    chmodSync(`${target}.new`, 0o755);
    renameSync(`${target}.new`, target);
  } else console.error((result ?? fetched).stderr.trim());
  rmSync(folder, { recursive: true, force: true });
}

/** A client and what it needs, in a folder of its own: two generations of one get along. */
async function fetchPackage(folder, source) {
  const target = join(tools, folder);
  console.error(`Fetching ${source} …`);
  const result = await run(
    'python3',
    [
      ...['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--root-user-action=ignore'],
      ...['--target', `${target}.new`, source],
    ],
    { quiet: true },
  );
  if (result.status === 0) renameSync(`${target}.new`, target);
  else console.error(result.stderr.trim());
}

/** Into a folder that all tests share; true when they are there. */
async function installEngines() {
  const home = join(root, '.cache', 'engines-home');
  if (!existsSync(join(home, 'engines', 'yt-dlp'))) console.error('Fetching yt-dlp …');
  const command = ['main/homeport.mjs', 'engines', 'install', '--data-dir', home];
  const { status, stdout, stderr } = await run('node', command, { quiet: true });
  if (status !== 0) console.error(`${stdout}${stderr}`.trim());
  return status === 0;
}
