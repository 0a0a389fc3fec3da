// Builds dist/app, which Electron runs and electron-builder packs: sources without types, pages and images.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const app = resolve(root, process.argv[2] ?? join('dist', 'app'));

rmSync(app, { recursive: true, force: true });
// Addressed by file, so that it is found with and without npm's PATH.
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
// `npm run check` checks the types.
const result = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.app.json', '--noCheck', '--outDir', app], {
  cwd: root,
  stdio: 'inherit',
});
if (result.status !== 0) process.exit(1);
// Replaces the copied package.json of the project, whose entry points are sources.
const { name, version, description, license, type } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const manifest = { name, productName: 'Homeport', version, description, license, type, main: 'main/index.js' };
writeFileSync(join(app, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
mkdirSync(join(app, 'dist'), { recursive: true });
cpSync(join(root, 'dist', 'renderer'), join(app, 'dist', 'renderer'), {
  recursive: true,
  filter: (path) => !path.endsWith('.homeport-built'),
});
cpSync(join(root, 'main', 'shell', 'preload.cjs'), join(app, 'main', 'shell', 'preload.cjs'));
for (const source of readdirSync(join(root, 'services'), { recursive: true, encoding: 'utf8' })) {
  if (/\.(py|mp4)$/.test(source)) cpSync(join(root, 'services', source), join(app, 'services', source));
}
for (const part of ['icon.png', 'tray'])
  cpSync(join(root, 'assets', part), join(app, 'assets', part), { recursive: true });
