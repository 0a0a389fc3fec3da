import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Checkout, waitForLine } from './checkout.ts';

let checkout: Checkout;
beforeEach(() => {
  checkout = new Checkout();
  checkout.npm();
});
afterEach(() => checkout[Symbol.dispose]());

/** Nothing below the checkout can be written, as on a disk that is mounted so; root's own rights do not help there. */
function writeProtected(folder: string): string {
  return `
    const fs = require('node:fs');
    for (const name of ['writeFileSync', 'mkdirSync', 'rmSync']) {
      const real = fs[name];
      fs[name] = (path, ...rest) => {
        if (!String(path).startsWith(${JSON.stringify(folder)})) return real(path, ...rest);
        throw Object.assign(new Error('EROFS: read-only file system'), { code: 'EROFS' });
      };
    }
    require('node:module').syncBuiltinESMExports();`;
}

describe('the set-up script', () => {
  it('reports what it installs and its progress, and installs it once', async () => {
    checkout.write('wait', '');
    const first = checkout.setUp('start');
    await waitForLine(first, 'Installing about 2 packages with npm');
    await waitForLine(first, '1 of 2 packages');
    checkout.remove('wait');
    expect((await first.ended()).status).toBe(0);
    const steps = [expect.stringContaining('npm ci'), 'generated the messages', 'built', 'built the program'];
    expect(checkout.calls()).toEqual(steps);
    expect(await checkout.setUp('start').ended()).toEqual({ status: 0, lines: [] });
    expect(checkout.calls()).toHaveLength(steps.length);
  });

  it.each(['SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'ends npm after %s and starts over the next time',
    async (signal) => {
      checkout.write('wait', '');
      const cut = checkout.setUp('start');
      await waitForLine(cut, '1 of 2 packages');
      cut.child.kill(signal);
      expect((await cut.ended()).status).toBe(128 + { SIGHUP: 1, SIGINT: 2, SIGTERM: 15 }[signal]);
      expect(checkout.calls().at(-1)).toBe('npm ended');
      checkout.remove('wait');
      const next = await checkout.setUp('start').ended();
      expect(next.lines).toContain('Clearing packages that were not installed to the end …');
      expect(next.status).toBe(0);
    },
  );

  it('ends with the shell that runs it for npm', async () => {
    checkout.write('wait', '');
    const cut = checkout.setUp('start', { shell: true, environment: { npm_lifecycle_event: 'prestart' } });
    await waitForLine(cut, '1 of 2 packages');
    cut.child.kill('SIGKILL');
    await vi.waitFor(() => expect(checkout.calls().at(-1)).toBe('npm ended'), { timeout: 15_000, interval: 20 });
  });

  it('waits for a running set-up and not for a killed one', async () => {
    checkout.write('wait', '');
    const first = checkout.setUp('start');
    await waitForLine(first, '1 of 2 packages');
    const second = checkout.setUp('start');
    await waitForLine(second, 'Another start is setting things up');
    checkout.remove('wait');
    expect([(await first.ended()).status, (await second.ended()).status]).toEqual([0, 0]);
    expect(checkout.calls().filter((call) => call.startsWith('npm'))).toHaveLength(1);

    checkout.remove('node_modules');
    checkout.write('.cache/bootstrap.lock', String(2 ** 22 + 1));
    expect((await checkout.setUp('start').ended()).status).toBe(0);
  });

  it('prints one sentence in a read-only folder, and none if nothing is left to do', async () => {
    const preload = writeProtected(checkout.folder);
    const { status, lines } = await checkout.setUp('start', { preload }).ended();
    expect({ status, lines }).toEqual({
      status: 1,
      lines: [
        expect.stringMatching(/^Nothing can be written to .* \(it is write-protected\) and its packages are not set/),
      ],
    });
    expect((await checkout.setUp('start').ended()).status).toBe(0);
    expect(await checkout.setUp('start', { preload }).ended()).toEqual({ status: 0, lines: [] });
  });

  it('reports a missing npm without suggesting a command', async () => {
    checkout.remove('machine/npm');
    const { status, lines } = await checkout.setUp('start').ended();
    expect(status).toBe(1);
    expect(lines.at(-1)).toBe('Homeport installs its packages with npm, which is not there. It comes along with Node.');
    expect(lines.join('\n')).not.toContain('npm ci');
  });

  it('reports why the packages did not include their Node', async () => {
    checkout.program('npm', 'mkdir -p node_modules/.bin; touch node_modules/.package-lock.json');
    const { status, lines } = await checkout.setUp('start').ended();
    expect(status).toBe(1);
    expect(lines.join('\n')).toContain('did not arrive with the packages');
    checkout.npm();
    expect((await checkout.setUp('start').ended()).status).toBe(0);
  });
});

describe('programs required by tests', () => {
  const root = 'process.getuid = () => 0;';
  const programs = 'chromium ffmpeg ffprobe swaks msmtp curl git dunst Xvfb dbus-run-session notify-send';

  beforeEach(() => {
    checkout.write('main/homeport.mjs', '');
    checkout.program(
      'dpkg',
      'mkdir -p unpacked/usr/bin; cd unpacked/usr/bin; touch prometheus promtool prometheus-alertmanager caddy',
    );
  });

  /** Simulates an apt-get whose locks are held by other processes: each kind of call is refused once. */
  function lockedApt(): void {
    const machine = checkout.path('');
    checkout.program(
      'apt-get',
      `once() { [ -e "refused-$1" ] || { touch "refused-$1"; echo "$2" >&2; exit 100; }; }
      cd ${checkout.folder}
      case "$1" in
        update) once update 'E: Could not get lock /var/lib/apt/lists/lock. It is held by process 17 (unattended-upgr)
E: Unable to lock directory /var/lib/apt/lists/';;
        install) once dpkg 'E: Unable to acquire the dpkg frontend lock (/var/lib/dpkg/lock-frontend), is another process using it?'
          once archives 'E: Unable to lock directory /var/cache/apt/archives/'
          once cut "E: dpkg was interrupted, you must manually run 'dpkg --configure -a' to correct the problem."
          for name in ${programs}; do touch ${machine}/$name; chmod 755 ${machine}/$name; done;;
        download) cd "$OLDPWD"; touch "$3.deb";;
      esac`,
    );
  }

  it('are installed as soon as the apt lock is free, and are reported', async () => {
    lockedApt();
    checkout.write('.cache/tools/promtool.unpacking/half', '');
    checkout.write('.cache/tools/apprise-1.new/half', '');
    const { status, lines } = await checkout.setUp('clients', { preload: root }).ended();
    const text = lines.join('\n');
    expect(text).toContain('Reading the lists of packages …');
    expect(text).toContain('waiting for it … It is held by process 17 (unattended-upgr)');
    expect(text).toContain('Installing chromium, ffmpeg, swaks');
    expect(text).toContain('Finishing an installation that was cut off …');
    expect(text).toContain('Fetching promtool …');
    expect(checkout.calls()).toContain('dpkg --configure -a');
    expect(checkout.has('.cache/tools/promtool')).toBe(true);
    expect(['promtool.unpacking', 'apprise-1.new'].filter((name) => checkout.has(`.cache/tools/${name}`))).toEqual([]);
    // Python is neither installed nor provided by this apt-get, so none of its files exist.
    const [, missing = ''] = /use are missing: ([^.]*)\./.exec(text) ?? [];
    expect(missing.split(', ')).toEqual(expect.arrayContaining(['python3', 'apprise-1', 'apprise-2']));
    expect(missing).not.toContain('chromium');
    expect(status).toBe(0);
  });

  it('are listed without mention of apt-get where it does not exist, which is a failure under CI', async () => {
    const { status, lines } = await checkout.setUp('clients', { preload: root }).ended();
    expect(status).toBe(0);
    expect(lines.join('\n')).toContain('use are missing: chromium, ffmpeg');
    expect(lines.join('\n')).not.toMatch(/apt|sudo/);
    expect((await checkout.setUp('clients', { preload: root, environment: { CI: 'true' } }).ended()).status).toBe(1);
  });

  it('are listed with the command for root when another user runs the script', async () => {
    checkout.program('apt-get', 'exit 1');
    const { lines } = await checkout.setUp('clients', { preload: 'process.getuid = () => 1000;' }).ended();
    expect(lines.at(-1)).toMatch(/As root: apt-get install chromium ffmpeg /);
    expect(checkout.calls().filter((call) => call.startsWith('apt-get'))).toEqual([]);
  });
});
