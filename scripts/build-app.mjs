// Builds dist/app, which Electron runs and electron-builder packs: the bundled program, pages and images.
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
const app = resolve(root, process.argv[2] ?? join('dist', 'app'));

rmSync(app, { recursive: true, force: true });
await bundle(join(app, 'host'), ['main/index.ts', 'main/headless.ts', 'main/shell/host-entry.ts']);
const { name, version, description, license, type } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const manifest = { name, productName: 'Homeport', version, description, license, type, main: 'host/main-index.js' };
writeFileSync(join(app, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
mkdirSync(join(app, 'dist'), { recursive: true });
cpSync(join(root, 'dist', 'renderer'), join(app, 'dist', 'renderer'), {
  recursive: true,
  filter: (path) => !path.endsWith('.homeport-built'),
});
cpSync(join(root, 'main', 'shell', 'preload.cjs'), join(app, 'preload.cjs'));
for (const part of ['icon.png', 'tray'])
  cpSync(join(root, 'assets', part), join(app, 'assets', part), { recursive: true });
