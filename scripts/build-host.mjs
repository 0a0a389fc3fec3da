// Builds dist/host, which `npm start` runs.
import { resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));
await bundle(resolve(root, process.argv[2] ?? 'dist/host'), ['main/headless.ts']);
