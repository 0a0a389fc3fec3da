import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { expect, it, vi } from 'vitest';
import { electronProgram } from '../../main/desktop/choice.ts';
import { Desktop } from '../host/desktop/desktop.ts';
import { testEnvironment } from '../support/host.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const program = electronProgram({ root, environment: process.env, platform: process.platform });
const present = existsSync(program);
if (!present)
  console.log('No Electron program is at hand (ELECTRON_OVERRIDE_DIST_PATH): the real desktop app was not started.');

it.skipIf(!present)(
  'starts the built app in the real Electron with working pages',
  async () => {
    await promisify(execFile)(process.execPath, ['scripts/build-app.mjs'], { cwd: root });
    const dataDir = mkdtempSync(join(tmpdir(), 'homeport-electron-'));
    await using open = new AsyncDisposableStack();
    open.defer(() => rmSync(dataDir, { recursive: true, force: true }));
    const desktop = open.use(await Desktop.open());
    // Chromium's sandbox does not start as root; the app itself never runs without it.
    const flags = process.getuid?.() === 0 ? ['--no-sandbox'] : [];
    const app = spawn(program, [...flags, join(root, 'dist', 'app'), '--data-dir', dataDir], {
      env: { ...testEnvironment(dataDir), ...desktop.environment },
      stdio: ['ignore', 'ignore', 'pipe'],
    });
    open.defer(() => void app.kill('SIGKILL'));
    let output = '';
    app.stderr.on('data', (chunk) => (output += String(chunk)));
    await vi.waitFor(() => expect(output).toContain('host is ready'), { timeout: 60_000, interval: 100 });
    const ended = once(app, 'exit');
    app.kill('SIGTERM');
    expect(await ended).toEqual([0, null]);
  },
  120_000,
);
