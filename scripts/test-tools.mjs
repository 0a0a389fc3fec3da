// The real clients and programs the tests speak to. Needs root on Debian or Ubuntu to install; elsewhere it says what is missing.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, copyFileSync, chmodSync } from 'node:fs';
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

  // promtool alone, unpacked from its package: installing the package would start a server.
  const promtool = join(root, '.cache', 'tools', 'promtool');
  if (!existsSync(promtool) && !found('promtool') && apt) {
    console.error('Fetching promtool …');
    update();
    const folder = mkdtempSync(join(tmpdir(), 'homeport-promtool-'));
    run('apt-get', ['download', '-qq', 'prometheus'], {
      quiet: true,
      cwd: folder,
      env: { ...environment, APT_CONFIG: '' },
    });
    const archive = readdirSync(folder).find((name) => name.endsWith('.deb'));
    if (archive && run('dpkg', ['-x', archive, 'unpacked'], { quiet: true, cwd: folder }).status === 0) {
      mkdirSync(join(root, '.cache', 'tools'), { recursive: true });
      copyFileSync(join(folder, 'unpacked', 'usr', 'bin', 'promtool'), `${promtool}.new`);
      chmodSync(`${promtool}.new`, 0o755);
      renameSync(`${promtool}.new`, promtool);
    }
    rmSync(folder, { recursive: true, force: true });
  }

  const engines = run(
    'node',
    ['main/homeport.mjs', 'engines', 'install', '--data-dir', join(root, '.cache', 'engines-home')],
    { quiet: true },
  );
  if (engines.status !== 0) console.error(engines.stdout + engines.stderr);

  const absent = Object.keys(programs).filter((command) => !found(command));
  if (!existsSync(promtool) && !found('promtool')) absent.push('promtool');
  if (engines.status !== 0) absent.push('yt-dlp');
  if (absent.length > 0) {
    const sentence = `The tests speak to programs that are missing here: ${absent.join(', ')}.`;
    if (process.env.CI) stop(sentence);
    console.error(`${sentence} Tests that need them are skipped.`);
  }
}
