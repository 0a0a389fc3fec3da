// Unpacks a local Electron archive into the npm package: node scripts/electron-zip.mjs ZIP.
// The archive is unpacked only if the npm package lists its checksum for this version and platform.
import { createHash } from 'node:crypto';
import {
  createReadStream,
  createWriteStream,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { join, resolve } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { fileURLToPath } from 'node:url';
import { platform } from './commands.mjs';

const [zip, folder] = process.argv.slice(2);
const root = fileURLToPath(new URL('..', import.meta.url));
const npmPackage = resolve(root, folder ?? join('node_modules', 'electron'));
const { version } = readJson('package.json');
const checksums = readJson('checksums.json');
const archiveName = `electron-v${version}-${platform}-${process.arch}.zip`;
const dist = join(npmPackage, 'dist');
const programs = { darwin: 'Electron.app/Contents/MacOS/Electron', win32: 'electron.exe' };

function readJson(name) {
  return JSON.parse(readFileSync(join(npmPackage, name), 'utf8'));
}

function refuse(sentence) {
  console.error(sentence);
  process.exit(1);
}

if (zip === undefined) refuse('Which zip?');
const versionFile = join(dist, 'version');
if (existsSync(versionFile) && readFileSync(versionFile, 'utf8').replace(/^v/, '').trim() === version) process.exit(0);
if (!existsSync(zip)) refuse(`There is no file ${zip}.`);
if (checksums[archiveName] === undefined) refuse(`The npm package electron ${version} knows no ${archiveName}.`);

// Verifies and unpacks a private copy, so that the archive cannot change in between.
const copy = join(npmPackage, 'dist.zip');
const unpacked = join(npmPackage, 'dist.new');
try {
  const hash = createHash('sha256');
  await pipeline(
    createReadStream(zip),
    async function* (chunks) {
      for await (const chunk of chunks) {
        hash.update(chunk);
        yield chunk;
      }
    },
    createWriteStream(copy, { mode: 0o600 }),
  );
  const digest = hash.digest('hex');
  if (digest !== checksums[archiveName]) {
    const other = Object.keys(checksums).find((name) => checksums[name] === digest);
    const is = other === undefined ? 'it is not as Electron’s makers published it' : `it is ${other}`;
    throw new Error(`${zip} was not unpacked: ${archiveName} is needed, and ${is}.`);
  }
  rmSync(unpacked, { recursive: true, force: true });
  // Electron's installer uses the same extractor.
  const { extract } = createRequire(join(root, 'node_modules', 'electron', 'install.js'))(
    '@electron-internal/extract-zip',
  );
  await extract(copy, { dir: unpacked });
  rmSync(dist, { recursive: true, force: true });
  renameSync(unpacked, dist);
  writeFileSync(join(npmPackage, 'path.txt'), programs[platform] ?? 'electron');
} catch (error) {
  process.exitCode = 1;
  console.error(error.message);
} finally {
  rmSync(copy, { force: true });
  rmSync(unpacked, { recursive: true, force: true });
}
