// Runs Homeport for development: the host from its sources, which restarts when one of them changes, and the pages with
// hot reload in front of it. Options: `--only push,inbox` runs only these services (control always runs), `--fresh` creates
// the sample data again, `--ports-above N` shifts the usual ports (default 10000), `--data-dir PATH` and `--port N` (of the
// pages) replace the defaults.
import { spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { createServer, type ViteDevServer } from 'vite';
import { registry } from '../main/host/services/registry.ts';
import { householdParts, openHousehold, shiftPorts } from '../test/household/household.ts';
import { admin, enginesFolder } from '../test/support/host.ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const { values } = parseArgs({
  options: {
    only: { type: 'string' },
    fresh: { type: 'boolean', default: false },
    'ports-above': { type: 'string', default: '10000' },
    'data-dir': { type: 'string' },
    port: { type: 'string', default: '5173' },
  },
});
const environment: NodeJS.ProcessEnv = { ...shiftPorts(Number(values['ports-above'])), ...process.env };
const selectedIds = values.only?.split(',').map((id) => id.trim());
const unknown = selectedIds?.filter((id) => !registry.some((service) => service.id === id)) ?? [];
if (unknown.length > 0) {
  console.error(`Unknown service: ${unknown.join(', ')}. Services: ${registry.map(({ id }) => id).join(', ')}.`);
  process.exit(2);
}
const dataDir = values['data-dir'] ?? join(root, '.cache', 'dev', selectedIds?.toSorted().join('-') ?? 'all');

/** Creates the sample data of the selected services once; it stays until `--fresh`. Other data is never deleted. */
async function seed(): Promise<void> {
  const marker = join(dataDir, '.sample-data');
  const state = existsSync(marker) ? readFileSync(marker, 'utf8') : undefined;
  if (state === undefined && existsSync(dataDir) && readdirSync(dataDir).length > 0) {
    console.error(`${dataDir} contains other data. Use an empty folder, which is filled with sample data.`);
    process.exit(2);
  }
  if (state === 'complete' && !values.fresh) return;
  console.log('Creating sample data …');
  rmSync(dataDir, { recursive: true, force: true });
  mkdirSync(dataDir, { recursive: true });
  writeFileSync(marker, 'incomplete');
  const parts = selectedIds?.flatMap((id) => householdParts[id] ?? []);
  const household = await openHousehold({ dataDir, ...(parts === undefined ? {} : { only: parts }) });
  await household[Symbol.asyncDispose]();
  writeFileSync(marker, 'complete');
}

/** Starts the host from its sources. Node restarts it when a loaded source changes. */
function startHost(): ChildProcess {
  const disabled = registry.filter(
    ({ id }) => selectedIds !== undefined && id !== 'control' && !selectedIds.includes(id),
  );
  const hostEnvironment = {
    ...environment,
    ...Object.fromEntries(disabled.map(({ id }) => [`HOMEPORT_ENABLED_${id.toUpperCase()}`, 'false'])),
    NODE_ENV: 'development',
    HOMEPORT_ENGINES_DIR: enginesFolder,
    HOMEPORT_OPEN_BROWSER: 'false',
  };
  const program = [join(root, 'main', 'homeport.mjs'), '--headless', '--data-dir', dataDir];
  return spawn(process.execPath, ['--watch', '--watch-preserve-output', ...program], {
    env: hostEnvironment,
    stdio: 'inherit',
  });
}

/** Serves the pages with hot reload; their requests of the app API go to the host, as if its own page had sent them. */
async function servePages(): Promise<ViteDevServer> {
  const host = `http://127.0.0.1:${environment['HOMEPORT_PORT_CONTROL'] ?? ''}`;
  const server = await createServer({
    configFile: join(root, 'vite.config.ts'),
    server: {
      host: '127.0.0.1',
      port: Number(values.port),
      proxy: {
        '^/(api|metrics)(/|$|\\?)': {
          target: host,
          changeOrigin: true,
          configure(proxy) {
            proxy.on('proxyReq', (outgoing, { headers }) => {
              if (headers.origin === `http://${headers.host ?? ''}`) outgoing.setHeader('origin', host);
            });
          },
        },
      },
    },
  });
  await server.listen();
  return server;
}

/** Generates the message functions again when a catalog changes; Vite and Node then see the changed modules. */
function watchMessages(): void {
  watch(join(root, 'messages'), { recursive: true }, (_, name) => {
    if (name?.endsWith('.json') === true)
      spawnSync(process.execPath, [join(root, 'scripts', 'messages.ts')], { stdio: 'inherit' });
  });
}

await seed();
const pages = await servePages();
watchMessages();
// Last, so that a failure above leaves no process behind.
const host = startHost();
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => host.kill('SIGTERM'));
console.log(`pages ${pages.resolvedUrls?.local[0] ?? ''} as ${admin.name} with ${admin.password}`);
await once(host, 'exit');
await pages.close();
