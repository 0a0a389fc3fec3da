#!/usr/bin/env node
// The command. Plain JavaScript, so that an old Node says one sentence in place of failing on the first .ts file.
import { enableCompileCache } from 'node:module';
import { fileURLToPath } from 'node:url';

const wanted = 24;
if (Number(process.versions.node.split('.')[0]) < wanted) {
  console.error(
    `Homeport needs Node ${wanted} or newer; this is Node ${process.versions.node}. "npm start" brings the right one along.`,
  );
  process.exit(1);
}
// Compiling the sources is most of a start's work; the cache lies beside them, where nobody else can write.
enableCompileCache(fileURLToPath(new URL('../.cache/compile', import.meta.url)));
const { main } = await import('./headless.ts');
await main(process.argv.slice(2));
