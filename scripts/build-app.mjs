// Builds dist/app, which Electron runs and electron-builder packs: the sources without their types, the pages, the images.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const app = join(root, process.argv[2] ?? join('dist', 'app'));

rmSync(app, { recursive: true, force: true });
const result = spawnSync('tsc', ['-p', 'tsconfig.app.json', '--outDir', app], {
  cwd: root,
  stdio: 'inherit',
  shell: process.platform === 'win32',
});
if (result.status !== 0) process.exit(1);
mkdirSync(join(app, 'dist'), { recursive: true });
cpSync(join(root, 'dist', 'renderer'), join(app, 'dist', 'renderer'), {
  recursive: true,
  filter: (path) => !path.endsWith('.homeport-built'),
});
cpSync(join(root, 'main', 'shell', 'preload.cjs'), join(app, 'main', 'shell', 'preload.cjs'));
for (const source of readdirSync(join(root, 'services'), { recursive: true, encoding: 'utf8' })) {
  if (source.endsWith('.py')) cpSync(join(root, 'services', source), join(app, 'services', source));
}
for (const part of ['icon.png', 'tray'])
  cpSync(join(root, 'assets', part), join(app, 'assets', part), { recursive: true });
