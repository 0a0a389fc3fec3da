#!/usr/bin/env node
// Entry point. Plain JavaScript, so that an old Node prints one sentence instead of failing on the first .ts file.
import { existsSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const requiredMajor = 24;
if (Number(process.versions.node.split('.')[0]) < requiredMajor) {
  console.error(
    `Homeport needs Node ${requiredMajor} or newer; this is Node ${process.versions.node}. "npm start" brings the right one along.`,
  );
  process.exit(1);
}
const root = fileURLToPath(new URL('..', import.meta.url));
// Compiling takes most of the start time; the cache is beside the program, where other users cannot write.
enableCompileCache(join(root, '.cache', 'compile'));
const built = join(root, 'dist', 'host', 'main-headless.js');
const usesBuild = process.env.NODE_ENV !== 'development' && existsSync(built);
const entry = usesBuild ? built : join(root, 'main', 'headless.ts');
const { main } = await import(pathToFileURL(entry).href);
await main(process.argv.slice(2), root);
