#!/usr/bin/env node
// Entry point. Plain JavaScript, so that an old Node prints one sentence instead of failing on the first .ts file.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

const requiredMajor = 24;
if (Number(process.versions.node.split('.')[0]) < requiredMajor) {
  console.error(
    `Homeport needs Node ${requiredMajor} or newer; this is Node ${process.versions.node}. "npm start" brings the right one along.`,
  );
  process.exit(1);
}
// Compiling the sources takes most of the start time; the cache is beside them, where other users cannot write.
enableCompileCache(fileURLToPath(new URL('../.cache/compile', import.meta.url)));
const { main } = await import('./headless.ts');
await main(process.argv.slice(2));
