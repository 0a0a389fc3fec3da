// The real clients and programs the tests speak to. Needs root on Debian or Ubuntu to install; elsewhere it says what is missing.
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  renameSync,
  rmSync,
  writeFileSync,
  copyFileSync,
  chmodSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

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
  dunst: 'dunst',
  Xvfb: 'xvfb',
  'dbus-run-session': 'dbus-daemon',
  'notify-send': 'libnotify-bin',
};

/** The same, where the distribution has them; the tests do without, and are slower. */
const optional = ['chromium-headless-shell'];

/** Program -> Debian package it is unpacked from. */
const unpacked = { promtool: 'prometheus', 'prometheus-alertmanager': 'prometheus-alertmanager' };

/** Folder -> version of the Python package. */
const apprise = { 'apprise-1': '1.13.1', 'apprise-2': '2.2.0' };

export function installTestTools({ root, run, stop }) {
  const found = (command) => run('sh', ['-c', `command -v ${command}`], { quiet: true }).status === 0;
  const pip = () => run('python3', ['-m', 'pip', '--version'], { quiet: true }).status === 0;
  const apt = process.getuid?.() === 0 && found('apt-get');
  const environment = { DEBIAN_FRONTEND: 'noninteractive' };
  let indexed = false;
  const update = () => {
    if (!indexed) run('apt-get', ['update', '-qq'], { quiet: true, env: environment });
    indexed = true;
  };

  const missing = [
    ...new Set(
      Object.keys(programs)
        .filter((command) => !found(command))
        .map((command) => programs[command]),
    ),
  ];
  if (!pip()) missing.push('python3-pip');
  // swaks encrypts with it.
  if (run('perl', ['-MNet::SSLeay', '-e', '1'], { quiet: true }).status !== 0) missing.push('libnet-ssleay-perl');
  if (missing.length > 0 && apt) {
    console.error(`Installing ${missing.join(', ')} …`);
    update();
    const result = run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', ...missing], {
      quiet: true,
      env: environment,
    });
    if (result.status !== 0) console.error(result.stderr);
  }
  const tools = join(root, '.cache', 'tools');
  mkdirSync(tools, { recursive: true });
  for (const name of optional) {
    const asked = join(tools, `${name}.asked`);
    if (found(name) || existsSync(asked) || !apt) continue;
    update();
    run('apt-get', ['install', '-y', '-qq', '--no-install-recommends', name], { quiet: true, env: environment });
    writeFileSync(asked, '');
  }

  // Single programs, unpacked from their packages: installing these would start servers.
  for (const [program, source] of Object.entries(unpacked)) {
    const target = join(tools, program);
    if (existsSync(target) || found(program) || !apt) continue;
    console.error(`Fetching ${program} …`);
    update();
    const folder = mkdtempSync(join(tmpdir(), `homeport-${program}-`));
    run('apt-get', ['download', '-qq', source], {
      quiet: true,
      cwd: folder,
      env: { ...environment, APT_CONFIG: '' },
    });
    const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
    if (archive && run('dpkg', ['-x', archive, 'unpacked'], { quiet: true, cwd: folder }).status === 0) {
      copyFileSync(join(folder, 'unpacked', 'usr', 'bin', program), `${target}.new`);
      chmodSync(`${target}.new`, 0o755);
      renameSync(`${target}.new`, target);
      // Debian's Alertmanager does not start without its templates, which it looks for here alone.
      const templates = join(folder, 'unpacked', 'usr', 'share', 'prometheus', 'alertmanager');
      if (existsSync(templates)) cpSync(templates, '/usr/share/prometheus/alertmanager', { recursive: true });
    }
    rmSync(folder, { recursive: true, force: true });
  }

  // The client of the notification service, in both of its generations, each in a folder of its own.
  for (const [folder, version] of Object.entries(apprise)) {
    const target = join(tools, folder);
    if (existsSync(target) || !pip()) continue;
    console.error(`Fetching apprise ${version} …`);
    rmSync(`${target}.new`, { recursive: true, force: true });
    const wanted = ['--target', `${target}.new`, `apprise==${version}`];
    const result = run(
      'python3',
      ['-m', 'pip', 'install', '--quiet', '--disable-pip-version-check', '--root-user-action=ignore', ...wanted],
      { quiet: true },
    );
    if (result.status === 0) renameSync(`${target}.new`, target);
    else console.error(result.stderr);
  }

  const engines = run(
    'node',
    ['main/homeport.mjs', 'engines', 'install', '--data-dir', join(root, '.cache', 'engines-home')],
    { quiet: true },
  );
  if (engines.status !== 0) console.error(engines.stdout + engines.stderr);

  const absent = Object.keys(programs).filter((command) => !found(command));
  absent.push(...Object.keys(unpacked).filter((name) => !existsSync(join(tools, name)) && !found(name)));
  absent.push(...Object.keys(apprise).filter((name) => !existsSync(join(tools, name))));
  if (engines.status !== 0) absent.push('yt-dlp');
  if (absent.length > 0) {
    const sentence = `The tests speak to programs that are missing here: ${absent.join(', ')}.`;
    if (process.env.CI) stop(sentence);
    console.error(`${sentence} Tests that need them are skipped.`);
  }
}
