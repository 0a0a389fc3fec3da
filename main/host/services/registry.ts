import type { LoadedService, ServiceDescriptor, ServiceManifest } from '../../../services/contracts/service.ts';
import { control } from '../../../services/control/index.ts';
import { manifest as addons } from '../../../services/addons/manifest.ts';
import { manifest as data } from '../../../services/data/manifest.ts';
import { manifest as downloads } from '../../../services/downloads/manifest.ts';
import { manifest as git } from '../../../services/git/manifest.ts';
import { manifest as gateway } from '../../../services/gateway/manifest.ts';
import { manifest as inbox } from '../../../services/inbox/manifest.ts';
import { manifest as mail } from '../../../services/mail/manifest.ts';
import { manifest as notify } from '../../../services/notify/manifest.ts';
import { manifest as popups } from '../../../services/popups/manifest.ts';
import { manifest as push } from '../../../services/push/manifest.ts';
import { manifest as sync } from '../../../services/sync/manifest.ts';
import { manifest as uptime } from '../../../services/uptime/manifest.ts';

/** All services of the app, in the order of its pages. No other module lists them. */
export const registry: readonly ServiceDescriptor<any, any>[] = [
  loadedWhenRun(addons, async () => (await import('../../../services/addons/index.ts')).addons),
  loadedWhenRun(downloads, async () => (await import('../../../services/downloads/index.ts')).downloads),
  loadedWhenRun(notify, async () => (await import('../../../services/notify/index.ts')).notify),
  loadedWhenRun(push, async () => (await import('../../../services/push/index.ts')).push),
  loadedWhenRun(uptime, async () => (await import('../../../services/uptime/index.ts')).uptime),
  loadedWhenRun(mail, async () => (await import('../../../services/mail/index.ts')).mail),
  loadedWhenRun(sync, async () => (await import('../../../services/sync/index.ts')).sync),
  loadedWhenRun(git, async () => (await import('../../../services/git/index.ts')).git),
  loadedWhenRun(data, async () => (await import('../../../services/data/index.ts')).data),
  loadedWhenRun(inbox, async () => (await import('../../../services/inbox/index.ts')).inbox),
  loadedWhenRun(gateway, async () => (await import('../../../services/gateway/index.ts')).gateway),
  loadedWhenRun(popups, async () => (await import('../../../services/popups/index.ts')).popups),
  control,
];

/** Loads the code of a service on demand, so that a disabled service uses no memory. */
function loadedWhenRun(manifest: ServiceManifest, load: () => Promise<LoadedService<any, any>>): ServiceDescriptor {
  return { ...manifest, create: async (context, settings) => (await load()).create(context, settings) };
}
