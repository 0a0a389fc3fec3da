import { fileURLToPath } from 'node:url';
import { openHost } from '../../main/host/host.ts';
import type { ServiceDescriptor } from '../../services/contracts/service.ts';

/**
 * Runs the host with some of its services as a separate program: other services are not loaded, so that memory can be
 * attributed. The last argument is the data folder; `BENCH_SERVICES` contains the names of the services.
 */
const load: Readonly<Record<string, () => Promise<ServiceDescriptor<any, any>>>> = {
  downloads: async () => (await import('../../services/downloads/index.ts')).downloads,
  notify: async () => (await import('../../services/notify/index.ts')).notify,
  push: async () => (await import('../../services/push/index.ts')).push,
  mail: async () => (await import('../../services/mail/index.ts')).mail,
  inbox: async () => (await import('../../services/inbox/index.ts')).inbox,
  control: async () => (await import('../../services/control/index.ts')).control,
};
const descriptors: ServiceDescriptor<any, any>[] = [];
for (const name of (process.env['BENCH_SERVICES'] ?? '').split(' ')) {
  const descriptor = await load[name]?.();
  if (descriptor === undefined) throw new Error(`there is no service ${name}`);
  descriptors.push(descriptor);
}
const pages = fileURLToPath(new URL('../../dist/renderer', import.meta.url));
const host = await openHost({ dataDir: process.argv.at(-1) ?? '', descriptors, pages });
process.stdout.write(
  `${['ready', ...Object.entries(host.addresses()).map(([id, address]) => `${id}=${address}`)].join(' ')}\n`,
);
