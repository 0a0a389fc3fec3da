import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { moveFolderSync } from '../../../services/kit/platform/file-replacement.ts';
import type { Hosts } from '../../../services/contracts/hosts.ts';
import type { Jobs } from '../../../services/contracts/jobs.ts';
import type { Clock, Context, Log, ServiceDescriptor } from '../../../services/contracts/service.ts';
import { openChildren } from '../children/children.ts';
import { openDatabase, type Database } from '../database/open.ts';
import { jobsMigrations, openJobs } from '../jobs/jobs.ts';
import { findPublicUrl } from '../http/proxies.ts';
import type { LoopWatch } from '../runtime/loop-watch.ts';
import { AdditionalHosts } from './additional-hosts.ts';
import type { HostDependencies } from './host-parts.ts';

/** Environment of a service: its folder, its migrated database, its jobs, and the context made of them. */
export interface OpenedContext extends AsyncDisposable {
  readonly context: Context;
  readonly jobs: Jobs;
}

/** Attributes event loop delays of timers to the service. */
function watchedClock(clock: Clock, loop: LoopWatch, service: string): Clock {
  const watched =
    (ms: number, call: () => void): (() => void) =>
    () =>
      loop.run(service, `a timer of ${String(ms)} ms`, call);
  return {
    now: () => clock.now(),
    after: (ms, call) => clock.after(ms, watched(ms, call)),
    every: (ms, call) => clock.every(ms, watched(ms, call)),
  };
}

/** Opens the environment of a service without creating the service. */
export async function openServiceContext(
  descriptor: ServiceDescriptor,
  parts: HostDependencies,
  hosts: Hosts = new AdditionalHosts(),
): Promise<OpenedContext> {
  const { id } = descriptor;
  const log = parts.observation.log.child(id);
  const folder = join(parts.storage.dataDir, id);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  moveFormerFiles(descriptor, parts.storage.dataDir);
  await using opening = new AsyncDisposableStack();
  const database = opening.use(await openServiceDatabase(id, folder, log, parts));
  await database.migrate([...jobsMigrations, ...descriptor.migrations]);
  const { random } = parts.runtime;
  const clock = watchedClock(parts.runtime.clock, parts.observation.loop, id);
  const metrics = parts.observation.metrics.forService(id);
  opening.defer(() => parts.observation.metrics.release(id));
  const isAfterCrash = parts.storage.uncountedCrashes.delete(id);
  const leases = parts.storage.leases.forService(id, database.commit);
  const common = { database, clock, random, log, metrics };
  const jobs = opening.use(await openJobs({ ...common, service: id, hosts: leases, isAfterCrash }));
  const children = opening.use(await openServiceChildren(id, parts, { clock, log }));
  const resources = opening.move();
  return {
    jobs,
    context: {
      db: database.kysely,
      reads: database.reads,
      commit: database.commit,
      leases,
      singleHost: database.dialect === 'sqlite',
      files: folder,
      blobs: parts.storage.blobs.forService(id, folder),
      jobs,
      metrics,
      log,
      clock,
      random,
      ...parts.messaging,
      accounts: parts.identities.accounts,
      vault: parts.identities.vault,
      engines: parts.outgoing.engines,
      children,
      fetch: parts.outgoing.fetch,
      connect: parts.outgoing.fetch.connect,
      address: parts.addresses.address,
      addresses: parts.addresses.addresses,
      caller: parts.origins.caller,
      isLocalProgram: parts.origins.isLocalProgram,
      publicUrl: (request) =>
        request === undefined ? parts.addresses.address(id) : findPublicUrl(request, parts.origins.trusts),
      inHostLanguage: parts.runtime.inHostLanguage,
      hosts,
      appPages: parts.addresses.appPages,
    },
    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function openServiceChildren(
  id: string,
  { addresses: { noteAddress }, outgoing: { childPids: pids }, storage: { dataDir } }: HostDependencies,
  { clock, log }: Pick<Context, 'clock' | 'log'>,
): Promise<Context['children'] & AsyncDisposable> {
  return openChildren(join(dataDir, '.children', id), { clock, log, noteAddress, pids });
}

function openServiceDatabase(
  id: string,
  folder: string,
  log: Log,
  { storage: { databaseUrl, readThread }, observation: { loop } }: HostDependencies,
): Promise<Database> {
  return openDatabase({
    folder,
    schema: id,
    log,
    loop,
    readThread,
    ...(databaseUrl === '' ? {} : { url: databaseUrl }),
  });
}

/** Moves files from locations of earlier versions; existing files in the service's folder are newer. */
function moveFormerFiles({ id, formerFiles = {} }: ServiceDescriptor, dataDir: string): void {
  for (const [from, to] of Object.entries(formerFiles)) {
    const [former, own] = [join(dataDir, from), join(dataDir, id, to)];
    if (existsSync(former) && !existsSync(own)) moveFolderSync(former, own);
  }
}
