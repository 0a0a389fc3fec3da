// Builds dist/app, which Electron runs and electron-builder packs: the sources without their types, the pages, the images.
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));
const app = resolve(root, process.argv[2] ?? join('dist', 'app'));

rmSync(app, { recursive: true, force: true });
// By its file, so that it is found whoever calls this, with npm's path or without.
const compiler = join(root, 'node_modules', 'typescript', 'bin', 'tsc');
// `npm run check` looks at the types.
const result = spawnSync(process.execPath, [compiler, '-p', 'tsconfig.app.json', '--noCheck', '--outDir', app], {
  cwd: root,
  stdio: 'inherit',
});
if (result.status !== 0) process.exit(1);
// The compiler brings the project's own along, since the version is read from it; that one names sources.
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
