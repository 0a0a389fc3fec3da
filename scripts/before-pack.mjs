// Hook of electron-builder: puts the native parts of the target system and processor into dist/target, from where they are
// packed: the database driver and PostgreSQL.
import { cpSync, existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { findTargetPackage, targetPackage } from './target-packages.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
/** Names of electron-builder's processors, by their number. */
const processors = ['ia32', 'x64', 'armv7l', 'arm64', 'universal'];
/** Names of systems in electron-builder's file patterns. */
const systems = { linux: 'linux', darwin: 'mac', win32: 'win' };

/** @throws Error when a native part does not exist for the target, or is not installed. */
export default function beforePack({ electronPlatformName: platform, arch: number }) {
  const arch = processors[number] ?? String(number);
  const name = targetPackage(platform, arch);
  if (name === undefined) {
    throw new Error(`There is no PostgreSQL for ${platform} on ${arch}, so no app is packed for it.`);
  }
  const postgres = findTargetPackage(name);
  if (postgres === undefined) {
    throw new Error(
      `${name} is not installed, so the app would have no database. ` +
        `Run "node scripts/target-packages.mjs ${platform} ${arch}" first.`,
    );
  }
  const target = join(root, 'dist', 'target', `${systems[platform]}-${arch}`);
  rmSync(target, { recursive: true, force: true });
  cpSync(postgres, join(target, name), { recursive: true, verbatimSymlinks: true });
  if (!existsSync(join(target, name, 'native', 'bin'))) throw new Error(`${name} is incomplete: it has no programs.`);
  const driver = join('better-sqlite3', 'prebuilds', `${platform}-${arch}.node`);
  cpSync(join(root, 'node_modules', driver), join(target, driver));
}
